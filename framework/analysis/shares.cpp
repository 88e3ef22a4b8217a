// SPDX-License-Identifier: BSD-3-Clause
// The formulas of the intervals in shares.hpp, which names their sources. Reports and alerts show the
// results, so a formula changes only with the expected values of tests/unit/analysis/shares_test.cpp.
#include "analysis/shares.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/normal.hpp>

namespace encore::analysis {
namespace {

/// Returns the quantile of the standard normal distribution for a two-sided interval.
double two_sided(double level) {
  return boost::math::quantile(boost::math::complement(boost::math::normal(), (1.0 - level) / 2.0));
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

Interval share_difference_interval(const ShareCount& of, const ShareCount& from, double level) {
  const double z = two_sided(level);
  const double p = of.share(), q = from.share();
  const Interval first = score_interval(of, z), second = score_interval(from, z);
  return {.low = p - q - std::hypot(p - first.low, second.high - q),
          .high = p - q + std::hypot(first.high - p, q - second.low)};
}

Interval rate_ratio_interval(double count, double other, double times, double level) {
  using Binomial = boost::math::binomial_distribution<>;
  const double sum = count + other, side = (1.0 - level) / 2.0;
  return {.low = ratio_of(Binomial::find_lower_bound_on_p(sum, count, side), times),
          .high = ratio_of(Binomial::find_upper_bound_on_p(sum, count, side), times)};
}

}  // namespace encore::analysis
