// SPDX-License-Identifier: BSD-3-Clause
// The exact one-sided interval ends of a share (Clopper and Pearson 1934), and how many trials a bound needs.
// The step `decide` computes with them what it can promise (plugins/steps/decide/thresholds.cpp), `exp app
// new` whether a user's data can be enough for a promise (app/app_shares.cpp). Pure functions, for any
// thread. Thresholds of stored runs follow from them, so their values never change.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include <encore/error.hpp>

namespace encore::binomial {

inline constexpr int most_terms = 20000;  // about sqrt(a + b) terms are needed
inline constexpr int halvings = 44;       // to 6e-14

/// Returns the continued fraction of I_x(a, b). It converges quickly for x below (a + 1) / (a + b + 2).
inline double beta_fraction(double a, double b, double x) {
  constexpr double tiny = std::numeric_limits<double>::min();
  const auto away_from_zero = [](double value) { return std::abs(value) < tiny ? tiny : value; };
  double c = 1.0, d = 1.0 / away_from_zero(1.0 - (a + b) * x / (a + 1.0)), fraction = d;
  for (int m = 1; m <= most_terms; ++m) {
    const double even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
    double factor = 1.0;
    for (const double numerator : {even, odd}) {
      d = 1.0 / away_from_zero(1.0 + numerator * d);
      c = away_from_zero(1.0 + numerator / c);
      factor = c * d;
      fraction *= factor;
    }
    if (std::abs(factor - 1.0) < std::numeric_limits<double>::epsilon()) break;
  }
  return fraction;
}

/// Returns the regularized incomplete beta function I_x(a, b) by its continued fraction (DLMF 8.17.22,
/// evaluated by Lentz's method). `a` and `b` are above 0, `x` is in [0, 1].
inline double incomplete_beta(double a, double b, double x) {
  ENCORE_REQUIRE(a > 0.0 && b > 0.0 && x >= 0.0 && x <= 1.0, "a and b are above 0 and x is a share");
  if (x == 0.0 || x == 1.0) return x;
  const double front =
      std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) + a * std::log(x) + b * std::log1p(-x));
  return x < (a + 1.0) / (a + b + 2.0) ? front * beta_fraction(a, b, x) / a
                                       : 1.0 - front * beta_fraction(b, a, 1.0 - x) / b;
}

/// Returns the largest share with which `hits` or fewer of `trials` still have a probability of 1 - `level`,
/// or more: with probability `level` the true share is at most this. Returns 1 if there are no trials. Counts
/// may have fractions, as those that are scaled to another sample size have. It is found by bisection with a
/// fixed number of steps.
inline double upper_end(double hits, double trials, double level) {
  if (hits >= trials) return 1.0;
  double low = 0.0, high = 1.0;
  for (int i = 0; i < halvings; ++i) {
    const double middle = 0.5 * (low + high);
    const double at_most_hits = 1.0 - incomplete_beta(hits + 1.0, trials - hits, middle);
    (at_most_hits >= 1.0 - level ? low : high) = middle;
  }
  return high;
}

/// Returns the lower end in the same way, 0 if there are no trials.
inline double lower_end(double hits, double trials, double level) {
  return hits <= 0.0 ? 0.0 : 1.0 - upper_end(trials - hits, trials, level);
}

/// Returns the largest number of hits with which the upper end of `trials` is at most `share`; -1 if even no
/// hit gives such a bound.
inline std::int64_t most_hits(std::int64_t trials, double share, double level) {
  std::int64_t low = -1, high = trials;  // `low` keeps the bound, `high` does not
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    const bool keeps = upper_end(static_cast<double>(middle), static_cast<double>(trials), level) <= share;
    (keeps ? low : high) = middle;
  }
  return low;
}

/// Returns the smallest number of trials in which `hits` hits give an upper end of at most `share`, which is
/// in (0, 1).
inline std::int64_t fewest_trials(std::int64_t hits, double share, double level) {
  ENCORE_REQUIRE(hits >= 0 && share > 0.0 && share < 1.0, "the share is in (0, 1)");
  std::int64_t low = hits, high = hits + 1;  // `low` breaks the bound
  while (most_hits(high, share, level) < hits) {
    low = high;
    high *= 2;
  }
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (most_hits(middle, share, level) >= hits ? high : low) = middle;
  }
  return high;
}

}  // namespace encore::binomial
