// Softmax cross-entropy, its gradient and argmax.
#include "unit/kernels/kernel_test.hpp"

namespace encore::test {
namespace {

class CrossEntropy : public ::testing::TestWithParam<Precision> {};

TEST_P(CrossEntropy, loss_and_gradient_with_and_without_smoothing) {
  const auto [type, tolerance] = GetParam();
  for (const std::int64_t classes : {1, 2, 9, 33, 150})
    for (const double smoothing : {0.0, 0.1}) {
      const OwnedTensor logits = random_tensor(type, {5, classes}, 1, 3.0);
      const OwnedTensor targets = integers({0, -1, classes - 1, classes / 2, -1});
      OwnedTensor losses(sum_type(type), {5}), dlogits(type, {5, classes});
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
      expect_close(losses, expected, type == DType::bfloat16 ? 1e-5 : tolerance, "losses");
      kernels::softmax_cross_entropy_backward(device(), logits, targets, smoothing, 0.25, dlogits);
      expect_close(dlogits, expected_gradient, tolerance, "dlogits");
      kernels::softmax_cross_entropy_backward(device(), logits, targets, smoothing, 0.25, logits);
      expect_close(logits, expected_gradient, tolerance, "dlogits in place");
    }
}

TEST_P(CrossEntropy, huge_logits_do_not_overflow) {
  const auto [type, tolerance] = GetParam();
  OwnedTensor logits(type, {1, 2}), losses(sum_type(type), {1});
  logits.set({1000.0, -1000.0});
  kernels::softmax_cross_entropy(device(), logits, integers({1}), 0.0, losses);
  expect_close(losses, {2000.0}, 1e-2, "loss");
}

TEST_P(CrossEntropy, argmax_takes_the_first_of_equals) {
  OwnedTensor logits(GetParam().type, {3, 4}), predictions(DType::int32, {3});
  logits.set({0, 3, 3, 1, -5, -6, -7, -5, 1, 2, 3, 4});
  kernels::argmax(device(), logits, predictions);
  expect_close(predictions, {1, 0, 3}, 0.0, "predictions");
}

INSTANTIATE_TEST_SUITE_P(Precisions, CrossEntropy,
                         ::testing::Values(Precision{DType::float32, 3e-6}, Precision{DType::float64, 1e-13},
                                           Precision{DType::bfloat16, 1e-2}),
                         precision_name);

TEST(CrossEntropyRefuses, wrong_targets_and_smoothing) {
  const OwnedTensor logits(DType::float32, {2, 3}), losses(DType::float32, {2}), three = integers({0, 1, 2}),
                                                                                 two = integers({0, 1});
  EXPECT_REFUSED(kernels::softmax_cross_entropy(device(), logits, three, 0.0, losses),
                 "targets is int32 (3), expected int32 (2)");
  EXPECT_REFUSED(kernels::softmax_cross_entropy(device(), logits, two, 1.0, losses),
                 "label smoothing lies in [0, 1)");
  EXPECT_REFUSED(kernels::argmax(device(), OwnedTensor(DType::float32, {2, 0}), two), "at least one class");
}

}  // namespace
}  // namespace encore::test
