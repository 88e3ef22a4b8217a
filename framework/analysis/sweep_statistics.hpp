// SPDX-License-Identifier: BSD-3-Clause
// Computes statistics over the trials of a sweep: how much of a score's variance one parameter explains, and
// the expected best of n trials. Pure functions. report/sweep_pictures.cpp, report/trials.cpp and
// report/search_budget.cpp call them. Change tests/unit/analysis/make_statistics.py with a formula: it has
// the same ones in numpy and scipy.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "analysis/statistics.hpp"

namespace encore::analysis {

/// The share of a score's variance that one parameter alone explains: its main effect, from the one-way
/// analysis of variance. On a balanced grid this is its first-order term of a functional analysis of variance
/// (Hutter, Hoos and Leyton-Brown 2014).
struct MainEffect {
  std::size_t values = 0, levels = 0;
  double share = 0.0;  ///< eta squared: sum of squares between the levels over the total
  /// Epsilon squared: `share` less the part of chance; may be below 0. Equal to `share` if each level has one
  /// value.
  double adjusted = 0.0;
  /// F and p of the F test; nothing if each level has one value, or if the values within levels do not
  /// differ.
  std::optional<double> f = {}, p = {};
};

/// Returns the main effect of a parameter. `level[i]` is the number of its level in trial i, from 0, and
/// `values[i]` the score. Returns nothing with fewer than two levels, fewer than three values, or without
/// spread.
std::optional<MainEffect> main_effect(std::span<const double> values, std::span<const std::size_t> level);

/// Returns the expected best of n trials drawn with replacement from those that were run, for n = 1 ...
/// `most` (Dodge et al. 2019): the sum over the sorted values of v(i) ((i / N)^n - ((i - 1) / N)^n).
std::vector<double> expected_best(std::span<const double> values, bool maximize, std::size_t most);

/// Returns 95 % intervals of the expected best of n over `resamples` draws with replacement of as many trials
/// as there are (the percentile bootstrap), which show how well these trials determine it. The first is for n
/// = 1.
std::vector<Interval> expected_best_intervals(std::span<const double> values, bool maximize, std::size_t most,
                                              std::size_t resamples = 1000);

}  // namespace encore::analysis
