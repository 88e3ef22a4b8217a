// SPDX-License-Identifier: BSD-3-Clause
// Tests kernels::attention (framework/kernels/attention/attention.cpp) with masks: causal, windows, strides,
// keys of another sequence (cross-attention), and row by row as a decoder generates. Outputs are compared
// with explicit weights in double, gradients also with differences of the loss, and decoding bit for bit with
// the pass over the whole sequence, which no tolerance may replace. Without masks: attention_test.cpp.
#include "unit/kernels/attention/attention_reference.hpp"

#include <bit>

#include "kernels/attention/attention_problem.hpp"

namespace encore::test {
namespace {

/// The tensors of one case, and one call of the kernels. q and dq are columns of a wider matrix, k and v lie
/// side by side: (N, 2 C).
struct Operands {
  static constexpr std::int64_t margin = 3;  // columns to the left and to the right of q

  AttentionCase of;
  DType type;
  RowsAt queries, keys;
  contract::OwnedTensor q, kv, dout, out, log_sum, dq, dkv;

  Operands(AttentionCase attention_case, DType element)
      : of(std::move(attention_case)),
        type(element),
        queries(of.queries, of.positions),
        keys(of.keys),
        q(random_tensor(type, {queries.count(), of.width + 2 * margin}, 1)),
        kv(random_tensor(type, {keys.count(), 2 * of.width}, 2)),
        dout(random_tensor(type, {queries.count(), of.width}, 3)),
        out(type, {queries.count(), of.width}),
        log_sum(sum_type(type), {queries.count(), of.options.heads}),
        dq(type, {queries.count(), of.width + 2 * margin}),
        dkv(type, {keys.count(), 2 * of.width}) {
    for (contract::OwnedTensor* result : {&out, &log_sum, &dq, &dkv}) result->fill(NAN);
  }

