// SPDX-License-Identifier: BSD-3-Clause
// Tests kernels::span_cross_entropy and its gradient (framework/kernels/span_loss.cpp), which the head `span`
// calls for question answering: over the rows of each sequence, a softmax for the first and one for the last
// row of the answer. Expected values are computed in double by the formula. A target outside of the sequence
// must count as unknown.
#include "unit/kernels/kernel_test.hpp"

namespace encore::test {
namespace {

struct Reference {
  Values losses, gradients;
};

/// Returns losses and gradients, computed sequence by sequence and channel by channel directly from the
/// formula.
Reference reference(const std::vector<std::int64_t>& lengths, const Values& logits,
                    const std::vector<std::int64_t>& starts, const std::vector<std::int64_t>& ends,
                    double scale) {
  Reference result = {.losses = Values(lengths.size(), 0.0), .gradients = Values(logits.size(), 0.0)};
  std::size_t first = 0;
  for (std::size_t b = 0; b < lengths.size(); ++b) {
    const auto length = static_cast<std::size_t>(lengths[b]);
    for (std::size_t channel = 0; channel < 2; ++channel) {
      const std::int64_t target = channel == 0 ? starts[b] : ends[b];
      if (target < 0 || target >= lengths[b]) continue;
      double sum = 0.0;
      for (std::size_t t = 0; t < length; ++t) sum += std::exp(logits[2 * (first + t) + channel]);
      const std::size_t wanted = 2 * (first + static_cast<std::size_t>(target)) + channel;
      result.losses[b] -= 0.5 * (logits[wanted] - std::log(sum));
      for (std::size_t t = 0; t < length; ++t)
        result.gradients[2 * (first + t) + channel] =
            0.5 * scale * std::exp(logits[2 * (first + t) + channel]) / sum;
      result.gradients[wanted] -= 0.5 * scale;
    }
    first += length;
  }
  return result;
}

class SpanCrossEntropy : public ::testing::TestWithParam<Precision> {};

TEST_P(SpanCrossEntropy, LossAndGradientOverSequencesOfOddLengths) {
  const auto [type, tolerance] = GetParam();
  // Sequences have no row, one row, and more rows than a warp has lanes; targets are at both ends, missing,
  // and outside of the sequence.
  const std::vector<std::int64_t> lengths = {5, 1, 0, 33, 257, 2, 7, 3},
                                  starts = {1, 0, 0, 32, 100, -1, 2, 3},
                                  ends = {4, 0, 0, 32, 256, 1, -1, 300};
  const contract::OwnedBatch batch(lengths);
  const contract::OwnedTensor logits = random_tensor(type, {batch.rows(), 2}, 1, 3.0);
  const auto count = static_cast<std::int64_t>(lengths.size());
  contract::OwnedTensor losses(sum_type(type), {count}), dlogits(type, {batch.rows(), 2});
  losses.fill(NAN);
  dlogits.fill(NAN);
  const Reference expected = reference(lengths, logits.values(), starts, ends, 0.25);
  kernels::span_cross_entropy(device(), batch, logits, integers(starts), integers(ends), losses);
  expect_close(losses, expected.losses, size_of(type) == 2 ? 1e-5 : tolerance, "losses");
  kernels::span_cross_entropy_backward(device(), batch, logits, integers(starts), integers(ends), 0.25,
                                       dlogits);
  expect_close(dlogits, expected.gradients, tolerance, "dlogits");
  kernels::span_cross_entropy_backward(device(), batch, logits, integers(starts), integers(ends), 0.25,
                                       logits);
  expect_close(logits, expected.gradients, tolerance, "dlogits in place");
}

TEST_P(SpanCrossEntropy, HugeLogitsDoNotOverflow) {
  const contract::OwnedBatch batch({2});
  contract::OwnedTensor logits(GetParam().type, {2, 2}), losses(sum_type(GetParam().type), {1});
  logits.set({1000.0, 0.0, -1000.0, 0.0});
  kernels::span_cross_entropy(device(), batch, logits, integers({1}), integers({-1}), losses);
  expect_close(losses, {1000.0}, 1e-2, "loss");
}

TEST_P(SpanCrossEntropy, NoSequenceNeedsNoWork) {
  const contract::OwnedBatch batch({});
  const contract::OwnedTensor logits(GetParam().type, {0, 2}), losses(sum_type(GetParam().type), {0});
  kernels::span_cross_entropy(device(), batch, logits, integers({}), integers({}), losses);
  kernels::span_cross_entropy_backward(device(), batch, logits, integers({}), integers({}), 1.0, logits);
}

INSTANTIATE_TEST_SUITE_P(Precisions, SpanCrossEntropy, ::testing::ValuesIn(precisions(3e-6, 1e-13, 1e-2)),
                         precision_name);

TEST(SpanCrossEntropyRefuses, WrongShapes) {
  const contract::OwnedBatch batch({2, 1});
  const contract::OwnedTensor logits(DType::float32, {3, 2}), three(DType::float32, {3, 3}),
      losses(DType::float32, {2});
  EXPECT_REFUSED(
      kernels::span_cross_entropy(device(), batch, three, integers({0, 0}), integers({0, 0}), losses),
      "logits is float32 (3, 3), expected float32 (3, 2)");
  EXPECT_REFUSED(
      kernels::span_cross_entropy(device(), batch, logits, integers({0, 0}), integers({0}), losses),
      "ends is int32 (1), expected int32 (2)");
  EXPECT_REFUSED(kernels::span_cross_entropy(device(), batch, logits, integers({0, 0}), integers({0, 0}),
                                             integers({0, 0})),
                 "losses is int32 (2), expected float32 (2)");
}

}  // namespace
}  // namespace encore::test
