// SPDX-License-Identifier: BSD-3-Clause
// The formulas of the intervals in shares.hpp, which names their sources and their callers. Reports and
// alerts show the results, so a formula changes only with the expected values of
// tests/unit/analysis/shares_test.cpp.
#include "analysis/shares.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <boost/math/distributions/normal.hpp>
#include <boost/math/special_functions/beta.hpp>

#include "analysis/in_double.hpp"

namespace encore::analysis {
namespace {

/// Returns the quantile of the standard normal distribution for a two-sided interval.
double two_sided(double level) {
  const boost::math::normal_distribution<double, InDouble> normal;
  return boost::math::quantile(boost::math::complement(normal, (1.0 - level) / 2.0));
}

Interval score_interval(const ShareCount& of, double z) {
  const double p = of.share(), square = z * z / of.all;
  const double middle = (p + square / 2.0) / (1.0 + square),
               half = z * std::sqrt(p * (1.0 - p) / of.all + square / (4.0 * of.all)) / (1.0 + square);
  return {.low = std::max(0.0, middle - half), .high = std::min(1.0, middle + half)};
}

/// Returns the ratio of rates for a share of the first count in the sum.
double ratio_of(double share, double times) {
  if (share >= 1.0) return std::numeric_limits<double>::infinity();
  return times * share / (1.0 - share);
}

}  // namespace

Interval share_interval(const ShareCount& of, double level) {
  return score_interval(of, two_sided(level));
}

Interval exact_interval(const ShareCount& of, double level) {
  if (of.all <= 0.0) return {.low = 0.0, .high = 1.0};
  const double tail = (1.0 - level) / 2.0, k = of.part, n = of.all;
  return {.low = k <= 0.0 ? 0.0 : boost::math::ibeta_inv(k, n - k + 1.0, tail, InDouble()),
          .high = k >= n ? 1.0 : boost::math::ibeta_inv(k + 1.0, n - k, 1.0 - tail, InDouble())};
}

Interval share_difference_interval(const ShareCount& of, const ShareCount& from, double level) {
  const double z = two_sided(level);
  const double p = of.share(), q = from.share();
  const Interval first = score_interval(of, z), second = score_interval(from, z);
  return {.low = p - q - std::hypot(p - first.low, second.high - q),
          .high = p - q + std::hypot(first.high - p, q - second.low)};
}

Interval rate_ratio_interval(double count, double other, double times, double level) {
  const Interval share = exact_interval({.part = count, .all = count + other}, level);
  return {.low = ratio_of(share.low, times), .high = ratio_of(share.high, times)};
}

}  // namespace encore::analysis