  kernels::Slice middle(const contract::OwnedTensor& tensor) const { return {tensor, margin, of.width}; }
  kernels::Slice half(const contract::OwnedTensor& tensor, std::int64_t number) const {
    return {tensor, number * of.width, of.width};
  }
  void forward() {
    kernels::attention(device(), queries, keys, of.options, middle(q), half(kv, 0), half(kv, 1), out,
                       log_sum);
    device().fence();
  }
  void backward() {
    kernels::attention_backward(device(), queries, keys, of.options, middle(q), half(kv, 0), half(kv, 1), out,
                                log_sum, dout, middle(dq), half(dkv, 0), half(dkv, 1));
    device().fence();
  }
  Values values_of(const contract::OwnedTensor& tensor, std::int64_t first) const {
    return columns_of(tensor.values(), tensor.tensor().extent(1), first, of.width);
  }
};

class AttentionMasks : public ::testing::TestWithParam<Precision> {
 protected:
  void compare(const Lengths& queries, const Lengths& keys, const Lengths& positions,
               kernels::AttentionOptions options, std::int64_t size) {
    const auto [type, tolerance] = GetParam();
    options.training = true;
    options.key = {7, 8, 9};
    Operands x({queries, keys, positions, options, options.heads * size}, type);
    const std::int64_t width = x.of.width;
    const AttentionResult expected =
        attention_reference(x.of, x.values_of(x.q, Operands::margin), x.values_of(x.kv, 0),
                            x.values_of(x.kv, width), x.dout.values());
    x.forward();
    x.backward();
    const std::string what = std::to_string(options.heads) + " heads of " + std::to_string(size) +
                             ", window " + std::to_string(options.window);
    expect_close(x.out, expected.out, tolerance, what + " out");
    expect_close(x.log_sum, expected.log_sum, size_of(type) == 2 ? 1e-5 : tolerance, what + " log_sum");
    expect_close(x.values_of(x.dq, Operands::margin), expected.dq, 10 * tolerance, what + " dq");
    expect_close(x.values_of(x.dkv, 0), expected.dk, 10 * tolerance, what + " dk");
    expect_close(x.values_of(x.dkv, width), expected.dv, 10 * tolerance, what + " dv");
    for (const double value : columns_of(x.dq.values(), width + 2 * Operands::margin, 0, Operands::margin))
      ASSERT_TRUE(std::isnan(value)) << what << ": written outside the columns of dq";
  }
  void compare_self(const Lengths& lengths, const kernels::AttentionOptions& options, std::int64_t size) {
    compare(lengths, lengths, Lengths(lengths.size(), 0), options, size);
  }
};

TEST_P(AttentionMasks, Causal) {
  const Lengths lengths{1, 2, 33, 7, 0, 16, 17, 64, 130, 49};
  for (const std::int64_t size : {1, 5, 16, 33, 64})
    compare_self(lengths, {.heads = 2, .causal = true}, size);
  compare_self(lengths, {.heads = 3, .dropout = 0.3, .causal = true}, 8);
}
TEST_P(AttentionMasks, CausalWithAlibiAndWindow) {
  const Lengths lengths{1, 2, 33, 7, 0, 16, 17, 64, 130};
  compare_self(lengths, {.heads = 3, .alibi = true, .causal = true}, 16);
  for (const std::int64_t window : {1, 15, 16, 40, 1000})
    for (const bool alibi : {false, true})
      compare_self(lengths, {.heads = 2, .dropout = 0.2, .alibi = alibi, .window = window, .causal = true},
                   5);
}
TEST_P(AttentionMasks, KeysOfOtherRows) {
  const Lengths queries{1, 5, 33, 0, 7, 17, 130, 40}, keys{4, 1, 7, 9, 33, 64, 31, 129}, zeros(8, 0);
  for (const std::int64_t size : {1, 5, 16, 33, 64})
    for (const double dropout : {0.0, 0.3})
      compare(queries, keys, zeros, {.heads = 2, .dropout = dropout}, size);
}
TEST_P(AttentionMasks, SequencesWithoutQueriesOrWithoutKeys) {
  const Lengths queries{0, 3, 0, 5, 2, 40}, keys{3, 0, 0, 4, 0, 0}, zeros(6, 0);
  for (const double dropout : {0.0, 0.3})
    for (const bool causal : {false, true})
      compare(queries, keys, zeros, {.heads = 2, .dropout = dropout, .causal = causal}, 6);
}
TEST_P(AttentionMasks, QueriesThatStartAtAnOffset) {
  const Lengths queries{1, 5, 33, 1, 40}, keys{9, 12, 64, 1, 90}, positions{8, 7, 31, 0, 30};
  for (const std::int64_t window : {0, 3, 20, 1000})
    for (const bool alibi : {false, true})
      for (const bool causal : {false, true})
        compare(queries, keys, positions,
                {.heads = 2, .dropout = 0.2, .alibi = alibi, .window = window, .causal = causal}, 8);
}
TEST_P(AttentionMasks, EveryStrideThKeyBesideAWindow) {
  const Lengths lengths{1, 2, 33, 7, 0, 16, 17, 64, 130};
  for (const auto& [window, stride] :
       {std::pair<std::int64_t, std::int64_t>{1, 1}, {1, 7}, {4, 4}, {3, 16}, {20, 5}, {8, 1000}})
    for (const bool causal : {false, true}) {
      compare_self(lengths, {.heads = 2, .window = window, .causal = causal, .stride = stride}, 5);
      compare_self(
          lengths,
          {.heads = 3, .dropout = 0.2, .alibi = true, .window = window, .causal = causal, .stride = stride},
          16);
    }
  const Lengths queries{1, 5, 33, 1, 40}, keys{9, 12, 64, 1, 90}, positions{8, 7, 31, 0, 30};
  for (const bool causal : {false, true})
    compare(queries, keys, positions, {.heads = 2, .window = 3, .causal = causal, .stride = 6}, 8);
  compare({20, 3}, {5, 40}, {0, 61}, {.heads = 2, .window = 4, .stride = 7}, 8);
}
/// A query whose window lies far after the last key sees no key: its output is zero, and no gradient goes
/// back.
TEST_P(AttentionMasks, QueriesWhoseWindowHoldsNoKey) {
  compare({20, 3}, {5, 40}, {0, 60}, {.heads = 2, .window = 4}, 8);
  compare({20, 3}, {5, 40}, {0, 60}, {.heads = 2, .dropout = 0.3, .window = 4, .causal = true}, 8);
}

/// Counts how often each key is visited.
struct Visits {
  int* counts;
  KOKKOS_FUNCTION void operator()(std::int64_t at) const { ++counts[at]; }
};

/// With window and stride at sqrt(T), a query sees about 3 sqrt(T) keys, each once, and visits no other.
TEST(StridedAttention, VisitsWhatIsSeenAndNothingElse) {
  for (const std::int64_t root : {4, 16, 64}) {
    const std::int64_t keys = root * root;
    const kernels::AttentionProblem problem{.queries = {},
                                            .keys = {},
                                            .examples = nullptr,
                                            .sequences = 1,
                                            .width = 1,
                                            .heads = 1,
                                            .head_size = 1,
                                            .scale = 1.0,
                                            .bias = nullptr,
                                            .reach = 0,
                                            .alibi = false,
                                            .causal = false,
                                            .window = root,
                                            .stride = root,
                                            .equal_rows = false,
                                            .drop = false,
                                            .random = Random({}),
                                            .dropped = Dropout(0.0)};
    std::int64_t visits = 0;
    for (std::int64_t position = 0; position < keys; ++position) {
      std::vector<int> seen(static_cast<std::size_t>(keys), 0), seeing = seen;
      kernels::each_seen(problem, position, keys, Visits{seen.data()});
      kernels::each_seeing(problem, {0, keys, 0, keys, 0}, position, Visits{seeing.data()});
      for (std::int64_t j = 0; j < keys; ++j) {
        const std::int64_t distance = std::abs(position - j);
        const int expected = distance <= root || distance % root == 0 ? 1 : 0;
        ASSERT_EQ(seen[static_cast<std::size_t>(j)], expected) << position << " " << j;
        visits += expected;
      }
      ASSERT_EQ(seen, seeing) << "both functions give the same pattern";
    }
    EXPECT_LE(visits, 3 * keys * root);
    EXPECT_GE(visits, 2 * keys * root);
  }
}

/// Returns rows [begin, begin + count) of a tensor.
Values rows_of(const contract::OwnedTensor& tensor, std::int64_t begin, std::int64_t count) {
  const Values all = tensor.values();
  const std::int64_t width = tensor.tensor().extent(1);
  return Values(all.begin() + begin * width, all.begin() + (begin + count) * width);
}
contract::OwnedTensor tensor_of(DType type, std::int64_t columns, const Values& values) {
  contract::OwnedTensor tensor(type, {static_cast<std::int64_t>(values.size()) / columns, columns});
  tensor.set(values);
  return tensor;
}
/// Describes the first difference of two lists of values; empty if all bits are equal.
std::string first_difference(const Values& a, const Values& b) {
  if (a.size() != b.size())
    return std::to_string(a.size()) + " values instead of " + std::to_string(b.size());
  std::size_t count = 0, first = 0;
  for (std::size_t i = a.size(); i-- > 0;)
    if (std::bit_cast<std::uint64_t>(a[i]) != std::bit_cast<std::uint64_t>(b[i])) first = i, ++count;
  if (count == 0) return "";
  return std::to_string(count) + " of " + std::to_string(a.size()) + " values, the first at " +
         std::to_string(first) + " by " + std::to_string(1e9 * (a[first] - b[first]) / b[first]) + "e-9";
}
void append(Values& to, const Values& more) {
  to.insert(to.end(), more.begin(), more.end());
}

class Decoding : public ::testing::TestWithParam<Precision> {
 protected:
  /// Returns rows of out, then of log_sum, for the next `count` queries of each sequence, from positions[b]
  /// on, over a cache of all keys so far. If `room` is not 0, NaN fills the cache after the keys up to `room`
  /// rows. A sequence that is complete has keys and no queries.
  static Values steps(const Lengths& lengths, const Lengths& positions, std::int64_t count, std::int64_t room,
                      const kernels::AttentionOptions& options, const contract::OwnedTensor& qkv,
                      Lengths& queries) {
    const std::int64_t width = qkv.tensor().extent(1) / 3;
    Lengths keys;
    Values q, kv;
    std::int64_t first = 0;
    queries.clear();
    for (std::size_t b = 0; b < lengths.size(); first += lengths[b++]) {
      queries.push_back(std::clamp<std::int64_t>(lengths[b] - positions[b], 0, count));
      keys.push_back(std::min(lengths[b], positions[b] + count));
      append(q, columns_of(rows_of(qkv, first + std::min(positions[b], lengths[b]), queries.back()),
                           3 * width, 0, width));
      append(kv, columns_of(rows_of(qkv, first, keys.back()), 3 * width, width, 2 * width));
      if (room == 0) continue;
      kv.resize(kv.size() + static_cast<std::size_t>((room - keys.back()) * 2 * width), NAN);
      keys.back() = room;
    }
    const DType type = qkv.tensor().dtype;
    const contract::OwnedTensor queries_now = tensor_of(type, width, q),
                                cache = tensor_of(type, 2 * width, kv);
    contract::OwnedTensor out(type, {queries_now.tensor().extent(0), width}),
        log_sum(sum_type(type), {queries_now.tensor().extent(0), options.heads});
    kernels::attention(device(), RowsAt(queries, positions), RowsAt(keys), options, queries_now,
                       {cache, 0, width}, {cache, width, width}, out, log_sum);
    device().fence();
    Values result = out.values();
    append(result, log_sum.values());
    return result;
  }

