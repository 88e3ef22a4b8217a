// SPDX-License-Identifier: BSD-3-Clause
// Tests the bias of attention by distance, as T5 has it (framework/kernels/attention/distance_bias.cpp; the
// layer is plugins/layers/relative_attention.cpp): the buckets of distances by hand, scores and gradients
// against explicit weights in double and against differences of the loss, the bits of decoding, and the order
// in which gradients are added. The buckets are those of T5, so imported models depend on them.
#include "unit/kernels/attention/attention_reference.hpp"

#include <algorithm>
#include <numeric>

namespace encore::test {
namespace {

using kernels::DistanceBuckets;

using Numbers64 = std::vector<std::int64_t>;

Numbers64 buckets_of(const DistanceBuckets& buckets, const Numbers64& distances) {
  Numbers64 result;
  for (const std::int64_t distance : distances) result.push_back(kernels::bucket_of(buckets, distance));
  return result;
}

/// Each direction has 16 buckets. The first 8 hold one distance each; above them distance d is in bucket 8 +
/// floor(2 log2(d / 8)), because 8 log(d / 8) / log(128 / 8) equals 2 log2(d / 8).
TEST(DistanceBuckets, OfAnEncoderByHand) {
  const DistanceBuckets buckets;
  EXPECT_EQ(buckets_of(buckets, {0, -1, -2, -7, -8, -11, -12, -15, -16, -22, -23, -31, -32}),
            (Numbers64{0, 1, 2, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12}));
  EXPECT_EQ(buckets_of(buckets, {-45, -46, -63, -64, -90, -91, -127, -128, -129, -100000}),
            (Numbers64{12, 13, 13, 14, 14, 15, 15, 15, 15, 15}));
  EXPECT_EQ(buckets_of(buckets, {1, 7, 8, 11, 12, 16, 64, 90, 91, 5000}),
            (Numbers64{17, 23, 24, 24, 25, 26, 30, 30, 31, 31}));
}

/// A decoder looks back only, with all 32 buckets: distance d from 16 on is in bucket 16 + floor(16 / 3
/// log2(d / 16)), because 16 log(d / 16) / log(128 / 16) equals that.
TEST(DistanceBuckets, OfADecoderByHand) {
  const DistanceBuckets buckets{.causal = true};
  EXPECT_EQ(buckets_of(buckets, {0, -1, -15, -16, -18, -19, -32, -64, -112, -113, -127, -128, -999}),
            (Numbers64{0, 1, 15, 16, 16, 17, 21, 26, 30, 31, 31, 31, 31}));
  EXPECT_EQ(buckets_of(buckets, {1, 20}), (Numbers64{0, 0}));
}

/// 4 buckets are two in each direction, of which the first is for distance 0; 5 buckets leave one unused.
TEST(DistanceBuckets, OfTheSmallestTables) {
  EXPECT_EQ(buckets_of({.count = 4, .farthest = 2}, {-9, -1, 0, 1, 9}), (Numbers64{1, 1, 0, 3, 3}));
  EXPECT_EQ(buckets_of({.count = 5, .farthest = 2}, {-9, -1, 0, 1, 9}), (Numbers64{1, 1, 0, 3, 3}));
  EXPECT_EQ(buckets_of({.count = 4, .farthest = 8, .causal = true}, {0, -1, -2, -3, -4, -7, -8}),
            (Numbers64{0, 1, 2, 2, 3, 3, 3}));
}

TEST(DistanceBuckets, RefuseWhatHasNoMeaning) {
  EXPECT_REFUSED(kernels::bucket_of({.count = 3}, 0), "3 buckets of distances; 4 to 256 are possible");
  EXPECT_REFUSED(kernels::bucket_of({.count = 32, .farthest = 8}, 0),
                 "the farthest distance is 8, and buckets below 8 hold one distance each");
  EXPECT_REFUSED(kernels::bucket_of({.count = 32, .farthest = 16, .causal = true}, 0),
                 "the farthest distance is 16, and buckets below 16 hold one distance each");
}

/// For any table and length, the bias of a distance is the number of its bucket.
TEST(DistanceBias, HoldsTheNumberOfEachDistance) {
  for (const DistanceBuckets& buckets :
       {DistanceBuckets{}, DistanceBuckets{.causal = true}, DistanceBuckets{.count = 5, .farthest = 6},
        DistanceBuckets{.count = 11, .farthest = 40, .causal = true}})
    for (const std::int64_t reach : {1, 2, 7, 20, 300}) {
      const contract::OwnedTensor table = random_tensor(DType::float32, {buckets.count, 3}, 1);
      contract::OwnedTensor bias(DType::float32, {3, 2 * reach});
      bias.fill(NAN);
      kernels::distance_bias(device(), buckets, table, bias);
      device().fence();
      const Values numbers = table.values(), result = bias.values();
      for (std::int64_t head = 0; head < 3; ++head) {
        for (std::int64_t distance = 1 - reach; distance < reach; ++distance)
          ASSERT_EQ(result[static_cast<std::size_t>((2 * head + 1) * reach + distance)],
                    numbers[static_cast<std::size_t>(3 * kernels::bucket_of(buckets, distance) + head)])
              << distance << " of " << reach;
        ASSERT_EQ(result[static_cast<std::size_t>(2 * head * reach)],
                  result[static_cast<std::size_t>(2 * head * reach + 1)]);
      }
    }
}

class AttentionBias : public ::testing::TestWithParam<Precision> {
 protected:
  static constexpr std::int64_t reach = 140;

