// SPDX-License-Identifier: BSD-3-Clause
// Tests attention tile by tile (framework/kernels/attention/attention_tiled.hpp), which kernels::attention
// launches on GPUs; the test runs it on any device. Results are compared with explicit weights in double;
// they must have equal bits for teams of any size, and a row must have the same bits whatever else is in the
// batch.
#include "kernels/attention/attention_tiled.hpp"
#include "unit/kernels/attention/tiled_case.hpp"

#include <numeric>

namespace encore::test {
namespace {

/// Runs forward and backward with teams of `threads` threads; returns false if this attention has no tiles.
bool run(TiledCase& tiled, int threads) {
  tiled.forget_results();
  bool launched = false;
  dispatch(tiled.q.tensor().dtype, [&](auto type) {
    const auto of = tiled.operands<decltype(type)>();
    launched = kernels::launch_tiles(device(), of.problem, of.q, of.k, of.v, of.out, of.log_sum, threads) &&
               kernels::launch_tiles_backward(device(), of.problem, of.q, of.k, of.v, of.out, of.log_sum,
                                              of.dout, of.dq, of.dk, of.dv, of.dbias, threads);
  });
  device().fence();
  return launched;
}

/// Returns the sizes of teams that are compared; the device supports each.
std::vector<int> team_sizes() {
#if ENCORE_HOST_BACKEND
  if (host_threads() < 2) return {1};
  return {1, 2};
#else
  return {kernels::attention_threads, 32, 128};
#endif
}

class AttentionTiles : public ::testing::TestWithParam<Precision> {
 protected:
  void compare(const Lengths& queries, const Lengths& keys, const Lengths& positions,
               kernels::AttentionOptions options, std::int64_t size) {
    const auto [type, tolerance] = GetParam();
    options.training = true;
    options.key = {7, 8, 9};
    TiledCase tiled({queries, keys, positions, options, options.heads * size}, type);
    ASSERT_TRUE(run(tiled, team_sizes().front()));
    tiled.expect(tolerance, std::to_string(options.heads) + " heads of " + std::to_string(size) +
                                ", window " + std::to_string(options.window));
  }
  void compare_self(const Lengths& lengths, const kernels::AttentionOptions& options, std::int64_t size) {
    compare(lengths, lengths, zeros(lengths), options, size);
  }
};

TEST_P(AttentionTiles, EveryLengthUpToTwoTiles) {
  Lengths lengths(66);
  std::iota(lengths.begin(), lengths.end(), 1);
  for (const std::int64_t size : {1, 5, 33, 64}) compare_self(lengths, {.heads = 2, .dropout = 0.2}, size);
}
TEST_P(AttentionTiles, LengthsUpTo300) {
  const Lengths lengths{300, 1, 129, 257, 63, 0, 64, 191};
  compare_self(lengths, {.heads = 1}, 64);
  compare_self(lengths, {.heads = 3, .dropout = 0.3, .causal = true}, 16);
}
/// Tiles are smaller for larger heads.
TEST_P(AttentionTiles, LargeHeads) {
  for (const std::int64_t size : {96, 128, 160}) compare_self({40, 9, 17}, {.heads = 1}, size);
}
TEST_P(AttentionTiles, Masks) {
  const Lengths lengths{1, 2, 33, 7, 0, 16, 17, 64, 130};
  for (const std::int64_t window : {0, 1, 15, 40, 1000})
    for (const bool alibi : {false, true})
      for (const bool causal : {false, true})
        compare_self(lengths,
                     {.heads = 3, .dropout = 0.2, .alibi = alibi, .window = window, .causal = causal}, 8);
}
TEST_P(AttentionTiles, KeysOfOtherRows) {
  const Lengths queries{1, 5, 33, 0, 7, 17, 130, 40}, keys{4, 1, 7, 9, 33, 64, 31, 129};
  for (const double dropout : {0.0, 0.3})
    compare(queries, keys, zeros(keys), {.heads = 2, .dropout = dropout}, 16);
  const Lengths some{0, 3, 0, 5, 2, 40}, others{3, 0, 0, 4, 0, 0};
  for (const bool causal : {false, true})
    compare(some, others, zeros(others), {.heads = 2, .causal = causal}, 6);
}
TEST_P(AttentionTiles, QueriesThatStartAtAnOffset) {
  const Lengths queries{1, 5, 33, 1, 40}, keys{9, 12, 64, 1, 90}, positions{8, 7, 31, 0, 30};
  for (const std::int64_t window : {0, 3, 20, 1000})
    for (const bool causal : {false, true})
      compare(queries, keys, positions, {.heads = 2, .dropout = 0.2, .window = window, .causal = causal}, 8);
  // A window far after the last key is empty.
  compare({20, 3}, {5, 40}, {0, 60}, {.heads = 2, .window = 4}, 8);
}
TEST_P(AttentionTiles, BiasByDistance) {
  const auto [type, tolerance] = GetParam();
  const Lengths lengths{1, 40, 7, 70};
  for (const bool causal : {false, true}) {
    contract::OwnedTensor bias = random_tensor(sum_type(type), {3, 2 * 80}, 9);
    const kernels::AttentionOptions options{
        .heads = 3, .dropout = 0.2, .training = true, .key = {7, 8, 9}, .causal = causal, .bias = bias};
    TiledCase tiled({lengths, lengths, zeros(lengths), options, 3 * 8, bias.values()}, type);
    ASSERT_TRUE(run(tiled, team_sizes().front()));
    tiled.expect(tolerance, causal ? "causal" : "both directions");
  }
}
TEST_P(AttentionTiles, ScoresThatExpDoesNotHold) {
  const auto [type, tolerance] = GetParam();
  TiledCase tiled({{2}, {2}, {0}, {.heads = 1}, 1}, type);
  tiled.q.set({100.0, 100.0});
  tiled.kv.set({100.0, 1.0, 50.0, 2.0});  // scores 10000 and 5000
  ASSERT_TRUE(run(tiled, team_sizes().front()));
  expect_close(tiled.out, {1.0, 1.0}, tolerance, "out");
  expect_close(tiled.dq, {0.0, 0.0}, tolerance, "dq");
}

kernels::AttentionOptions with_everything() {
  return {.heads = 2, .dropout = 0.3, .training = true, .key = {4, 5, 6}, .alibi = true, .causal = true};
}

/// Teams of other sizes and a second run give the same bits.
TEST_P(AttentionTiles, EqualBitsForEveryTeam) {
  const Lengths lengths{100, 3, 65, 32};
  const auto results = [&](int threads) {
    TiledCase tiled({lengths, lengths, zeros(lengths), with_everything(), 2 * 24}, GetParam().type);
    EXPECT_TRUE(run(tiled, threads));
    return tiled.results();
  };
  const std::vector<Values> first = results(team_sizes().front());
  for (const int threads : team_sizes())
    for (int run = 0; run < 2; ++run) EXPECT_EQ(results(threads), first) << threads << " threads";
}

/// The last sequence of a batch has the bits that it has alone, however long the others are. Dropout is off,
/// because it depends on the number of the sequence.
TEST_P(AttentionTiles, RowsHaveTheBitsThatTheyHaveAlone) {
  const std::int64_t length = 70, width = 2 * 16;
  kernels::AttentionOptions options = with_everything();
  options.dropout = 0.0;
  TiledCase alone({{length}, {length}, {0}, options, width}, GetParam().type);
  ASSERT_TRUE(run(alone, team_sizes().front()));
  for (const Lengths& others : {Lengths{33}, Lengths{1, 200}}) {
    Lengths lengths = others;
    lengths.push_back(length);
    TiledCase batch({lengths, lengths, zeros(lengths), options, width}, GetParam().type);
    const auto last_rows = [&](const Values& values, std::int64_t columns) {
      return Values(values.end() - length * columns, values.end());
    };
    const auto put = [&](contract::OwnedTensor& to, const contract::OwnedTensor& own) {
      Values values = to.values();
      const Values rows = own.values();
      std::copy(rows.begin(), rows.end(), values.end() - std::ssize(rows));
      to.set(values);
    };
    put(batch.q, alone.q);
    put(batch.kv, alone.kv);
    put(batch.dout, alone.dout);
    ASSERT_TRUE(run(batch, team_sizes().back()));
    EXPECT_EQ(last_rows(batch.out.values(), width), alone.out.values());
    EXPECT_EQ(last_rows(batch.dq.values(), width), alone.dq.values());
    EXPECT_EQ(last_rows(batch.dkv.values(), 2 * width), alone.dkv.values());
  }
}

/// These cases have no tiles; kernels::attention computes them pair by pair.
TEST_P(AttentionTiles, AreNotForKeysThatLieApartNorForHeadsWithoutRoom) {
  TiledCase apart({{9}, {9}, {0}, {.heads = 1, .window = 2, .stride = 3}, 4}, GetParam().type);
  EXPECT_FALSE(run(apart, team_sizes().front()));
  TiledCase large({{2}, {2}, {0}, {.heads = 1}, 6000}, GetParam().type);
  EXPECT_FALSE(run(large, team_sizes().front()));
}

INSTANTIATE_TEST_SUITE_P(Precisions, AttentionTiles, ::testing::ValuesIn(precisions(5e-6, 1e-13, 2e-2)),
                         precision_name);

}  // namespace
}  // namespace encore::test
