// SPDX-License-Identifier: BSD-3-Clause
// Measures how far two histograms lie apart, in two well-known measures: the population stability index and
// the divergence of Jensen and Shannon. They only describe; shift_test.hpp decides whether a difference is
// more than chance. monitoring.cpp calls them, and users compare their values between days, so the formulas
// must not change.
#pragma once

#include <cstdint>
#include <vector>

namespace encore::monitor {

struct ShiftMeasures {
  /// The sum of (q - p) ln(q / p) over groups with shares p of the reference and q of the inputs.
  double psi = 0.0;
  /// The mean divergence of both from their mean, in bits, from 0 to 1.
  double js = 0.0;
};

/// Joins neighbouring bins to groups that each have at least a tenth of the reference. Returns the first bin
/// of each group.
std::vector<std::size_t> grouped_bins(const std::vector<std::int64_t>& reference);

/// Compares counts over the same groups or categories; missing ones are 0. Half an observation is added to
/// each, so that an empty group gives no infinity. Both are 0 if one side has no observation.
ShiftMeasures shift_between(const std::vector<std::int64_t>& reference,
                            const std::vector<std::int64_t>& live);

/// Returns the sum of the bins in each group; `groups` as grouped_bins() returns them.
std::vector<std::int64_t> sums_of(const std::vector<std::int64_t>& bins,
                                  const std::vector<std::size_t>& groups);

}  // namespace encore::monitor
