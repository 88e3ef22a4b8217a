// SPDX-License-Identifier: BSD-3-Clause
// SearchSubject is one objective of a search, with the facts about trials and variables that all its pictures
// need. search_pictures.cpp makes one for each objective and draws it; search_maps() draws maps of it. Only
// pictures depend on it; nothing is stored.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "analysis/search_view.hpp"
#include "document/document.hpp"
#include "plan/search/importance.hpp"
#include "plan/search/search_plan.hpp"
#include "report/report_data.hpp"
#include "report/wording.hpp"

namespace encore::report {

/// The number of cells of a map along a variable of numbers.
inline constexpr std::size_t map_cells = 12;

/// Returns whether the variable is drawn from a logarithmic range, so that its axis is logarithmic.
bool is_logarithmic(const plan::RandomVariable& variable);
/// Returns whether the variable is a short range of integers, each of which has a cell.
bool has_few_values(const plan::RandomVariable& variable);
/// Returns the name of each value of a variable with few values; empty for other variables.
std::vector<std::string> names_of_values(const plan::RandomVariable& variable);

/// One objective of a search, with the facts that all its pictures need.
struct SearchSubject {
  const analysis::SearchView& view;
  std::size_t objective;
  Metric metric;
  Unit unit;
  std::vector<std::string> labels;  ///< of the variables
  std::string id;                   ///< the end of the ids of its tables and figures

  std::string title() const { return "Search " + view.row.name; }
  const plan::search::Trial& trial(std::size_t number) const { return view.history().trials[number]; }
  /// Returns the last score of the trial; NaN if it has none.
  double value(std::size_t number) const;
  /// Returns the coordinate of a trial. For a variable with few values it is the index of the value.
  double coordinate(std::size_t number, std::size_t variable) const;
  /// Returns whether the trial was trained to its end.
  bool is_complete(std::size_t number) const {
    return view.leaderboard.states[number].last == plan::search::Outcome::complete;
  }
};

/// Returns the length of a trial with a score: "complete" or "after 3 epochs".
std::string state_text(const SearchSubject& subject, std::size_t trial);

/// search_maps.cpp, for search_pictures.cpp: maps of the score over two variables at once, by the forest of
/// the importances (`found`), with the trials as dots. Returns the maps of the pairs with the largest shares,
/// in which effects of both variables and their interaction count. Enough trials must have a score.
std::vector<document::Figure> search_maps(const SearchSubject& subject,
                                          const plan::search::Importance& found);

}  // namespace encore::report