  void compare(const Lengths& lengths, kernels::AttentionOptions options, std::int64_t size) {
    const auto [type, tolerance] = GetParam();
    const contract::OwnedBatch batch(lengths);
    const std::int64_t rows = batch.batch().size.tokens, heads = options.heads, width = heads * size;
    options.training = true;
    options.key = {7, 8, 9};
    const contract::OwnedTensor bias = random_tensor(sum_type(type), {heads, 2 * reach}, 4);
    options.bias = bias;
    // Scores that are not divided by sqrt(D) would be so large that one weight is almost 1, so the operands
    // are smaller.
    const contract::OwnedTensor qkv = random_tensor(type, {rows, 3 * width}, 1, options.scaled ? 1.0 : 0.5),
                                dout = random_tensor(type, {rows, width}, 2);
    contract::OwnedTensor out(type, {rows, width}), dqkv(type, {rows, 3 * width}),
        log_sum(sum_type(type), {rows, heads}), dbias(sum_type(type), {rows, 2 * heads});
    for (contract::OwnedTensor* result : {&out, &dqkv, &log_sum, &dbias}) result->fill(NAN);
    const AttentionResult expected = self_attention_reference(
        {lengths, lengths, Lengths(lengths.size(), 0), options, width, bias.values()}, qkv.values(),
        dout.values());
    self_attention(batch, options, qkv, out, log_sum);
    self_attention_backward(batch, options, qkv, out, log_sum, dout, dqkv, dbias);
    const std::string what = std::to_string(heads) + " heads of " + std::to_string(size) + ", window " +
                             std::to_string(options.window) + (options.causal ? ", causal" : "") +
                             (options.scaled ? "" : ", not scaled");
    expect_self_attention(out, log_sum, dqkv, expected, tolerance, what);
    expect_close(dbias, expected.dbias, 10 * tolerance, what + " dbias");
  }
};

TEST_P(AttentionBias, IsAddedAndLearned) {
  const Lengths lengths{1, 2, 33, 7, 0, 16, 17, 64, 130};
  for (const bool causal : {false, true})
    for (const bool scaled : {false, true})
      for (const std::int64_t size : {1, 5, 16, 64})
        compare(lengths, {.heads = 2, .causal = causal, .scaled = scaled}, size);
}
TEST_P(AttentionBias, GoesWithDropoutWindowsAndAlibi) {
  const Lengths lengths{5, 33, 1, 130};
  for (const bool causal : {false, true})
    for (const std::int64_t window : {0, 1, 20, 1000})
      compare(lengths, {.heads = 3, .dropout = 0.3, .alibi = true, .window = window, .causal = causal}, 8);
}

/// Attention without the division by sqrt(D), and without a bias.
TEST_P(AttentionBias, MayBeAbsentWhereScoresAreNotScaled) {
  const auto [type, tolerance] = GetParam();
  const Lengths lengths{3, 20};
  const contract::OwnedBatch batch(lengths);
  const kernels::AttentionOptions options{.heads = 2, .scaled = false};
  const contract::OwnedTensor qkv = random_tensor(type, {23, 48}, 1, 0.5),
                              dout = random_tensor(type, {23, 16}, 2);
  contract::OwnedTensor out(type, {23, 16}), dqkv(type, {23, 48}), log_sum(sum_type(type), {23, 2});
  const AttentionResult expected =
      self_attention_reference({lengths, lengths, {0, 0}, options, 16}, qkv.values(), dout.values());
  self_attention(batch, options, qkv, out, log_sum);
  self_attention_backward(batch, options, qkv, out, log_sum, dout, dqkv);
  expect_self_attention(out, log_sum, dqkv, expected, tolerance, "not scaled");
}

/// A model that generates text computes only the last rows of a sequence, over all keys so far. They must
/// have the bits that a pass over the whole sequence gives them.
TEST_P(AttentionBias, DecodingRepeatsTheBitsOfAWholePass) {
  const DType type = GetParam().type;
  const std::int64_t length = 70, width = 32;
  const contract::OwnedTensor bias = random_tensor(sum_type(type), {2, 2 * reach}, 4);
  const kernels::AttentionOptions options{.heads = 2, .causal = true, .scaled = false, .bias = bias};
  const contract::OwnedTensor qkv = random_tensor(type, {length, 3 * width}, 1, 0.5);
  contract::OwnedTensor out(type, {length, width}), log_sum(sum_type(type), {length, 2});
  const RowsAt whole({length});
  self_attention(whole, options, qkv, out, log_sum);
  device().fence();
  const Values values = qkv.values(), outs = out.values();
  for (const std::int64_t first : {0, 1, 15, 16, 40, 69})
    for (const std::int64_t count : {1, 3, 17}) {
      if (first + count > length) continue;
      const auto rows = [&](const Values& of, std::int64_t columns) {
        return Values(of.begin() + first * columns, of.begin() + (first + count) * columns);
      };
      contract::OwnedTensor q(type, {count, width}), step(type, {count, width}),
          sums(sum_type(type), {count, 2});
      q.set(columns_of(rows(values, 3 * width), 3 * width, 0, width));
      kernels::attention(device(), RowsAt({count}, {first}), whole, options, q, part(qkv, 1), part(qkv, 2),
                         step, sums);
      device().fence();
      ASSERT_EQ(step.values(), rows(outs, width)) << count << " rows from " << first;
    }
}

const auto all_precisions = ::testing::ValuesIn(precisions(5e-6, 1e-13, 2e-2));
INSTANTIATE_TEST_SUITE_P(Precisions, AttentionBias, all_precisions, precision_name);

/// Self-attention whose bias comes from a table of buckets, as in a training step: forward() makes out,
/// backward() the gradient of the table.
struct Learned {
  std::vector<std::int64_t> lengths;
  DistanceBuckets buckets;
  DType type;
  std::int64_t heads = 2, width = 12;
  contract::OwnedBatch batch{lengths};
  std::int64_t rows = batch.batch().size.tokens;
  contract::OwnedTensor table = random_tensor(sum_type(type), {buckets.count, heads}, 3),
                        qkv = random_tensor(type, {rows, 3 * width}, 1),
                        dout = random_tensor(type, {rows, width}, 2), bias{sum_type(type), {heads, 80}},
                        out{type, {rows, width}}, log_sum{sum_type(type), {rows, heads}},
                        dqkv{type, {rows, 3 * width}}, dbias{sum_type(type), {rows, 2 * heads}};

