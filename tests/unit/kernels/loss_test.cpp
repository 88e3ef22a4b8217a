// SPDX-License-Identifier: BSD-3-Clause
// Tests the losses that heads call: softmax cross-entropy with label smoothing and argmax
// (framework/kernels/loss.cpp), binary cross-entropy, the squared error and the sigmoid
// (framework/kernels/elementwise_loss.cpp), each with its gradient, against the formulas in double. Rows
// without a known target have no loss and no gradient; huge logits must not overflow.
#include "unit/kernels/kernel_test.hpp"

namespace encore::test {
namespace {

class CrossEntropy : public ::testing::TestWithParam<Precision> {};

TEST_P(CrossEntropy, LossAndGradientWithAndWithoutSmoothing) {
  const auto [type, tolerance] = GetParam();
  for (const std::int64_t classes : {1, 2, 9, 33, 150})
    for (const double smoothing : {0.0, 0.1}) {
      const contract::OwnedTensor logits = random_tensor(type, {5, classes}, 1, 3.0);
      const contract::OwnedTensor targets = integers({0, -1, classes - 1, classes / 2, -1});
      contract::OwnedTensor losses(sum_type(type), {5}), dlogits(type, {5, classes});
      contract::OwnedTensor normalizers(sum_type(type), {5, 2}), same_losses(sum_type(type), {5}),
          same_dlogits(type, {5, classes});
      losses.fill(NAN);
      const Values z = logits.values(), wanted = targets.values();
      Values expected(5, 0.0), expected_gradient(z.size(), 0.0);
      const auto K = static_cast<std::size_t>(classes);
      for (std::size_t r = 0; r < 5; ++r) {
        if (wanted[r] < 0) continue;
        double sum = 0.0;
        for (std::size_t k = 0; k < K; ++k) sum += std::exp(z[r * K + k]);
        for (std::size_t k = 0; k < K; ++k) {
          const double q = (k == static_cast<std::size_t>(wanted[r]) ? 1.0 - smoothing : 0.0) +
                           smoothing / static_cast<double>(K);
          expected[r] -= q * (z[r * K + k] - std::log(sum));
          expected_gradient[r * K + k] = 0.25 * (std::exp(z[r * K + k]) / sum - q);
        }
      }
      kernels::softmax_cross_entropy(device(), logits, targets, smoothing, losses);
      expect_close(losses, expected, size_of(type) == 2 ? 1e-5 : tolerance, "losses");
      kernels::softmax_cross_entropy_backward(device(), logits, targets, smoothing, 0.25, dlogits);
      expect_close(dlogits, expected_gradient, tolerance, "dlogits");
      normalizers.fill(NAN);
      kernels::softmax_cross_entropy(device(), logits, targets, smoothing, same_losses, normalizers);
      kernels::softmax_cross_entropy_backward(device(), logits, targets, smoothing, 0.25, normalizers,
                                              same_dlogits);
      EXPECT_EQ(same_losses.values(), losses.values());
      EXPECT_EQ(same_dlogits.values(), dlogits.values());
      kernels::softmax_cross_entropy_backward(device(), logits, targets, smoothing, 0.25, logits);
      expect_close(logits, expected_gradient, tolerance, "dlogits in place");
    }
}

TEST_P(CrossEntropy, HugeLogitsDoNotOverflow) {
  const auto [type, tolerance] = GetParam();
  contract::OwnedTensor logits(type, {1, 2}), losses(sum_type(type), {1});
  logits.set({1000.0, -1000.0});
  kernels::softmax_cross_entropy(device(), logits, integers({1}), 0.0, losses);
  expect_close(losses, {2000.0}, 1e-2, "loss");
}

TEST_P(CrossEntropy, ArgmaxTakesTheFirstOfEquals) {
  contract::OwnedTensor logits(GetParam().type, {3, 4}), predictions(DType::int32, {3});
  logits.set({0, 3, 3, 1, -5, -6, -7, -5, 1, 2, 3, 4});
  kernels::argmax(device(), logits, predictions);
  expect_close(predictions, {1, 0, 3}, 0.0, "predictions");
}

INSTANTIATE_TEST_SUITE_P(Precisions, CrossEntropy, ::testing::ValuesIn(precisions(3e-6, 1e-13, 1e-2)),
                         precision_name);

class ElementwiseLoss : public ::testing::TestWithParam<Precision> {};

/// Five rows, of which 1 and 4 have no known target (-1).
const std::vector<std::int64_t> known_rows = {0, -1, 3, 0, -1};

/// Compares a loss kernel and its backward kernel with `value` and `derivative` of (x, target), each a mean
/// over the channels of a row.
template <class Forward, class Backward, class Value, class Derivative>
void expect_elementwise(const Precision& precision, const Forward& forward, const Backward& backward,
                        const Value& value, const Derivative& derivative) {
  const auto [type, tolerance] = precision;
  for (const std::int64_t classes : {1, 2, 9, 33, 150}) {
    const contract::OwnedTensor x = random_tensor(type, {5, classes}, 1, 3.0), known = integers(known_rows);
    contract::OwnedTensor targets(DType::float32, {5, classes}), losses(sum_type(type), {5}),
        dx(type, {5, classes});
    Values wanted(static_cast<std::size_t>(5 * classes));
    for (std::size_t i = 0; i < wanted.size(); ++i) wanted[i] = static_cast<double>(i % 5) / 4.0;
    targets.set(wanted);
    losses.fill(NAN);
    dx.fill(NAN);
    const auto K = static_cast<std::size_t>(classes);
    const Values given = x.values();
    Values expected(5, 0.0), expected_gradient(given.size(), 0.0);
    for (std::size_t r = 0; r < 5; ++r)
      for (std::size_t k = 0; k < K && known_rows[r] >= 0; ++k) {
        const std::size_t i = r * K + k;
        expected[r] += value(given[i], wanted[i]) / static_cast<double>(K);
        expected_gradient[i] = 0.25 * derivative(given[i], wanted[i]) / static_cast<double>(K);
      }
    forward(x, targets, known, losses);
    expect_close(losses, expected, size_of(type) == 2 ? 1e-5 : tolerance, "losses");
    backward(x, targets, known, 0.25, dx);
    expect_close(dx, expected_gradient, tolerance, "dx");
    backward(x, targets, known, 0.25, x);
    expect_close(x, expected_gradient, tolerance, "dx in place");
  }
}

TEST_P(ElementwiseLoss, BinaryCrossEntropyAndItsGradient) {
  expect_elementwise(
      GetParam(),
      [](Tensor z, Tensor t, Tensor known, Tensor losses) {
        kernels::binary_cross_entropy(device(), z, t, known, losses);
      },
      [](Tensor z, Tensor t, Tensor known, double scale, Tensor dz) {
        kernels::binary_cross_entropy_backward(device(), z, t, known, scale, dz);
      },
      [](double z, double t) {
        const double p = 1.0 / (1.0 + std::exp(-z));
        return -t * std::log(p) - (1.0 - t) * std::log(1.0 - p);
      },
      [](double z, double t) { return 1.0 / (1.0 + std::exp(-z)) - t; });
}

TEST_P(ElementwiseLoss, SquaredErrorAndItsGradient) {
  expect_elementwise(
      GetParam(),
      [](Tensor x, Tensor t, Tensor known, Tensor losses) {
        kernels::squared_error(device(), x, t, known, losses);
      },
      [](Tensor x, Tensor t, Tensor known, double scale, Tensor dx) {
        kernels::squared_error_backward(device(), x, t, known, scale, dx);
      },
      [](double x, double t) { return (x - t) * (x - t); }, [](double x, double t) { return 2.0 * (x - t); });
}

TEST_P(ElementwiseLoss, HugeLogitsDoNotOverflow) {
  const auto type = GetParam().type;
  contract::OwnedTensor logits(type, {1, 4}), targets(DType::float32, {1, 4}), losses(sum_type(type), {1}),
      scores(DType::float32, {1, 4});
  logits.set({1000.0, -1000.0, 1000.0, -1000.0});
  targets.set({1.0, 0.0, 0.0, 1.0});
  kernels::binary_cross_entropy(device(), logits, targets, integers({0}), losses);
  expect_close(losses, {500.0}, 1e-6, "loss");
  kernels::sigmoid(device(), logits, scores);
  expect_close(scores, {1.0, 0.0, 1.0, 0.0}, 1e-30, "scores");
}

TEST_P(ElementwiseLoss, SigmoidOfOddShapes) {
  for (const std::int64_t classes : {1, 33}) {
    const contract::OwnedTensor x = random_tensor(GetParam().type, {7, classes}, 2, 3.0);
    contract::OwnedTensor y(DType::float32, {7, classes});
    kernels::sigmoid(device(), x, y);
    Values expected = x.values();
    for (double& value : expected) value = 1.0 / (1.0 + std::exp(-value));
    expect_close(y, expected, 3e-7, "y");
  }
  contract::OwnedTensor none(DType::float32, {0, 3});
  kernels::sigmoid(device(), contract::OwnedTensor(GetParam().type, {0, 3}), none);
}

INSTANTIATE_TEST_SUITE_P(Precisions, ElementwiseLoss, ::testing::ValuesIn(precisions(3e-6, 1e-13, 1e-2)),
                         precision_name);

TEST(ElementwiseLossRefuses, WrongShapesAndTypes) {
  const contract::OwnedTensor x(DType::float32, {2, 3}), targets(DType::float32, {2, 3}),
      losses(DType::float32, {2}), known = integers({0, 0});
  EXPECT_REFUSED(kernels::binary_cross_entropy(device(), x, x, integers({0, 0, 0}), losses),
                 "known is int32 (3), expected int32 (2)");
  EXPECT_REFUSED(
      kernels::squared_error(device(), x, contract::OwnedTensor(DType::float32, {2}), known, losses),
      "targets is float32 (2), expected float32 (2, 3)");
  EXPECT_REFUSED(kernels::binary_cross_entropy_backward(device(), x, targets, known, 1.0,
                                                        contract::OwnedTensor(DType::float64, {2, 3})),
                 "dlogits is float64 (2, 3), expected float32 (2, 3)");
  EXPECT_REFUSED(
      kernels::squared_error(device(), contract::OwnedTensor(DType::float32, {2, 0}), targets, known, losses),
      "at least one class");
  EXPECT_REFUSED(kernels::sigmoid(device(), x, contract::OwnedTensor(DType::float64, {2, 3})),
                 "y is float64 (2, 3), expected float32 (2, 3)");
}

TEST(CrossEntropyRefuses, WrongTargetsAndSmoothing) {
  const contract::OwnedTensor logits(DType::float32, {2, 3}), losses(DType::float32, {2}),
      three = integers({0, 1, 2}), two = integers({0, 1});
  EXPECT_REFUSED(kernels::softmax_cross_entropy(device(), logits, three, 0.0, losses),
                 "targets is int32 (3), expected int32 (2)");
  EXPECT_REFUSED(kernels::softmax_cross_entropy(device(), logits, two, 0.0, losses, losses), "normalizers");
  EXPECT_REFUSED(kernels::softmax_cross_entropy(device(), logits, two, 1.0, losses),
                 "label smoothing lies in [0, 1)");
  EXPECT_REFUSED(kernels::argmax(device(), contract::OwnedTensor(DType::float32, {2, 0}), two),
                 "at least one class");
}

}  // namespace
}  // namespace encore::test
