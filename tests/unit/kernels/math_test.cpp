// SPDX-License-Identifier: BSD-3-Clause
// Tests the elementary functions of framework/sdk/encore/math.hpp (exp, log, erf, tanh, sine and cosine),
// with which all kernels compute so that every processor gives equal bits: their largest relative error
// against the C library in long double, and their limits. Also tests the rounding of bfloat16. An edit of a
// function changes the bits of every run, even if it stays within the bounds here.
#include "unit/kernels/kernel_test.hpp"

#include <bit>

#include <encore/math.hpp>

#include "kernels/activation_function.hpp"

namespace encore::test {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();

/// Returns the largest relative error of `function` on 200001 points between `begin` and `end`; `exact`
/// computes the reference in long double.
template <class T, class Function, class Reference>
double worst_error(T begin, T end, const Function& function, const Reference& exact) {
  double worst = 0.0;
  constexpr int points = 200001;
  for (int i = 0; i < points; ++i) {
    const T x = static_cast<T>(begin + (end - begin) * (static_cast<double>(i) + 0.37) / points);
    const long double expected = exact(static_cast<long double>(x));
    const long double error = std::abs((static_cast<long double>(function(x)) - expected) / expected);
    worst = std::max(worst, static_cast<double>(error));
  }
  return worst;
}

template <class T>
double worst_exp(T begin, T end) {
  return worst_error<T>(
      begin, end, [](T x) { return math::exp(x); }, [](long double x) { return std::exp(x); });
}
template <class T>
double worst_log(T begin, T end) {
  return worst_error<T>(
      begin, end, [](T x) { return math::log(x); }, [](long double x) { return std::log(x); });
}
template <class T>
double worst_erf(T begin, T end) {
  return worst_error<T>(
      begin, end, [](T x) { return math::erf(x); }, [](long double x) { return std::erf(x); });
}

TEST(Exp, IsAccurate) {
  EXPECT_LE(worst_exp<double>(-700.0, 700.0), 5e-16);
  EXPECT_LE(worst_exp<double>(-1.0, 1.0), 4e-16);
  EXPECT_LE(worst_exp<float>(-87.0F, 88.0F), 1.5e-7);
  EXPECT_LE(worst_exp<float>(-1.0F, 1.0F), 1.3e-7);
}
TEST(Exp, HasTheRightLimits) {
  EXPECT_EQ(math::exp(0.0), 1.0);
  EXPECT_EQ(math::exp(inf), inf);
  EXPECT_EQ(math::exp(-inf), 0.0);
  EXPECT_EQ(math::exp(800.0), inf);
  EXPECT_EQ(math::exp(-800.0), 0.0);
  EXPECT_TRUE(std::isnan(math::exp(std::nan(""))));
  EXPECT_NEAR(math::exp(-740.0) / std::exp(-740.0), 1.0, 1e-2);  // a subnormal has few digits
  EXPECT_EQ(math::exp(0.0F), 1.0F);
  EXPECT_EQ(math::exp(100.0F), std::numeric_limits<float>::infinity());
  EXPECT_EQ(math::exp(-200.0F), 0.0F);
  EXPECT_TRUE(std::isnan(math::exp(std::nanf(""))));
}

TEST(Log, IsAccurate) {
  EXPECT_LE(worst_log<double>(1e-300, 1e-290), 5e-16);
  EXPECT_LE(worst_log<double>(0.001, 0.99), 1e-15);
  EXPECT_LE(worst_log<double>(1.01, 1000.0), 1e-15);
  EXPECT_LE(worst_log<double>(0.9999, 1.0001), 1e-15);
  EXPECT_LE(worst_log<float>(0.001F, 0.99F), 3e-7);
  EXPECT_LE(worst_log<float>(1.01F, 1000.0F), 3e-7);
}
TEST(Log, HasTheRightLimits) {
  EXPECT_EQ(math::log(1.0), 0.0);
  EXPECT_EQ(math::log(0.0), -inf);
  EXPECT_EQ(math::log(inf), inf);
  EXPECT_TRUE(std::isnan(math::log(-1.0)));
  EXPECT_TRUE(std::isnan(math::log(std::nan(""))));
  EXPECT_NEAR(math::log(5e-324), std::log(5e-324), 1e-12);
  EXPECT_EQ(math::log(0.0F), -std::numeric_limits<float>::infinity());
  EXPECT_NEAR(math::log(1e-45F), std::log(1e-45F), 1e-4);
}

TEST(Erf, IsAccurate) {
  EXPECT_LE(worst_erf<double>(-7.0, 7.0), 1e-15);
  EXPECT_LE(worst_erf<double>(1e-9, 1e-3), 1e-15);
  EXPECT_LE(worst_erf<float>(-5.0F, 5.0F), 3e-7);
}
TEST(Erf, HasTheRightLimits) {
  EXPECT_EQ(math::erf(0.0), 0.0);
  EXPECT_EQ(math::erf(inf), 1.0);
  EXPECT_EQ(math::erf(-inf), -1.0);
  EXPECT_TRUE(std::isnan(math::erf(std::nan(""))));
  EXPECT_EQ(math::erf(30.0F), 1.0F);
}

template <class T>
double worst_tanh(T begin, T end) {
  return worst_error<T>(
      begin, end, [](T x) { return kernels::hyperbolic_tangent(x); },
      [](long double x) { return std::tanh(x); });
}

TEST(Tanh, IsAccurate) {
  EXPECT_LE(worst_tanh<double>(-0.7, 0.7), 8e-16);
  EXPECT_LE(worst_tanh<double>(-20.0, 20.0), 5e-16);
  EXPECT_LE(worst_tanh<double>(1e-9, 1e-3), 5e-16);
  EXPECT_LE(worst_tanh<float>(-0.7F, 0.7F), 3e-7);
  EXPECT_LE(worst_tanh<float>(-10.0F, 10.0F), 3e-7);
}
TEST(Tanh, HasTheRightLimits) {
  EXPECT_EQ(kernels::hyperbolic_tangent(0.0), 0.0);
  EXPECT_TRUE(std::signbit(kernels::hyperbolic_tangent(-0.0)));
  EXPECT_EQ(kernels::hyperbolic_tangent(inf), 1.0);
  EXPECT_EQ(kernels::hyperbolic_tangent(-inf), -1.0);
  EXPECT_EQ(kernels::hyperbolic_tangent(-1000.0), -1.0);
  EXPECT_EQ(kernels::hyperbolic_tangent(5e-324), 5e-324);
  EXPECT_EQ(kernels::hyperbolic_tangent(200.0F), 1.0F);
  EXPECT_TRUE(std::isnan(kernels::hyperbolic_tangent(std::nan(""))));
  EXPECT_TRUE(std::isnan(kernels::hyperbolic_tangent(std::nanf(""))));
}

TEST(SineCosine, IsAccurate) {
  for (int i = -100000; i < 100000; ++i) {
    const double x = i * 0.0137;
    const math::SineCosine value = math::sine_cosine(x);
    ASSERT_NEAR(value.sine, std::sin(static_cast<long double>(x)), 3e-16) << x;
    ASSERT_NEAR(value.cosine, std::cos(static_cast<long double>(x)), 3e-16) << x;
  }
}

TEST(BFloat16, RoundsToNearestEvenAndKeepsSpecialValues) {
  EXPECT_EQ(static_cast<float>(bfloat16(1.0F)), 1.0F);
  EXPECT_EQ(static_cast<float>(bfloat16(1.00390625F)), 1.0F);       // a tie goes to the even neighbour, down
  EXPECT_EQ(static_cast<float>(bfloat16(1.01171875F)), 1.015625F);  // and up
  EXPECT_EQ(static_cast<float>(bfloat16(-3.1415927F)), -3.140625F);
  EXPECT_TRUE(std::isinf(static_cast<float>(bfloat16(3.4e38F))));
  EXPECT_TRUE(std::isnan(static_cast<float>(bfloat16(std::nanf("")))));
  EXPECT_TRUE(std::isnan(
      static_cast<float>(bfloat16(std::bit_cast<float>(0x7F800001U)))));  // payload in the lower half
}

}  // namespace
}  // namespace encore::test
