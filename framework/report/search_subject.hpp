// SearchSubject: one objective of a search, with the facts about trials and variables that all its pictures
// need. Place in the flow: search_pictures.cpp makes one for each objective; search_maps.hpp draws it too.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "analysis/search_view.hpp"
#include "plan/search/search_plan.hpp"
#include "report/report_data.hpp"
#include "report/wording.hpp"

namespace encore {

/// Cells of a map along a variable of numbers.
inline constexpr std::size_t map_cells = 12;

bool is_logarithmic(const RandomVariable& variable);
/// Whether the variable is a short range of integers, of which each has a cell.
bool has_few_values(const RandomVariable& variable);
/// The name of each value of a variable with few values; otherwise empty.
std::vector<std::string> names_of_values(const RandomVariable& variable);

/// One objective of a search, with the facts that all its pictures need.
struct SearchSubject {
  const SearchView& view;
  std::size_t objective;
  Metric metric;
  Unit unit;
  std::vector<std::string> labels;  ///< of the variables
  std::string id;                   ///< ends the ids of blocks

  std::string title() const { return "Search " + view.row.name; }
  const search::Trial& trial(std::size_t number) const { return view.history().trials[number]; }
  /// The last score that the trial has; NaN without one.
  double value(std::size_t number) const;
  /// For a variable with few values the number of the value, counted from 0.
  double coordinate(std::size_t number, std::size_t variable) const;
  bool is_complete(std::size_t number) const {
    return view.leaderboard.states[number].last == search::Outcome::complete;
  }
};

/// "complete", "after 3 epochs": the length of a trial with a score.
std::string state_text(const SearchSubject& subject, std::size_t trial);

}  // namespace encore
