// SPDX-License-Identifier: BSD-3-Clause
// Tests layer_norm and rms_norm (framework/kernels/norms), forward and backward, against plain loops in
// double; the layers of the same names in plugins/layers call them. Odd shapes, a large mean and empty
// batches are covered. norm_of_sum_test.cpp tests the norm of a residual sum. The formulas are those of the
// papers and must stay; only tolerances may change.
#include "unit/kernels/kernel_test.hpp"

namespace encore::test {
namespace {

class LayerNorm : public ::testing::TestWithParam<Precision> {};

constexpr double epsilon = 1e-5;

TEST_P(LayerNorm, ForwardAndBackwardOfOddShapes) {
  const auto [type, tolerance] = GetParam();
  const DType sums = sum_type(type);
  for (const std::int64_t rows : {1, 2, 17, 65})
    for (const std::int64_t width : {1, 2, 7, 33, 128, 130, 256, 384, 512, 768, 1024}) {
      const contract::OwnedTensor x = random_tensor(type, {rows, width}, 1, 2.0),
                                  dy = random_tensor(type, {rows, width}, 2);
      const contract::OwnedTensor gain = random_tensor(sums, {width}, 3),
                                  bias = random_tensor(sums, {width}, 4);
      contract::OwnedTensor y(type, {rows, width}), mean(sums, {rows}), rstd(sums, {rows}),
          dx(type, {rows, width});
      contract::OwnedTensor dgain = random_tensor(sums, {width}, 5), dbias = random_tensor(sums, {width}, 6);
      const Values in = x.values(), gradient = dy.values(), gains = gain.values(), biases = bias.values();
      Values expected(in.size()), expected_dx(in.size()), expected_dgain = dgain.values(),
                                                          expected_dbias = dbias.values();
      Values means, rstds;
      const auto C = static_cast<std::size_t>(width);
      for (std::size_t r = 0; r < static_cast<std::size_t>(rows); ++r) {
        double center = 0.0, variance = 0.0, mean_g = 0.0, mean_g_xhat = 0.0;
        for (std::size_t c = 0; c < C; ++c) center += in[r * C + c] / static_cast<double>(C);
        for (std::size_t c = 0; c < C; ++c)
          variance += std::pow(in[r * C + c] - center, 2) / static_cast<double>(C);
        const double scale = 1.0 / std::sqrt(variance + epsilon);
        means.push_back(center);
        rstds.push_back(scale);
        for (std::size_t c = 0; c < C; ++c) {
          const double xhat = (in[r * C + c] - center) * scale, g = gains[c] * gradient[r * C + c];
          expected[r * C + c] = xhat * gains[c] + biases[c];
          expected_dgain[c] += gradient[r * C + c] * xhat;
          expected_dbias[c] += gradient[r * C + c];
          mean_g += g / static_cast<double>(C);
          mean_g_xhat += g * xhat / static_cast<double>(C);
        }
        for (std::size_t c = 0; c < C; ++c)
          expected_dx[r * C + c] = scale * (gains[c] * gradient[r * C + c] - mean_g -
                                            (in[r * C + c] - center) * scale * mean_g_xhat);
      }
      kernels::layer_norm(device(), x, gain, bias, epsilon, y, mean, rstd);
      kernels::layer_norm_backward(device(), x, gain, mean, rstd, dy, dx, dgain, dbias);
      // With one channel the variance is zero and rstd is large, so everything but the bias cancels.
      const double allowed = width <= 2 ? 100 * tolerance : tolerance;
      const std::string what = std::to_string(rows) + " x " + std::to_string(width);
      expect_close(y, expected, allowed, what + " y");
      const double statistics = size_of(type) == 2 ? 1e-4 : allowed;  // the statistics are float32 there
      expect_close(mean, means, statistics, what + " mean");
      expect_close(rstd, rstds, statistics, what + " rstd");
      expect_close(dx, expected_dx, 10 * allowed, what + " dx");
      expect_close(dgain, expected_dgain, 10 * allowed, what + " dgain");
      expect_close(dbias, expected_dbias, 10 * allowed, what + " dbias");
    }
}

TEST_P(LayerNorm, KeepsItsPrecisionAroundALargeMean) {
  const auto [type, tolerance] = GetParam();
  if (size_of(type) == 2) GTEST_SKIP() << "1000 + x has no digits left in 16 bits";
  const DType sums = sum_type(type);
  contract::OwnedTensor x(type, {1, 4}), y(type, {1, 4}), mean(sums, {1}), rstd(sums, {1}), gain(sums, {4}),
      bias(sums, {4});
  x.set({999.0, 1001.0, 999.0, 1001.0});
  gain.fill(1.0);
  kernels::layer_norm(device(), x, gain, bias, 0.0, y, mean, rstd);
  expect_close(y, {-1.0, 1.0, -1.0, 1.0}, tolerance, "y");
}

TEST_P(LayerNorm, AnEmptyBatchChangesNothing) {
  const DType type = GetParam().type, sums = sum_type(type);
  contract::OwnedTensor x(type, {0, 3}), y(type, {0, 3}), none(sums, {0}), gain(sums, {3}), bias(sums, {3});
  gain.fill(1.0);
  kernels::layer_norm(device(), x, gain, bias, epsilon, y, none, none);
  kernels::layer_norm_backward(device(), x, gain, none, none, x, y, gain, bias);
  expect_close(gain, Values(3, 1.0), 0.0, "dgain");
}

INSTANTIATE_TEST_SUITE_P(Precisions, LayerNorm, ::testing::ValuesIn(precisions(2e-6, 1e-13, 1e-2)),
                         precision_name);

class RmsNorm : public ::testing::TestWithParam<Precision> {};

TEST_P(RmsNorm, ForwardAndBackwardOfOddShapes) {
  const auto [type, tolerance] = GetParam();
  const DType sums = sum_type(type);
  for (const std::int64_t rows : {1, 2, 17, 65})
    for (const std::int64_t width : {1, 2, 7, 33, 128, 130, 256, 384, 512, 768, 1024}) {
      const contract::OwnedTensor x = random_tensor(type, {rows, width}, 1, 2.0),
                                  dy = random_tensor(type, {rows, width}, 2);
      const contract::OwnedTensor gain = random_tensor(sums, {width}, 3);
      contract::OwnedTensor y(type, {rows, width}), rrms(sums, {rows}), dx(type, {rows, width});
      contract::OwnedTensor dgain = random_tensor(sums, {width}, 5);
      const Values in = x.values(), gradient = dy.values(), gains = gain.values();
      Values expected(in.size()), expected_dx(in.size()), expected_dgain = dgain.values(), scales;
      const auto C = static_cast<std::size_t>(width);
      for (std::size_t r = 0; r < static_cast<std::size_t>(rows); ++r) {
        double squares = 0.0, mean_g_xhat = 0.0;
        for (std::size_t c = 0; c < C; ++c) squares += in[r * C + c] * in[r * C + c];
        const double scale = 1.0 / std::sqrt(squares / static_cast<double>(C) + epsilon);
        scales.push_back(scale);
        for (std::size_t c = 0; c < C; ++c) {
          const double xhat = in[r * C + c] * scale;
          expected[r * C + c] = xhat * gains[c];
          expected_dgain[c] += gradient[r * C + c] * xhat;
          mean_g_xhat += gains[c] * gradient[r * C + c] * xhat / static_cast<double>(C);
        }
        for (std::size_t c = 0; c < C; ++c)
          expected_dx[r * C + c] =
              scale * (gains[c] * gradient[r * C + c] - in[r * C + c] * scale * mean_g_xhat);
      }
      kernels::rms_norm(device(), x, gain, epsilon, y, rrms);
      kernels::rms_norm_backward(device(), x, gain, rrms, dy, dx, dgain);
      // With one channel y is the gain with the sign of x, and the terms of dx cancel; with two channels they
      // nearly can. Rounding errors then dominate dx.
      const double allowed = width <= 2 ? 100 * tolerance : tolerance;
      const std::string what = std::to_string(rows) + " x " + std::to_string(width);
      expect_close(y, expected, tolerance, what + " y");
      expect_close(rrms, scales, size_of(type) == 2 ? 1e-5 : tolerance, what + " rrms");
      expect_close(dx, expected_dx, 10 * allowed, what + " dx");
      expect_close(dgain, expected_dgain, 10 * tolerance, what + " dgain");
    }
}

TEST_P(RmsNorm, AnEmptyBatchChangesNothingAndZerosStayZero) {
  const DType type = GetParam().type, sums = sum_type(type);
  contract::OwnedTensor x(type, {0, 3}), y(type, {0, 3}), none(sums, {0}), gain(sums, {3});
  gain.fill(1.0);
  kernels::rms_norm(device(), x, gain, epsilon, y, none);
  kernels::rms_norm_backward(device(), x, gain, none, x, y, gain);
  expect_close(gain, Values(3, 1.0), 0.0, "dgain");
  contract::OwnedTensor zeros(type, {1, 3}), one(sums, {1});
  kernels::rms_norm(device(), zeros, gain, epsilon, zeros, one);
  expect_close(zeros, Values(3, 0.0), 0.0, "y");
}

INSTANTIATE_TEST_SUITE_P(Precisions, RmsNorm, ::testing::ValuesIn(precisions(2e-6, 1e-13, 1e-2)),
                         precision_name);

TEST(RmsNormRefuses, ShapesThatDoNotFit) {
  const contract::OwnedTensor x(DType::float32, {2, 4}), four(DType::float32, {4}), two(DType::float32, {2});
  EXPECT_REFUSED(kernels::rms_norm(device(), x, two, epsilon, x, two),
                 "gain is float32 (2), expected float32 (4)");
  EXPECT_REFUSED(kernels::rms_norm(device(), x, four, epsilon, x, four),
                 "rrms is float32 (4), expected float32 (2)");
  EXPECT_REFUSED(kernels::rms_norm_backward(device(), x, four, two, x, x, two),
                 "dgain is float32 (2), expected float32 (4)");
}

TEST(LayerNormRefuses, ShapesThatDoNotFit) {
  const contract::OwnedTensor x(DType::float32, {2, 4}), four(DType::float32, {4}), five(DType::float32, {5}),
      two(DType::float32, {2});
  EXPECT_REFUSED(kernels::layer_norm(device(), x, five, four, epsilon, x, two, two),
                 "gain is float32 (5), expected float32 (4)");
  EXPECT_REFUSED(kernels::layer_norm(device(), x, four, four, epsilon, x, four, two),
                 "mean is float32 (4), expected float32 (2)");
  EXPECT_REFUSED(kernels::layer_norm(device(), x, four, four, epsilon,
                                     Tensor(nullptr, DType::float32, {2, 4}), two, two),
                 "without memory");
}

}  // namespace
}  // namespace encore::test
