// SPDX-License-Identifier: BSD-3-Clause
// The incomplete beta function by its continued fraction (DLMF 8.17.22, evaluated by Lentz's method), and the
// ends of Clopper and Pearson by bisection with a fixed number of steps. Read binomial.hpp first.
#include "binomial.hpp"

#include <cmath>
#include <limits>

#include <encore/error.hpp>

namespace encore::decide {
namespace {

constexpr int most_terms = 20000;  // about sqrt(a + b) terms are needed
constexpr int halvings = 44;       // to 6e-14

/// Returns the continued fraction of I_x(a, b). It converges quickly for x below (a + 1) / (a + b + 2).
double beta_fraction(double a, double b, double x) {
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

}  // namespace

double incomplete_beta(double a, double b, double x) {
  ENCORE_REQUIRE(a > 0.0 && b > 0.0 && x >= 0.0 && x <= 1.0, "a and b are above 0 and x is a share");
  if (x == 0.0 || x == 1.0) return x;
  const double front =
      std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) + a * std::log(x) + b * std::log1p(-x));
  return x < (a + 1.0) / (a + b + 2.0) ? front * beta_fraction(a, b, x) / a
                                       : 1.0 - front * beta_fraction(b, a, 1.0 - x) / b;
}

double upper_end(double hits, double trials, double level) {
  if (hits >= trials) return 1.0;
  double low = 0.0, high = 1.0;
  for (int i = 0; i < halvings; ++i) {
    const double middle = 0.5 * (low + high);
    const double at_most_hits = 1.0 - incomplete_beta(hits + 1.0, trials - hits, middle);
    (at_most_hits >= 1.0 - level ? low : high) = middle;
  }
  return high;
}

double lower_end(double hits, double trials, double level) {
  return hits <= 0.0 ? 0.0 : 1.0 - upper_end(trials - hits, trials, level);
}

}  // namespace encore::decide
