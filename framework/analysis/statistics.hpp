// SPDX-License-Identifier: BSD-3-Clause
// Statistics over a handful of seeds: intervals of a mean, tests of a difference, Holm's correction, and the
// number of seeds that a difference needs. All are pure functions: random draws come from a counter, so that
// equal numbers give equal results on every machine. comparison.cpp and candidates.cpp call them; the
// distributions are those of Boost.Math. Change tests/unit/analysis/make_statistics.py with a formula: it has
// the same formulas in scipy and writes the expected values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/metric.hpp"

namespace encore::analysis {

struct Interval {
  double low = 0.0;
  double high = 0.0;
};

/// The result of a two-sided t-test.
struct TTest {
  double difference = 0.0;  ///< of the means, first minus second
  Interval interval;        ///< of the difference, at the level that was asked for
  double t = 0.0;
  double freedom = 0.0;  ///< degrees of freedom; a fraction in Welch's test
  double p = 1.0;
};

/// Returns word `number` of the random stream `seed`: the finalizer of SplitMix64 (Steele, Lea and Flood
/// 2014), applied to a counter.
std::uint64_t random_word(std::uint64_t seed, std::uint64_t number);

/// Returns the mean; NaN without values.
double mean_of(std::span<const double> values);
/// Returns the sample's standard deviation (divided by n - 1); NaN with fewer than two values.
double deviation_of(std::span<const double> values);
/// Returns whether the values differ by more than the rounding of their last bits. Values without spread have
/// neither an interval nor a test.
bool has_spread(std::span<const double> values);

/// Returns mean ± t(n - 1) * deviation / sqrt(n). Returns nothing with fewer than two values or without
/// spread.
std::optional<Interval> t_interval(std::span<const double> values, double level = 0.95);
/// Returns the t interval of the mean of a metric's values. The mean of a fraction lies between 0 and 1, so
/// only that part of its interval is returned; the interval covers the mean as often as before.
std::optional<Interval> mean_interval(const Metric& metric, std::span<const double> values,
                                      double level = 0.95);
/// Returns the interval for one more value of the same kind: mean ± t(n - 1) * deviation * sqrt(1 + 1/n), for
/// normal values (Hahn and Meeker 1991, section 4.7). It is cut to [0, 1] for a fraction. Returns nothing
/// with fewer than two values or without spread.
std::optional<Interval> prediction_interval(const Metric& metric, std::span<const double> values,
                                            double level = 0.95);
/// Returns the bootstrap interval of the mean, bias-corrected and accelerated (BCa; Efron 1987), from
/// `resamples` draws with replacement. Returns nothing with fewer than two values or without spread. With
/// fewer than about ten values it is too narrow.
std::optional<Interval> bootstrap_interval(std::span<const double> values, double level = 0.95,
                                           std::size_t resamples = 10000, std::uint64_t seed = 1);

/// Returns the t-test of a[i] - b[i]; a and b have equal lengths. Returns nothing with fewer than two pairs,
/// or if all differences are equal.
std::optional<TTest> paired_t_test(std::span<const double> a, std::span<const double> b, double level = 0.95);
/// Returns the t-test of two independent samples with unequal variances (Welch 1947). Returns nothing with
/// fewer than two values on a side, or without spread on both sides.
std::optional<TTest> welch_t_test(std::span<const double> a, std::span<const double> b, double level = 0.95);

/// Returns the p-values, corrected for their number (Holm 1979), in the order of the argument.
std::vector<double> holm(std::span<const double> p_values);

/// Returns the smallest number of seeds with which a two-sided paired t-test at `alpha` finds a true
/// `difference` with probability `power`, if differences scatter with `deviation` (noncentral t). Returns
/// nothing beyond a million or for a difference of zero.
std::optional<std::size_t> seeds_for_paired(double deviation, double difference, double alpha, double power);
/// Returns the smallest number of seeds of each of two candidates for Welch's test, as seeds_for_paired()
/// does for pairs.
std::optional<std::size_t> seeds_for_welch(double deviation_a, double deviation_b, double difference,
                                           double alpha, double power);

}  // namespace encore::analysis
