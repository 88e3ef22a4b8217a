// SPDX-License-Identifier: BSD-3-Clause
// Intervals of a share, of a difference of two shares and of a ratio of two counts. All are pure functions of
// counts, for one look at the data. report/calibration.cpp, monitor/monitoring.cpp, the alerts
// (monitor/alert_watch.cpp) and the figures of a review queue (app/review.cpp) call them; pages name the
// methods, so another method needs a change there.
#pragma once

#include "analysis/statistics.hpp"

namespace encore::analysis {

/// A part of `all` independent items. Counts may be sums of weights.
struct ShareCount {
  double part = 0.0, all = 0.0;

  double share() const { return part / all; }
};

/// Returns the score interval of the true share, which stays within [0, 1] (Wilson 1927; recommended by
/// Brown, Cai and DasGupta 2001). `of.all` is above 0.
Interval share_interval(const ShareCount& of, double level = 0.95);

/// Returns the exact interval of the true share (Clopper and Pearson 1934), which is never too narrow.
/// Without items it is [0, 1].
Interval exact_interval(const ShareCount& of, double level = 0.95);

/// Returns the interval of the difference `of` - `from` of two independent shares, by combining their score
/// intervals (Newcombe 1998, method 10). Both have items.
Interval share_difference_interval(const ShareCount& of, const ShareCount& from, double level = 0.95);

/// Returns the interval of the rate of one Poisson count divided by the rate of another one that was observed
/// for `times` as long: given the sum, the first count is binomial (Przyborowski and Wilenski 1940), and the
/// interval of its share is exact_interval(). The high end is infinite if the other count is
/// 0. At least one count is above 0. Counts that scatter more than Poisson counts need a wider interval.
Interval rate_ratio_interval(double count, double other, double times, double level = 0.95);

}  // namespace encore::analysis
