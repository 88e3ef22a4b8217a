// SearchSubject: one objective of a search, with what all its pictures need of trials and variables.
// Place in the flow: search_pictures.cpp makes one for each objective; search_maps.hpp draws it too.
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
/// Whole numbers of which each has room for itself.
bool has_few_values(const RandomVariable& variable);
/// Of a variable whose values are few, the name of each; nothing otherwise.
std::vector<std::string> names_of_values(const RandomVariable& variable);

/// One objective of a search, with what all its pictures need.
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
  /// Of a variable with few values the number of the value, counted from 0.
  double coordinate(std::size_t number, std::size_t variable) const;
  bool is_complete(std::size_t number) const {
    return view.leaderboard.states[number].last == search::Outcome::complete;
  }
};

/// "complete", "after 3 epochs": how far a trial with a score came.
std::string state_text(const SearchSubject& subject, std::size_t trial);

}  // namespace encore
