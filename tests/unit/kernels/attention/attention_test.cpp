// SPDX-License-Identifier: BSD-3-Clause
// Tests kernels::attention and its backward pass (framework/kernels/attention/attention.cpp), which the
// attention layers of plugins/layers call, as self-attention: against explicit weights in double, for all
// lengths around tiles and vectors, with dropout, ALiBi and windows. Each weight's dropout must come from its
// own random word, and a sequence must not depend on its neighbours. Masks, other keys and decoding:
// attention_masks_test.cpp.
#include <numeric>

#include "unit/kernels/attention/attention_reference.hpp"

namespace encore::test {
namespace {

class Attention : public ::testing::TestWithParam<Precision> {
 protected:
  void compare(const std::vector<std::int64_t>& lengths, std::int64_t heads, std::int64_t size,
               double dropout, bool alibi = false, std::int64_t window = 0) {
    const auto [type, tolerance] = GetParam();
    const contract::OwnedBatch batch(lengths);
    const std::int64_t rows = batch.batch().size.tokens, width = heads * size;
    const kernels::AttentionOptions options{.heads = heads,
                                            .dropout = dropout,
                                            .training = true,
                                            .key = {7, 8, 9},
                                            .alibi = alibi,
                                            .window = window};
    const contract::OwnedTensor qkv = random_tensor(type, {rows, 3 * width}, 1),
                                dout = random_tensor(type, {rows, width}, 2);
    contract::OwnedTensor out(type, {rows, width}), dqkv(type, {rows, 3 * width}),
        log_sum(sum_type(type), {rows, heads});
    out.fill(NAN);
    dqkv.fill(NAN);
    log_sum.fill(NAN);
    const AttentionResult expected = self_attention_reference(
        {lengths, lengths, Lengths(lengths.size(), 0), options, width}, qkv.values(), dout.values());
    self_attention(batch, options, qkv, out, log_sum);
    self_attention_backward(batch, options, qkv, out, log_sum, dout, dqkv);
    const std::string what = std::to_string(rows) + " rows, " + std::to_string(heads) + " heads of " +
                             std::to_string(size) + (alibi ? ", alibi" : "") + ", window " +
                             std::to_string(window);
    expect_self_attention(out, log_sum, dqkv, expected, tolerance, what);
  }
};

TEST_P(Attention, OddLengthsAndHeadSizes) {
  for (const std::int64_t heads : {1, 3})
    for (const std::int64_t size : {1, 5, 16, 33, 64}) compare({1, 2, 33, 7, 16, 17}, heads, size, 0.0);
}
/// For each number of rows, the last rows of a product are a tile of their own, and the last keys a part of a
/// vector.
TEST_P(Attention, EveryLengthUpToTwoVectors) {
  std::vector<std::int64_t> lengths(34);
  std::iota(lengths.begin(), lengths.end(), 1);
  for (const std::int64_t size : {16, 33, 64}) compare(lengths, 2, size, 0.2);
}
/// One batch has whole and last tiles, panels and vectors of keys on both sides of each boundary; head sizes
/// of one register, of several, and an odd one, which has no pairs.
TEST_P(Attention, LengthsAroundVectorsTilesAndPanels) {
  const std::vector<std::int64_t> lengths{64, 1, 31, 129, 2, 48, 15, 7, 65, 16, 26, 17, 33, 32, 49, 0, 96};
  for (const std::int64_t size : {16, 32, 64, 80, 33})
    for (const double dropout : {0.0, 0.1}) compare(lengths, 2, size, dropout);
}
TEST_P(Attention, OneLongSequenceWithDropoutDrawsAFewQueriesAtATime) {
  compare({530}, 1, 16, 0.1);
  compare({1100}, 1, 8, 0.1);
  compare({1100}, 1, 8, 0.1, false, 300);  // the words of a window lie in one run or in two
}
TEST_P(Attention, SequencesOfOneToken) {
  compare({1, 1, 1}, 2, 8, 0.0);
}
TEST_P(Attention, SequencesWithoutTokensBetweenOthers) {
  compare({0, 3, 0, 2, 0}, 2, 8, 0.0);
  compare({0, 3, 0, 2, 0}, 2, 8, 0.3);
}
TEST_P(Attention, SequencesLongerThanATile) {
  compare({131, 3, 260}, 2, 16, 0.0);
}
TEST_P(Attention, DropoutOfWeights) {
  compare({5, 33, 1, 130}, 2, 8, 0.3);
  compare({4, 2}, 3, 5, 0.9);
}

TEST_P(Attention, AlibiWithAnyNumberOfHeads) {
  for (const std::int64_t heads : {1, 2, 3, 6, 8, 12}) compare({1, 2, 33, 7, 16, 17}, heads, 5, 0.0, true);
  compare({131, 3, 260}, 3, 16, 0.0, true);
}
TEST_P(Attention, WindowsShorterAndLongerThanTheSequences) {
  for (const std::int64_t window : {1, 2, 15, 16, 17, 40, 1000}) {
    compare({1, 2, 33, 7, 16, 17, 0, 64}, 2, 5, 0.0, false, window);
    compare({131, 3, 260}, 1, 16, 0.0, false, window);
  }
}
TEST_P(Attention, WindowWithAlibiAndDropout) {
  for (const std::int64_t window : {1, 9, 70, 200}) compare({5, 33, 1, 130, 300}, 3, 8, 0.3, true, window);
}

TEST_P(Attention, AWindowThatHoldsEverySequenceChangesNoBit) {
  const DType type = GetParam().type;
  const contract::OwnedBatch batch({40, 33, 1});
  const contract::OwnedTensor qkv = random_tensor(type, {74, 48}, 1), dout = random_tensor(type, {74, 16}, 2);
  Values results[2];
  for (const bool windowed : {false, true}) {
    const kernels::AttentionOptions options{
        .heads = 2, .dropout = 0.2, .training = true, .key = {7, 8, 9}, .window = windowed ? 39 : 0};
    contract::OwnedTensor out(type, {74, 16}), dqkv(type, {74, 48}), log_sum(sum_type(type), {74, 2});
    self_attention(batch, options, qkv, out, log_sum);
    self_attention_backward(batch, options, qkv, out, log_sum, dout, dqkv);
    device().fence();
    results[windowed] = dqkv.values();
    for (const double value : out.values()) results[windowed].push_back(value);
  }
  EXPECT_EQ(results[0], results[1]);
}

/// Values outside the window are not read at all. A mask would multiply them by zero, and zero times NaN is
/// NaN.
TEST_P(Attention, ValuesFarOutsideTheWindowAreNotRead) {
  const DType type = GetParam().type;
  const std::int64_t length = 700, poisoned = 400, window = 20;
  const contract::OwnedBatch batch({length});
  contract::OwnedTensor qkv = random_tensor(type, {length, 24}, 1);
  const contract::OwnedTensor dout = random_tensor(type, {length, 8}, 2);
  Values values = qkv.values();
  for (std::int64_t c = 0; c < 24; ++c) values[static_cast<std::size_t>(poisoned * 24 + c)] = NAN;
  qkv.set(values);
  const kernels::AttentionOptions options{.heads = 2, .window = window};
  contract::OwnedTensor out(type, {length, 8}), dqkv(type, {length, 24}),
      log_sum(sum_type(type), {length, 2});
  self_attention(batch, options, qkv, out, log_sum);
  self_attention_backward(batch, options, qkv, out, log_sum, dout, dqkv);
  device().fence();
  const Values outs = out.values(), gradients = dqkv.values();
  // A tile of 16 queries shares its columns, which start at a multiple of 16, so up to 3 * 16 more rows on
  // both sides may be read.
  for (std::int64_t row = 0; row < length; ++row) {
    const std::int64_t distance = std::abs(row - poisoned);
    if (distance <= 2 * window + 48 && distance > window) continue;
    const bool sees = distance <= window;
    EXPECT_EQ(std::isnan(outs[static_cast<std::size_t>(row * 8)]), sees) << row;
    EXPECT_EQ(std::isnan(gradients[static_cast<std::size_t>(row * 24)]), sees) << row;
  }
}

/// With equal scores and the value 1 for one key only, the output of a query shows whether that weight was
/// dropped. Each is compared with its own word of the generator, whatever the order in which the kernel draws
/// words.
TEST_P(Attention, EachWeightIsDroppedByItsOwnWord) {
  const DType type = GetParam().type;
  const double dropout = 0.3;
  const RandomKey key{7, 8, 9};
  for (const std::int64_t length : {1, 2, 7, 15, 16, 17, 26, 31, 32, 33, 48, 64, 65, 129, 300})
    for (const std::int64_t window : {std::int64_t{0}, length / 3 + 1}) {
      const std::int64_t heads = 2, size = length, width = heads * size;  // channel j: key j alone
      const contract::OwnedBatch batch({3, length, 5});
      const std::int64_t rows = batch.rows();
      contract::OwnedTensor qkv(type, {rows, 3 * width}), out(type, {rows, width}),
          log_sum(sum_type(type), {rows, heads});
      Values values(static_cast<std::size_t>(rows * 3 * width), 0.0);
      for (std::int64_t j = 0; j < length; ++j)
        for (std::int64_t h = 0; h < heads; ++h)
          values[static_cast<std::size_t>((3 + j) * 3 * width + 2 * width + h * size + j)] = 1.0;
      qkv.set(values);
      const kernels::AttentionOptions options{
          .heads = heads, .dropout = dropout, .training = true, .key = key, .window = window};
      self_attention(batch, options, qkv, out, log_sum);
      device().fence();
      const Values outs = out.values();
      std::int64_t wrong = 0, dropped = 0;
      for (std::int64_t i = 0; i < length; ++i)
        for (std::int64_t h = 0; h < heads; ++h)
          for (std::int64_t j = 0; j < length; ++j) {
            const double weight = outs[static_cast<std::size_t>((3 + i) * width + h * size + j)];
            const bool seen = window == 0 || std::abs(i - j) <= window;
            const bool kept = seen && dropout_factor(options, 103, h, i, j, length) > 0.0;
            wrong += (weight > 0.0) != kept ? 1 : 0;
            dropped += seen && !kept ? 1 : 0;
          }
      EXPECT_EQ(wrong, 0) << length << " tokens, window " << window;
      EXPECT_TRUE(length < 7 || dropped > 0) << length << " tokens: nothing was dropped";
    }
}

TEST_P(Attention, DropoutDoesNothingOutsideTraining) {
  const DType type = GetParam().type;
  const contract::OwnedBatch batch({9});
  const contract::OwnedTensor qkv = random_tensor(type, {9, 24}, 1);
  contract::OwnedTensor plain(type, {9, 8}), dropped(type, {9, 8}), log_sum(sum_type(type), {9, 2});
  self_attention(batch, {.heads = 2}, qkv, plain, log_sum);
  self_attention(batch, {.heads = 2, .dropout = 0.5, .training = false}, qkv, dropped, log_sum);
  expect_close(dropped, plain.values(), 0.0, "out");
}

TEST_P(Attention, ASequenceDoesNotDependOnItsNeighbours) {
  const DType type = GetParam().type;
  const kernels::AttentionOptions options{.heads = 2};
  const contract::OwnedBatch alone({11}), among({3, 11, 40});
  contract::OwnedTensor qkv = random_tensor(type, {54, 48}, 1), out(type, {54, 16}),
                        log_sum(sum_type(type), {54, 2});
  self_attention(among, options, qkv, out, log_sum);
  device().fence();
  const Values all = qkv.values(), all_out = out.values();
  contract::OwnedTensor one(type, {11, 48}), one_out(type, {11, 16}), one_sum(sum_type(type), {11, 2});
  one.set(Values(all.begin() + 3 * 48, all.begin() + 14 * 48));
  self_attention(alone, options, one, one_out, one_sum);
  expect_close(one_out, Values(all_out.begin() + 3 * 16, all_out.begin() + 14 * 16), 0.0, "out");
}

TEST_P(Attention, LargeScoresDoNotOverflow) {
  const auto [type, tolerance] = GetParam();
  const contract::OwnedBatch batch({2});
  contract::OwnedTensor qkv(type, {2, 3}), out(type, {2, 1}), log_sum(sum_type(type), {2, 1});
  qkv.set({100.0, 100.0, 1.0, 100.0, 50.0, 2.0});  // scores 10000 and 5000
  self_attention(batch, {.heads = 1}, qkv, out, log_sum);
  expect_close(out, {1.0, 1.0}, tolerance, "out");
}

INSTANTIATE_TEST_SUITE_P(Precisions, Attention, ::testing::ValuesIn(precisions(5e-6, 1e-13, 2e-2)),
                         precision_name);

TEST(AttentionRefuses, HeadsThatDoNotDivideAndWrongShapes) {
  const contract::OwnedBatch batch({3});
  const contract::OwnedTensor qkv(DType::float32, {3, 24}), out(DType::float32, {3, 8}),
      sums(DType::float32, {3, 3});
  EXPECT_REFUSED(self_attention(batch, {.heads = 3}, qkv, out, sums), "3 heads do not divide the width 8");
  EXPECT_REFUSED(self_attention(batch, {.heads = 2}, qkv, out, sums),
                 "log_sum is float32 (3, 3), expected float32 (3, 2)");
  EXPECT_REFUSED(
      self_attention(batch, {.heads = 3, .window = -1}, contract::OwnedTensor(DType::float32, {3, 27}),
                     contract::OwnedTensor(DType::float32, {3, 9}), sums),
      "a window of -1 tokens");
  EXPECT_REFUSED(
      self_attention(batch, {.heads = 3}, contract::OwnedTensor(DType::float32, {3, 9}), out, sums),
      "q is columns 0 .. 2 of float32 (3, 9), expected 8 columns of a float32 matrix with 3 rows");
}

}  // namespace
}  // namespace encore::test
