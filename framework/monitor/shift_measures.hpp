// How far two histograms lie apart, in the two measures that people know: the population stability index and
// the divergence of Jensen and Shannon. They describe; whether a difference is more than chance says
// shift_test.hpp. Place in the flow: monitoring.cpp.
#pragma once

#include <cstdint>
#include <vector>

namespace encore {

struct ShiftMeasures {
  /// sum (q - p) ln(q / p) over groups with the shares p of the reference and q of what came.
  double psi = 0.0;
  /// In bits, in [0, 1]: the mean of what both say against their mean.
  double js = 0.0;
};

/// Which neighbouring bins belong together: each group has at least a tenth of the reference. Returns the
/// first bin of each.
std::vector<std::size_t> grouped_bins(const std::vector<std::int64_t>& reference);

/// Of counts over the same groups or categories; missing ones are 0. Half an observation is added to each, so
/// that a group nobody has seen gives no infinity. Both are 0 where one side has no observation.
ShiftMeasures shift_between(const std::vector<std::int64_t>& reference,
                            const std::vector<std::int64_t>& live);

/// Counts by group.
std::vector<std::int64_t> sums_of(const std::vector<std::int64_t>& bins,
                                  const std::vector<std::size_t>& groups);

}  // namespace encore
