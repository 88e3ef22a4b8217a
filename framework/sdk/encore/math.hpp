// SPDX-License-Identifier: BSD-3-Clause
// Elementary functions with equal bits on every processor. The C library chooses implementations by CPU;
// these functions do not. Kernels call them. They have no branches, so loops over them become vector
// instructions; every rounding is written out (fma is always explicit), so an edit of an expression changes
// results and digests. Relative error: about 1e-15 for double, about 1 ulp for float (measured by
// tests/unit/kernels/math_test.cpp).
#pragma once

#include <cstdint>

#include <Kokkos_Core.hpp>

namespace encore::math {

namespace detail {

/// coefficients[0] + x * (coefficients[1] + x * (...)), written out at compile time: a loop would keep the
/// loops around it from becoming vector instructions.
template <int First = 0, class T, int N>
KOKKOS_FORCEINLINE_FUNCTION T polynomial(T x, const T (&coefficients)[N]) {
  if constexpr (First == N - 1)
    return coefficients[First];
  else
    return Kokkos::fma(polynomial<First + 1>(x, coefficients), x, coefficients[First]);
}

}  // namespace detail

/// e^x. x = k ln 2 + r with |r| <= ln 2 / 2; the series of e^r, then 2^k in two factors so that results near
/// the largest number and among the subnormal ones are rounded once.
KOKKOS_FORCEINLINE_FUNCTION double exp(double x) {
  constexpr double to_integer =
      6755399441055744.0;  // 1.5 * 2^52: adding it rounds to an integer, kept in the low bits
  const double limited = x > 710.0 ? 710.0 : (x < -760.0 ? -760.0 : x);
  const double shifted = Kokkos::fma(limited, 1.4426950408889634, to_integer);
  const double k = shifted - to_integer;
  const double r = Kokkos::fma(-k, 2.3190468138462996e-17, Kokkos::fma(-k, 0.6931471805599453, limited));
  // 1 / 0!, 1 / 1!, ... 1 / 13!
  const double series[] = {1.0 / 1,     1.0 / 1,      1.0 / 2,       1.0 / 6,        1.0 / 24,
                           1.0 / 120,   1.0 / 720,    1.0 / 5040,    1.0 / 40320,    1.0 / 362880,
                           1.0 / 3628800, 1.0 / 39916800, 1.0 / 479001600, 1.0 / 6227020800};
  const double power = detail::polynomial(r, series);
  // Uses unsigned arithmetic with an offset, because processors before AVX-512 lack a signed 64-bit vector
  // shift.
  const std::uint64_t n =
      Kokkos::bit_cast<std::uint64_t>(shifted) - Kokkos::bit_cast<std::uint64_t>(to_integer) + 4096;
  const std::uint64_t half = n >> 1;
  const double scale1 = Kokkos::bit_cast<double>((half - 2048 + 1023) << 52);
  const double scale2 = Kokkos::bit_cast<double>((n - half - 2048 + 1023) << 52);
  return power * scale1 * scale2;
}

KOKKOS_FORCEINLINE_FUNCTION float exp(float x) {
  constexpr float to_integer = 12582912.0F;  // 1.5 * 2^23
  const float limited = x > 89.0F ? 89.0F : (x < -105.0F ? -105.0F : x);
  const float shifted = Kokkos::fma(limited, 1.44269504F, to_integer);
  const float k = shifted - to_integer;
  const float r = Kokkos::fma(-k, -1.90465421e-9F, Kokkos::fma(-k, 0.693147182F, limited));
  const float series[] = {1.0F, 1.0F, 1.0F / 2, 1.0F / 6, 1.0F / 24, 1.0F / 120, 1.0F / 720, 1.0F / 5040};
  const float power = detail::polynomial(r, series);
  const std::uint32_t n =
      Kokkos::bit_cast<std::uint32_t>(shifted) - Kokkos::bit_cast<std::uint32_t>(to_integer) + 512;
  const std::uint32_t half = n >> 1;
  const float scale1 = Kokkos::bit_cast<float>((half - 256 + 127) << 23);
  const float scale2 = Kokkos::bit_cast<float>((n - half - 256 + 127) << 23);
  return power * scale1 * scale2;
}

/// Natural logarithm: x = 2^k m with m in [sqrt(1/2), sqrt(2)), ln m = 2 artanh((m - 1) / (m + 1)) as a
/// series. -infinity at 0, NaN below.
KOKKOS_FORCEINLINE_FUNCTION double log(double x) {
  constexpr std::uint64_t root_half = 0x3FE6A09E667F3BCDULL;  // bits of sqrt(1/2)
  const bool subnormal = x < 2.2250738585072014e-308;
  const double normal = subnormal ? x * 18014398509481984.0 : x;  // 2^54
  const std::uint64_t bits = Kokkos::bit_cast<std::uint64_t>(normal);
  const std::uint64_t biased = (bits - root_half + (std::uint64_t{1024} << 52)) >> 52;  // k + 1024
  const double m = Kokkos::bit_cast<double>(bits - ((biased - 1024) << 52));
  const double k = static_cast<double>(static_cast<std::int32_t>(biased)) - (subnormal ? 1078.0 : 1024.0);
  const double s = (m - 1.0) / (m + 1.0);
  const double z = s * s;
  const double series[] = {2.0 / 3,  2.0 / 5,  2.0 / 7,  2.0 / 9,  2.0 / 11,
                           2.0 / 13, 2.0 / 15, 2.0 / 17, 2.0 / 19, 2.0 / 21};
  const double tail = s * z * detail::polynomial(z, series);
  const double small = Kokkos::fma(k, 2.3190468138462996e-17, tail);
  const double result = Kokkos::fma(k, 0.6931471805599453, Kokkos::fma(2.0, s, small));
  constexpr double infinity = Kokkos::Experimental::infinity_v<double>;
  return x == 0.0
             ? -infinity
             : (x > 0.0 && x < infinity ? result
                                        : (x == infinity ? x : Kokkos::Experimental::quiet_NaN_v<double>));
}

KOKKOS_FORCEINLINE_FUNCTION float log(float x) {
  constexpr std::uint32_t root_half = 0x3F3504F3U;
  const bool subnormal = x < 1.17549435e-38F;
  const float normal = subnormal ? x * 16777216.0F : x;  // 2^24
  const std::uint32_t bits = Kokkos::bit_cast<std::uint32_t>(normal);
  const std::uint32_t biased = (bits - root_half + (128U << 23)) >> 23;
  const float m = Kokkos::bit_cast<float>(bits - ((biased - 128U) << 23));
  const float k = static_cast<float>(static_cast<std::int32_t>(biased)) - (subnormal ? 152.0F : 128.0F);
  const float s = (m - 1.0F) / (m + 1.0F);
  const float z = s * s;
  const float series[] = {2.0F / 3, 2.0F / 5, 2.0F / 7, 2.0F / 9, 2.0F / 11};
  const float tail = s * z * detail::polynomial(z, series);
  const float small = Kokkos::fma(k, -1.90465421e-9F, tail);
  const float result = Kokkos::fma(k, 0.693147182F, Kokkos::fma(2.0F, s, small));
  constexpr float infinity = Kokkos::Experimental::infinity_v<float>;
  return x == 0.0F
             ? -infinity
             : (x > 0.0F && x < infinity ? result
                                         : (x == infinity ? x : Kokkos::Experimental::quiet_NaN_v<float>));
}

/// The error function: its power series up to 1, beyond that 1 - e^(-x^2) p(t) with t = 1 / (1 + x/2), where
/// p is the polynomial through the Chebyshev points of erfc(x) e^(x^2) on [1, 6].
KOKKOS_INLINE_FUNCTION double erf(double x) {
  const double magnitude = x < 0.0 ? -x : x;
  const double square = x * x;
  const double inner[] = {
      1.1283791670955125739,      -0.37612638903183752463,     0.11283791670955125739,
      -0.026866170645131251759,   0.0052239776254421878421,    -0.00085483270234508528325,
      0.00012055332981789664251,  -0.000014925650358406250977, 1.6462114365889247402e-6,
      -1.6365844691234924317e-7,  1.480719281587921724e-8,     -1.2290555301717927353e-9,
      9.4227590646504109706e-11,  -6.7113668551641103779e-12,  4.4632242632864773449e-13,
      -2.7835162072109213549e-14, 1.6342614095367151894e-15,   -9.0639708428086724792e-17};
  const double outer[] = {0.2214295402299318063,     0.1618935680410249446,     0.03856057042518242513,
                          0.005588816281841402708,   0.0001971391777279588438,  -0.00008079220428796629955,
                          -7.340517938287998311e-6,  1.979561975927600197e-6,   1.63499373834058035e-7,
                          -7.005371793736791304e-8,  -5.886053299221601476e-10, 2.625007492297142979e-9,
                          -2.686985183485579784e-10, -7.46871181805068482e-11,  2.213573661493375188e-11,
                          4.775776110782187854e-13,  -9.36945603286959368e-13};
  const double limited = magnitude > 6.0 ? 6.0 : magnitude;
  const double t = 1.0 / Kokkos::fma(0.5, limited, 1.0);
  const double u = (t - 0.45833333333333333333) * 4.8;  // [1, 6] -> [-1, 1]
  const double far = Kokkos::fma(-exp(-limited * limited), detail::polynomial(u, outer), 1.0);
  const double near = magnitude * detail::polynomial(square < 1.0 ? square : 1.0, inner);
  const double result = magnitude <= 1.0 ? near : (magnitude == magnitude ? far : magnitude);
  return x < 0.0 ? -result : result;
}

KOKKOS_INLINE_FUNCTION float erf(float x) {
  const float magnitude = x < 0.0F ? -x : x;
  const float square = x * x;
  const float inner[] = {1.128379167F,    -0.3761263890F,    0.1128379167F,    -0.02686617064F,
                         0.005223977625F, -0.0008548327023F, 0.0001205533298F, -0.00001492565036F,
                         1.646211437e-6F, -1.636584469e-7F};
  const float outer[] = {0.2214295402F,   0.1618935703F,    0.03856057046F,
                         0.005588786009F, 0.0001971385695F, -0.00008068237849F,
                         -7.33872857e-6F, 1.830484274e-6F,  1.613579656e-7F};
  const float limited = magnitude > 6.0F ? 6.0F : magnitude;
  const float t = 1.0F / Kokkos::fma(0.5F, limited, 1.0F);
  const float u = (t - 0.458333333F) * 4.8F;
  const float far = Kokkos::fma(-exp(-limited * limited), detail::polynomial(u, outer), 1.0F);
  const float near = magnitude * detail::polynomial(square < 1.0F ? square : 1.0F, inner);
  const float result = magnitude <= 1.0F ? near : (magnitude == magnitude ? far : magnitude);
  return x < 0.0F ? -result : result;
}

struct SineCosine {
  double sine;
  double cosine;
};

/// sin x and cos x for |x| below 1e5: x = q pi/2 + r with pi/2 in three parts, then the series on [-pi/4, pi/4].
KOKKOS_INLINE_FUNCTION SineCosine sine_cosine(double x) {
  constexpr double to_integer = 6755399441055744.0;
  const double shifted = Kokkos::fma(x, 0.6366197723675814, to_integer);
  const double q = shifted - to_integer;
  const double r1 = Kokkos::fma(-q, 1.5707963267948966, x);
  const double r = Kokkos::fma(-q, -1.4973849048591833e-33, Kokkos::fma(-q, 6.123233995736766e-17, r1));
  const double z = r * r;
  const double sines[] = {-1.0 / 6,        1.0 / 120,        -1.0 / 5040,         1.0 / 362880,
                          -1.0 / 39916800, 1.0 / 6227020800, -1.0 / 1307674368000};
  const double cosines[] = {-1.0 / 2,       1.0 / 24,        -1.0 / 720,         1.0 / 40320,
                            -1.0 / 3628800, 1.0 / 479001600, -1.0 / 87178291200, 1.0 / 20922789888000};
  const double s = Kokkos::fma(r * z, detail::polynomial(z, sines), r);
  const double c = Kokkos::fma(z, detail::polynomial(z, cosines), 1.0);
  const std::uint64_t quarter = Kokkos::bit_cast<std::uint64_t>(shifted) & 3U;
  const double sine = (quarter & 1U) != 0U ? c : s;
  const double cosine = (quarter & 1U) != 0U ? s : c;
  return {(quarter & 2U) != 0U ? -sine : sine, quarter == 1U || quarter == 2U ? -cosine : cosine};
}

}  // namespace encore::math