  /// Decodes `lengths` side by side, `count` rows at a time; each step must repeat the rows of the whole
  /// pass.
  static void expect_equal_bits(const Lengths& lengths, std::int64_t count,
                                const kernels::AttentionOptions& options, std::int64_t size,
                                std::int64_t room = 0) {
    const DType type = GetParam().type;
    const RowsAt rows(lengths);
    const std::int64_t width = options.heads * size;
    const contract::OwnedTensor qkv = random_tensor(type, {rows.count(), 3 * width}, 5);
    contract::OwnedTensor out(type, {rows.count(), width}),
        log_sum(sum_type(type), {rows.count(), options.heads});
    self_attention(rows, options, qkv, out, log_sum);
    device().fence();
    const std::int64_t longest = *std::max_element(lengths.begin(), lengths.end());
    for (std::int64_t t = 0; t < longest; t += count) {
      Lengths queries;
      const Values step = steps(lengths, Lengths(lengths.size(), t), count, room, options, qkv, queries);
      Values expected, log_sums;
      std::int64_t first = 0;
      for (std::size_t b = 0; b < lengths.size(); first += lengths[b++]) {
        append(expected, rows_of(out, first + std::min(t, lengths[b]), queries[b]));
        append(log_sums, rows_of(log_sum, first + std::min(t, lengths[b]), queries[b]));
      }
      append(expected, log_sums);
      ASSERT_EQ(first_difference(step, expected), "")
          << "position " << t << ", " << count << " rows at a time, heads of " << size << ", window "
          << options.window << ", alibi " << options.alibi;
    }
  }

