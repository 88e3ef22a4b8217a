// SPDX-License-Identifier: BSD-3-Clause
// Elementary functions of the search, with reduced arguments and polynomials whose coefficients are written
// out. parzen.cpp and axis.cpp call them. Decisions of stored searches depend on every bit, so an expression
// must not be reordered. Read search_math.hpp first.
#include "plan/search/search_math.hpp"

#include <bit>
#include <cmath>
#include <cstdint>

namespace encore::plan::search {

namespace {

constexpr double ln2_high = 0.693147180369123816490;  // ln 2 = high + low; high has 33 bits
constexpr double ln2_low = 1.90821492927058770002e-10;

/// Evaluates a polynomial, unrolled at compile time. The first coefficient is that of the highest power.
template <int Count, int Last = Count - 1>
double polynomial(double x, const double (&coefficients)[Count]) {
  if constexpr (Last == 0)
    return coefficients[0];
  else
    return polynomial<Count, Last - 1>(x, coefficients) * x + coefficients[Last];
}

/// Returns 2^k as a normal number.
double power_of_two(int k) {
  return std::bit_cast<double>(static_cast<std::uint64_t>(k + 1023) << 52U);
}

}  // namespace

double exponential(double x) {
  if (x < -745.0) return 0.0;
  if (x > 709.0) x = 709.0;
  // This rounds to the nearest integer, because a double of this size has no fractional digits.
  const double k = (x * 1.4426950408889634 + 6755399441055744.0) - 6755399441055744.0;
  const double r = (x - k * ln2_high) - k * ln2_low;  // at most ln 2 / 2
  // 1 / 13!, ... 1 / 1!, 1 / 0!
  static constexpr double series[] = {
      1.0 / 6227020800, 1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880, 1.0 / 40320, 1.0 / 5040,
      1.0 / 720,        1.0 / 120,       1.0 / 24,       1.0 / 6,       0.5,          1.0,         1.0};
  const int power = static_cast<int>(k);
  const double value = polynomial(r, series);
  return power < -1022 ? std::ldexp(value, power) : value * power_of_two(power);
}

double logarithm(double x) {
  int exponent = 0;
  double mantissa = std::frexp(x, &exponent);  // [0.5, 1)
  if (mantissa < 0.70710678118654752) {
    mantissa *= 2.0;
    --exponent;
  }
  // log m = 2 artanh s with s = (m - 1) / (m + 1), |s| < 0.172
  const double s = (mantissa - 1.0) / (mantissa + 1.0);
  static constexpr double series[] = {1.0 / 21, 1.0 / 19, 1.0 / 17, 1.0 / 15, 1.0 / 13, 1.0 / 11,
                                      1.0 / 9,  1.0 / 7,  1.0 / 5,  1.0 / 3,  1.0};
  const double of_mantissa = 2.0 * s * polynomial(s * s, series);
  return exponent * ln2_high + (of_mantissa + exponent * ln2_low);
}

double normal_below(double x) {
  const double size = std::fabs(x);
  double tail = 0.0;
  if (size < 37.0) {
    const double e = exponential(-0.5 * size * size);
    if (size < 7.07106781186547) {
      static constexpr double above[] = {3.52624965998911e-02, 0.700383064443688, 6.37396220353165,
                                         33.912866078383,      112.079291497871,  221.213596169931,
                                         220.206867912376};
      static constexpr double below[] = {8.83883476483184e-02, 1.75566716318264, 16.064177579207,
                                         86.7807322029461,     296.564248779674, 637.333633378831,
                                         793.826512519948,     440.413735824752};
      tail = e * polynomial(size, above) / polynomial(size, below);
    } else {
      const double fraction = size + 1.0 / (size + 2.0 / (size + 3.0 / (size + 4.0 / (size + 0.65))));
      tail = e / fraction / 2.506628274631;
    }
  }
  return x > 0.0 ? 1.0 - tail : tail;
}

double normal_quantile(double share, double low, double high) {
  for (int halving = 0; halving < 50; ++halving) {
    const double middle = 0.5 * (low + high);
    if (normal_below(middle) < share)
      low = middle;
    else
      high = middle;
  }
  return 0.5 * (low + high);
}

}  // namespace encore::plan::search
