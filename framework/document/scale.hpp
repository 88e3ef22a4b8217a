// SPDX-License-Identifier: BSD-3-Clause
// Scale maps values of an axis to coordinates on the paper, and ticks() chooses round numbers for its labels.
// Every chart with axes uses it; plot.hpp draws the axes. It must work for any finite doubles;
// tests/unit/document/scale_test.cpp has the edge cases.
#pragma once

#include <string>
#include <vector>

#include "document/chart.hpp"

namespace encore::document {

/// The smallest and largest finite value seen. On a logarithmic axis only positive values count.
struct AxisRange {
  bool logarithmic = false;
  double low = 0.0, high = 0.0;
  bool seen = false;  ///< whether any value was added

  void add(double value);
};

/// The values at the ends of an axis.
struct Range {
  double low = 0.0, high = 1.0;
  bool logarithmic = false;

  /// Returns whether the value has a place on the axis: it is finite and, on a logarithmic axis, positive.
  bool can_show(double value) const;
  /// Returns 0 at low, 1 at high. The value can be shown.
  double share(double value) const;
};

/// Returns the axis' own ends if it has them, else those of the data: exactly, or (`round`) extended to round
/// numbers.
Range range_of(const Axis& axis, const AxisRange& extent, bool round);

struct Tick {
  double value = 0.0;
  std::string label;
};

/// Returns at most `most` (at least 2) ticks at round numbers: 1, 2, 5 times a power of ten; on a logarithmic
/// axis decades, and 1, 2, 5 if there are few.
std::vector<Tick> ticks(const Range& range, int most);

struct Scale {
  Range range;
  double begin = 0.0, end = 1.0;  ///< coordinates of range.low and range.high

  double operator()(double value) const { return begin + range.share(value) * (end - begin); }
};

}  // namespace encore::document