  static std::vector<kernels::AttentionOptions> masks() {
    return {{.heads = 2, .causal = true},
            {.heads = 3, .alibi = true, .causal = true},
            {.heads = 2, .window = 20, .causal = true},
            {.heads = 2, .alibi = true, .window = 5, .causal = true}};
  }
};

TEST_P(Decoding, RowByRowRepeatsTheBitsOfAWholePassOfAnyLength) {
  for (const kernels::AttentionOptions& options : masks())
    for (std::int64_t length = 1; length <= 70; length += options.window == 0 ? 1 : 3)
      expect_equal_bits({length}, 1, options, 16);
  for (const std::int64_t size : {5, 33, 64}) expect_equal_bits({70}, 1, masks()[0], size);
}
TEST_P(Decoding, SeveralSequencesSideBySide) {
  for (const kernels::AttentionOptions& options : masks())
    for (const std::int64_t size : {5, 16, 64})
      expect_equal_bits({70, 1, 33, 64, 0, 16, 17, 9, 48}, 1, options, size);
  expect_equal_bits({300, 7, 129}, 1, masks()[0], 16);
}
TEST_P(Decoding, SeveralRowsAtATime) {
  for (const kernels::AttentionOptions& options : masks())
    for (const std::int64_t count : {2, 13, 16, 33})
      expect_equal_bits({70, 1, 33, 150, 17}, count, options, 16);
}

TEST_P(Decoding, OverACacheWhoseOtherRowsHoldAnything) {
  for (const kernels::AttentionOptions& options : masks())
    for (const std::int64_t size : {5, 16, 64}) expect_equal_bits({70, 1, 33, 17}, 3, options, size, 131);
}

/// Cross-attention: a row over the encoder's keys has the same bits, whatever other rows of queries are in
/// the batch.
TEST_P(Decoding, ARowOverOtherKeysDoesNotDependOnItsNeighbours) {
  const DType type = GetParam().type;
  for (const std::int64_t size : {5, 16, 64}) {
    Operands whole({{40, 3, 70}, {33, 20, 64}, {0, 0, 0}, {.heads = 2}, 2 * size}, type);
    whole.forward();
    const Values q = whole.values_of(whole.q, Operands::margin);
    const Lengths firsts{0, 40, 43};
    for (const std::int64_t t : {0, 1, 2, 17, 31, 39, 69}) {
      Operands step({{t < 40 ? 1 : 0, t < 3 ? 1 : 0, 1}, {33, 20, 64}, {t, t, t}, {.heads = 2}, 2 * size},
                    type);
      step.kv.set(whole.kv.values());
      Values rows, expected;
      const double margin = 0.0;
      for (std::size_t b = 0; b < 3; ++b) {
        if (step.of.queries[b] == 0) continue;
        rows.insert(rows.end(), Operands::margin, margin);
        append(rows, columns_of(Values(q.begin() + (firsts[b] + t) * 2 * size,
                                       q.begin() + (firsts[b] + t + 1) * 2 * size),
                                2 * size, 0, 2 * size));
        rows.insert(rows.end(), Operands::margin, margin);
        append(expected, rows_of(whole.out, firsts[b] + t, 1));
      }
      step.q.set(rows);
      step.forward();
      ASSERT_EQ(first_difference(step.out.values(), expected), "") << "row " << t << ", heads of " << size;
    }
  }
}

const auto all_precisions = ::testing::ValuesIn(precisions(5e-6, 1e-13, 2e-2));
INSTANTIATE_TEST_SUITE_P(Precisions, AttentionMasks, all_precisions, precision_name);
INSTANTIATE_TEST_SUITE_P(Precisions, Decoding, all_precisions, precision_name);

/// Returns the loss sum(dout * out) after q and kv have moved by `step` along their directions.
double moved_loss(Operands& x, const Values& q, const Values& kv, const Values& q_direction,
                  const Values& kv_direction, double step) {
  Values q_moved = q, kv_moved = kv;
  for (std::size_t i = 0; i < q.size(); ++i) q_moved[i] += step * q_direction[i];
  for (std::size_t i = 0; i < kv.size(); ++i) kv_moved[i] += step * kv_direction[i];
  x.q.set(q_moved);
  x.kv.set(kv_moved);
  x.forward();
  const Values out = x.out.values(), dout = x.dout.values();
  double loss = 0.0;
  for (std::size_t i = 0; i < out.size(); ++i) loss += out[i] * dout[i];
  return loss;
}

/// Compares gradients with differences of the loss at four points along a random direction of q, of k and v,
/// and of both.
void expect_gradients_of_differences(const AttentionCase& of) {
  Operands x(of, DType::float64);
  const Values q = x.q.values(), kv = x.kv.values();
  x.forward();
  x.dq.fill(0.0);
  x.backward();
  const Values dq = x.dq.values(), dkv = x.dkv.values();
  for (const double along_q : {0.0, 1.0})
    for (const double along_kv : {0.0, 1.0}) {
      const Values q_direction = contract::normal_values(static_cast<std::int64_t>(q.size()), 11, along_q);
      const Values kv_direction = contract::normal_values(static_cast<std::int64_t>(kv.size()), 12, along_kv);
      double analytic = 0.0;
      for (std::size_t i = 0; i < q.size(); ++i) analytic += dq[i] * q_direction[i];
      for (std::size_t i = 0; i < kv.size(); ++i) analytic += dkv[i] * kv_direction[i];
      const double h = 1e-3;
      const auto loss = [&](double step) { return moved_loss(x, q, kv, q_direction, kv_direction, step); };
      const double numeric = (8.0 * (loss(h) - loss(-h)) - (loss(2 * h) - loss(-2 * h))) / (12.0 * h);
      EXPECT_NEAR(analytic, numeric, 1e-7 * (1.0 + std::abs(numeric)))
          << "along q: " << along_q << ", along k and v: " << along_kv;
    }
}

TEST(AttentionGradients, EqualDifferencesOfTheLoss) {
  const Lengths queries{1, 5, 0, 33, 2}, keys{4, 7, 3, 17, 0}, zeros(5, 0);
  expect_gradients_of_differences({queries, keys, zeros, {.heads = 2}, 6});
  expect_gradients_of_differences({queries, keys, zeros, {.heads = 1, .alibi = true}, 5});
  expect_gradients_of_differences(
      {queries, keys, zeros, {.heads = 3, .dropout = 0.3, .training = true, .key = {1, 2, 3}}, 33});
  expect_gradients_of_differences({queries, queries, zeros, {.heads = 2, .causal = true}, 6});
  expect_gradients_of_differences(
      {{3, 20}, {11, 40}, {8, 20}, {.heads = 2, .alibi = true, .window = 9, .causal = true}, 10});
}

TEST(AttentionMasksRefuse, OtherSequencesAndColumnsOutsideTheMatrix) {
  const RowsAt two({2, 1}), one({3});
  const contract::OwnedTensor q(DType::float32, {3, 8}), kv(DType::float32, {3, 16}),
      out(DType::float32, {3, 8}), sums(DType::float32, {3, 2}), wide(DType::float64, {3, 8});
  const kernels::Slice k{kv, 0, 8}, v{kv, 8, 8}, outside{kv, 9, 8}, narrow{kv, 8, 4};
  EXPECT_REFUSED(kernels::attention(device(), two, one, {.heads = 2}, q, k, v, out, sums),
                 "queries of 2 sequences and keys of 1");
  EXPECT_REFUSED(
      kernels::attention(device(), one, one, {.heads = 2}, q, k, outside, out, sums),
      "v is columns 9 .. 16 of float32 (3, 16), expected 8 columns of a float32 matrix with 3 rows");
  EXPECT_REFUSED(kernels::attention(device(), one, one, {.heads = 2}, q, narrow, v, out, sums),
                 "k is columns 8 .. 11 of float32 (3, 16), expected 8 columns");
  EXPECT_REFUSED(kernels::attention(device(), one, one, {.heads = 2}, wide, k, v, out, sums),
                 "q is columns 0 .. 7 of float64 (3, 8), expected 8 columns of a float32 matrix");
  EXPECT_REFUSED(
      kernels::attention_backward(device(), one, one, {.heads = 2}, q, k, v, out, sums, out, q,
                                  contract::OwnedTensor(DType::float32, {4, 8}), v),
      "dk is columns 0 .. 7 of float32 (4, 8), expected 8 columns of a float32 matrix with 3 rows");
}

}  // namespace
}  // namespace encore::test