  kernels::AttentionOptions options() const {
    return {.heads = heads, .causal = buckets.causal, .scaled = false, .bias = bias};
  }
  void forward() {
    kernels::distance_bias(device(), buckets, table, bias);
    self_attention(batch, options(), qkv, out, log_sum);
    device().fence();
  }
  /// Returns the gradient of the table.
  Values backward() {
    forward();
    self_attention_backward(batch, options(), qkv, out, log_sum, dout, dqkv, dbias);
    return added(batch, dbias);
  }
  Values added(const RowSet& from, const Tensor& gradients) const {
    contract::OwnedTensor dtable(sum_type(type), {buckets.count, heads});
    dtable.fill(0.0);
    kernels::distance_bias_backward(device(), from, buckets, gradients, dtable);
    device().fence();
    return dtable.values();
  }
  double loss() {
    forward();
    const Values o = out.values(), g = dout.values();
    return std::inner_product(o.begin(), o.end(), g.begin(), 0.0);
  }
};

TEST(DistanceBias, GradientsEqualDifferencesOfTheLoss) {
  for (const DistanceBuckets& buckets : {DistanceBuckets{.count = 8, .farthest = 20},
                                         DistanceBuckets{.count = 8, .farthest = 20, .causal = true},
                                         DistanceBuckets{.count = 5, .farthest = 7}, DistanceBuckets{}}) {
    Learned x{.lengths = {1, 9, 0, 33, 2}, .buckets = buckets, .type = DType::float64};
    const Values gradient = x.backward(), table = x.table.values();
    for (std::size_t i = 0; i < table.size(); ++i) {
      const double h = 1e-3;
      const auto moved = [&](double step) {
        Values numbers = table;
        numbers[i] += step;
        x.table.set(numbers);
        return x.loss();
      };
      const double numeric = (8.0 * (moved(h) - moved(-h)) - (moved(2 * h) - moved(-2 * h))) / (12.0 * h);
      x.table.set(table);
      EXPECT_NEAR(gradient[i], numeric, 1e-9) << buckets.count << " buckets, number " << i;
    }
  }
}

/// The gradients of a batch's sequences are added in their order: in float32 another order has other bits.
TEST(DistanceBias, GradientsAreAddedSequenceBySequence) {
  const std::vector<std::int64_t> lengths{40, 31, 37, 22};
  Learned all{.lengths = lengths, .buckets = {}, .type = DType::float32};
  const Values together = all.backward(), packed = all.dbias.values();
  std::vector<Values> parts;
  std::size_t first = 0;
  for (const std::int64_t length : lengths) {
    contract::OwnedTensor own(DType::float32, {length, 2 * all.heads});
    own.set(Values(packed.begin() + static_cast<std::ptrdiff_t>(first),
                   packed.begin() + static_cast<std::ptrdiff_t>(first) + 2 * all.heads * length));
    first += static_cast<std::size_t>(2 * all.heads * length);
    parts.push_back(all.added(RowsAt({length}), own));
  }
  const auto in_order = [&](std::vector<std::size_t> order) {
    Values sum(together.size(), 0.0);
    for (const std::size_t part : order)
      for (std::size_t i = 0; i < sum.size(); ++i)
        sum[i] = static_cast<float>(sum[i]) + static_cast<float>(parts[part][i]);
    return sum;
  };
  EXPECT_EQ(in_order({0, 1, 2, 3}), together);
  EXPECT_NE(in_order({3, 2, 1, 0}), together) << "an injected reordering must show in the bits";
}

TEST(AttentionBiasRefuses, WhatDoesNotFit) {
  const RowsAt rows({3}), others({2, 1});
  const contract::OwnedTensor qkv(DType::float32, {3, 24}), out(DType::float32, {3, 8}),
      sums(DType::float32, {3, 2});
  const auto attend = [&](kernels::AttentionOptions options, const contract::OwnedTensor& bias) {
    options.heads = 2;
    options.bias = bias;
    self_attention(rows, options, qkv, out, sums);
  };
  EXPECT_REFUSED(attend({}, contract::OwnedTensor(DType::float32, {2, 4})),
                 "bias is float32 (2, 4), expected 2 rows of twice as many distances as the 3 positions");
  EXPECT_REFUSED(attend({}, contract::OwnedTensor(DType::float32, {3, 6})),
                 "bias is float32 (3, 6), expected 2 rows");
  EXPECT_REFUSED(attend({}, contract::OwnedTensor(DType::float64, {2, 6})),
                 "bias is float64 (2, 6), expected float32");
  EXPECT_REFUSED(attend({.window = 2, .stride = 2}, contract::OwnedTensor(DType::float32, {2, 6})),
                 "a bias and a stride exclude each other");
  const contract::OwnedTensor bias(DType::float32, {2, 6}), dbias(DType::float32, {3, 4});
  EXPECT_REFUSED(self_attention_backward(rows, {.heads = 2}, qkv, out, sums, out, qkv, dbias),
                 "gradients of a missing bias");
  EXPECT_REFUSED(self_attention_backward(rows, {.heads = 2, .bias = bias}, qkv, out, sums, out, qkv,
                                         contract::OwnedTensor(DType::float32, {3, 5})),
                 "dbias is float32 (3, 5), expected float32 (3, 4)");
  EXPECT_REFUSED(kernels::attention_backward(device(), rows, RowsAt({3}), {.heads = 2, .bias = bias},
                                             part(qkv, 0), part(qkv, 1), part(qkv, 2), out, sums, out,
                                             part(qkv, 0), part(qkv, 1), part(qkv, 2), dbias),
                 "dbias is for self-attention");
  EXPECT_REFUSED(kernels::distance_bias(device(), {}, contract::OwnedTensor(DType::float32, {31, 2}), bias),
                 "table is float32 (31, 2), expected float32 (32, 2)");
}

}  // namespace
}  // namespace encore::test
