// SPDX-License-Identifier: BSD-3-Clause
// Tests BestTokens (infer/best_tokens.hpp), which finds the most probable tokens of each row of logits on the
// device, so that TextWriter copies only these: their order, their log probability, and room for the widest
// beam that a user may choose (32).
#include "infer/best_tokens.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

namespace encore::infer {
namespace {

/// Returns the `count` best tokens of two equal rows, in which token p has the logit p, so the last token is
/// the best.
std::vector<std::vector<NextToken>> best_of(std::int64_t tokens, std::int64_t count) {
  const Device device;
  std::vector<float> values(static_cast<std::size_t>(2 * tokens));
  std::iota(values.begin(), values.begin() + tokens, 0.0F);
  std::copy_n(values.begin(), tokens, values.begin() + tokens);
  const memory::DeviceBuffer memory("logits", values.size() * sizeof(float));
  const Tensor logits(memory.data(), DType::float32, {2, tokens});
  memory::copy_from_host(device, values.data(), logits);
  return BestTokens(device, count).of(logits);
}

TEST(BestTokens, ComeBestFirstWithTheirProbability) {
  for (const std::vector<NextToken>& row : best_of(3, 2)) {
    ASSERT_EQ(row.size(), 2U);
    EXPECT_EQ(row[0].token, 2);
    EXPECT_EQ(row[1].token, 1);
    EXPECT_NEAR(row[0].log_probability, -std::log(1.0 + std::exp(-1.0) + std::exp(-2.0)), 1e-5);
  }
}

TEST(BestTokens, AreNoMoreThanTheVocabularyHas) {
  EXPECT_EQ(best_of(5, 65).front().size(), 5U);
}

TEST(BestTokens, AreEnoughForTheWidestBeam) {
  const std::int64_t widest = 32;
  const std::vector<std::vector<NextToken>> rows = best_of(100, BeamSearch::candidates(widest) + 1);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_GE(std::ssize(rows.front()), widest + 2) << "those that continue, the end, and padding";
  EXPECT_EQ(rows.front().front().token, 99);
}

}  // namespace
}  // namespace encore::infer
