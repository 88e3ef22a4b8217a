// SPDX-License-Identifier: BSD-3-Clause
// Computes medians of timings with intervals that assume no distribution: timings are skewed, with rare
// large values. These are pure functions of the samples. bench_summary.hpp and bench_comparison.hpp call
// them. Equal samples must give equal intervals, so random draws have a fixed seed.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "analysis/statistics.hpp"

namespace encore::analysis {

/// A median with its interval at 95 %.
struct Measured {
  double median = 0.0;
  Interval interval;
  std::size_t count = 0;
  /// The probability that the interval covers: 0.95 or more, but less from fewer than six samples.
  double coverage = 0.0;
};

/// Returns the median: NaN without values, the mean of the two in the middle if their number is even.
double median_of(std::span<const double> values);

/// Returns the interval between two order statistics, the innermost pair that covers the true median with at
/// least `level`, from the binomial distribution (Thompson 1936); with fewer than six values from the
/// smallest to the largest, which covers less (see `coverage`).
Measured measured(std::span<const double> values, double level = 0.95);

/// The ratio median(a) / median(b) of independent samples, with a percentile bootstrap interval: both samples
/// are drawn again with replacement. (The BCa interval of statistics.hpp is for means: its acceleration comes
/// from a jackknife, which is not consistent for a median.) There is no ratio with fewer than two values on a
/// side.
struct Ratio {
  double ratio = 1.0;
  Interval interval;
};
std::optional<Ratio> ratio_of_medians(std::span<const double> a, std::span<const double> b,
                                      double level = 0.95, std::size_t resamples = 10000,
                                      std::uint64_t seed = 1);

/// Returns a[i] / b[i] for each i; a and b have equal lengths, and a[i] and b[i] are of the same round.
std::vector<double> quotients(std::span<const double> a, std::span<const double> b);

}  // namespace encore::analysis
