// SPDX-License-Identifier: BSD-3-Clause
// Tests attention in bfloat16 by tensor cores (framework/kernels/attention/attention_tensor_core.hpp), which
// kernels::attention launches on NVIDIA GPUs. On such a GPU the real kernels run; elsewhere a warp of threads
// emulates the instructions (support/emulated_warp.hpp). Results are compared with explicit weights in
// double, and a row must have the same bits whatever else is in the batch.
#include "kernels/attention/attention_tensor_core.hpp"
#include "unit/kernels/attention/tiled_case.hpp"

#if !defined(KOKKOS_ENABLE_CUDA)
#include "support/emulated_warp.hpp"
#endif

#include <algorithm>
#include <numeric>

namespace encore::test {
namespace {

constexpr double tolerance = 2e-2;

#if defined(KOKKOS_ENABLE_CUDA)
/// Runs forward and backward; returns false if tensor cores do not compute this case. `in_one` allows the
/// backward pass of short sequences by one kernel.
bool run(TiledCase& tiled, bool in_one = true) {
  tiled.forget_results();
  const auto of = tiled.operands<bfloat16>();
  const bool launched =
      kernels::launch_tensor_cores(device(), of.problem, of.q, of.k, of.v, of.out, of.log_sum) &&
      kernels::launch_tensor_cores_backward(device(), of.problem, of.q, of.k, of.v, of.out, of.log_sum,
                                            of.dout, of.dq, of.dk, of.dv, of.dbias, in_one);
  device().fence();
  return launched;
}
#elif ENCORE_HOST_BACKEND
bool run(TiledCase& tiled, bool in_one = true) {
  tiled.forget_results();
  const auto of = tiled.operands<bfloat16>();
  const kernels::AttentionProblem& p = of.problem;
  std::vector<float> delta(static_cast<std::size_t>(p.queries.tokens * p.heads));
  if (p.stride > 0) return false;
  return kernels::with_head_size(p.head_size, [&](auto size) {
    constexpr int D = decltype(size)::value;
    run_emulated(kernels::WarpAttention<D>{p, of.q, of.k, of.v, of.out, of.log_sum, {p, p.queries.longest}});
    if constexpr (kernels::has_short_gradient<D>) {
      if (in_one && kernels::is_short(p)) {
        run_emulated(kernels::WarpShortGradient<D>{p, of.q, of.k, of.v, of.out, of.log_sum, of.dout, of.dq,
                                                   of.dk, of.dv, delta.data(), kernels::WarpGrid(p)});
        return;
      }
    }
    run_emulated(kernels::WarpQueryGradient<D>{
        p, of.q, of.k, of.v, of.out, of.log_sum, of.dout, of.dq, delta.data(), {p, p.queries.longest}});
    run_emulated(kernels::WarpKeyGradient<D>{
        p, of.q, of.k, of.v, of.log_sum, of.dout, delta.data(), of.dk, of.dv, {p, p.keys.longest}});
  });
}
#endif

#if ENCORE_HOST_BACKEND && !defined(KOKKOS_ENABLE_CUDA)

/// A kernel that stores the bits that WarpDropout draws for 16 queries and each tile of keys.
struct DrawnBits {
  static constexpr int memory = kernels::WarpDropout::size;
  kernels::AttentionProblem p;
  int most;
  std::vector<std::uint32_t>* bits;  // (warps, queries)
  kernels::WarpGrid grid;

  template <class Warp>
  void run(const Warp& warp, int number, bfloat16* shared) const {
    const kernels::WarpPlace place(p, grid, number);
    if (place.first >= place.keys) return;
    const kernels::WarpDropout dropout(warp, p, place, most, shared);
    dropout.draw(warp, place.position(), place.queries, place.first);
    if (warp.lane < place.queries)
      (*bits)[static_cast<std::size_t>(number * kernels::tile_rows + warp.lane)] =
          dropout.dropped(warp.lane, place.first);
  }
};

/// The bits are those that kernels.hpp specifies for each pair of query and key, both if a query's bits are
/// drawn for all keys at once and if they are drawn for a tile.
TEST(AttentionTensorCore, DropoutIsDrawnAsPairByPair) {
  const Lengths keys{1, 2, 3, 4, 5, 16, 17, 20, 31, 32, 33, 63, 64, 65, 100, 255, 256, 257, 300};
  const Lengths queries(keys.size(), 16);
  const kernels::AttentionOptions options{.heads = 2, .dropout = 0.4, .training = true, .key = {3, 4, 5}};
  TiledCase tiled({queries, keys, zeros(keys), options, 64}, DType::bfloat16);
  const kernels::AttentionProblem problem = tiled.operands<bfloat16>().problem;
  const kernels::WarpGrid grid(problem, problem.keys.longest);
  const auto warps = static_cast<int>(grid.warps);
  for (const int most : {64, kernels::WarpDropout::longest}) {
    std::vector<std::uint32_t> bits(static_cast<std::size_t>(warps * kernels::tile_rows));
    run_emulated(DrawnBits{problem, most, &bits, grid});
    for (int number = 0; number < warps; ++number) {
      const kernels::WarpPlace place(problem, grid, number);
      const int sequence = number / static_cast<int>(problem.heads) / static_cast<int>(grid.tiles.by());
      const kernels::AttentionSequence of = kernels::sequence_of(problem, sequence);
      for (int query = 0; query < 16; ++query)
        for (int i = 0; i < kernels::tile_rows && place.first + i < place.keys; ++i) {
          const auto at = static_cast<std::size_t>(number * kernels::tile_rows + query);
          ASSERT_EQ((bits[at] >> i & 1U) != 0,
                    kernels::dropout_factor<float>(problem, of, place.head, place.position() + query,
                                                   place.first + i) == 0.0F)
              << place.keys << " keys, query " << query << ", key " << place.first + i;
        }
    }
  }
}

#endif
#if ENCORE_HOST_BACKEND || defined(KOKKOS_ENABLE_CUDA)

/// Computes the case in every available way and expects equal bits.
void run_all(TiledCase& tiled) {
  ASSERT_TRUE(run(tiled, false));
  if (!kernels::is_short(tiled.operands<bfloat16>().problem)) return;
  const std::vector<Values> by_two = tiled.results();
  ASSERT_TRUE(run(tiled));
  EXPECT_EQ(tiled.results(), by_two) << "the backward pass by one kernel and by two";
}

void compare(const Lengths& queries, const Lengths& keys, const Lengths& positions,
             kernels::AttentionOptions options, std::int64_t size) {
  options.training = true;
  options.key = {7, 8, 9};
  TiledCase tiled({queries, keys, positions, options, options.heads * size}, DType::bfloat16);
  run_all(tiled);
  tiled.expect(tolerance, std::to_string(options.heads) + " heads of " + std::to_string(size) + ", window " +
                              std::to_string(options.window));
}
void compare_self(const Lengths& lengths, const kernels::AttentionOptions& options, std::int64_t size) {
  compare(lengths, lengths, zeros(lengths), options, size);
}

TEST(AttentionTensorCore, PlacesAreDividedExactly) {
  for (const std::uint32_t by : {1U, 2U, 3U, 5U, 7U, 8U, 12U, 16U, 25U, 63U, 127U, 1000U, 16385U}) {
    const kernels::Divisor divisor(by);
    for (const std::uint32_t multiple : {by, 41U * by, 0x7FFFFFFFU / by * by})
      for (const std::uint32_t number : {multiple - 1, multiple, 0x7FFFFFFFU - by + 1})
        EXPECT_EQ(divisor.quotient(number), number / by) << number << " / " << by;
  }
}

TEST(AttentionTensorCore, EveryHeadSize) {
  for (const std::int64_t size : {32, 64, 128}) compare_self({20, 1, 33, 0, 70}, {.heads = 2}, size);
}
TEST(AttentionTensorCore, LengthsAroundTiles) {
  compare_self({15, 16, 17, 31, 32, 33, 47, 48, 49}, {.heads = 1, .dropout = 0.2}, 32);
}
TEST(AttentionTensorCore, Masks) {
  for (const std::int64_t window : {0, 5, 1000})
    for (const bool causal : {false, true})
      compare_self({1, 33, 0, 50},
                   {.heads = 2, .dropout = 0.2, .alibi = window == 5, .window = window, .causal = causal},
                   32);
}
TEST(AttentionTensorCore, KeysOfOtherRows) {
  const Lengths queries{1, 5, 33, 0, 7}, keys{4, 1, 7, 9, 40};
  compare(queries, keys, zeros(keys), {.heads = 2, .dropout = 0.3}, 32);
  const Lengths some{0, 3, 0, 5}, others{3, 0, 0, 4};
  compare(some, others, zeros(others), {.heads = 1, .causal = true}, 32);
}
TEST(AttentionTensorCore, QueriesThatStartAtAnOffset) {
  for (const bool causal : {false, true})
    compare({1, 5, 33}, {9, 12, 64}, {8, 7, 31}, {.heads = 1, .window = 20, .causal = causal}, 32);
  // A window far after the last key is empty.
  compare({20, 3}, {5, 40}, {0, 60}, {.heads = 1, .window = 4}, 32);
}
/// The backward pass of these sizes is one kernel; compare() checks that the two kernels for other sizes give
/// the same bits.
TEST(AttentionTensorCore, ShortSequences) {
  const Lengths lengths{28, 0, 1, 16, 17, 32, 15};
  for (const std::int64_t size : {32, 64}) compare_self(lengths, {.heads = 1, .dropout = 0.1}, size);
  compare_self({28, 7, 20}, {.heads = 3}, 32);
  compare_self({1, 9, 16}, {.heads = 1, .dropout = 0.1}, 32);
  compare_self(lengths, {.heads = 1, .dropout = 0.1, .alibi = true}, 32);
  for (const std::int64_t window : {0, 3, 20})
    compare_self(lengths, {.heads = 1, .dropout = 0.1, .window = window, .causal = true}, 32);
  compare_self(lengths, {.heads = 1, .dropout = 0.1, .window = 7}, 64);
}
TEST(AttentionTensorCore, ShortSequencesOfOtherRows) {
  const Lengths queries{28, 3, 0, 16, 17, 32, 5}, keys{5, 32, 9, 0, 16, 31, 17};
  compare(queries, keys, zeros(keys), {.heads = 2, .dropout = 0.1}, 32);
  compare(queries, keys, zeros(keys), {.heads = 1, .dropout = 0.3, .causal = true}, 64);
  compare({1, 17, 3}, {9, 32, 5}, {8, 15, 30}, {.heads = 1, .dropout = 0.1, .window = 6}, 32);
}
TEST(AttentionTensorCore, DropoutOfLongSequences) {
  compare_self({64, 65, 100}, {.heads = 1, .dropout = 0.3}, 32);
  const Lengths queries{3, 20}, keys{256, 261};
  compare(queries, keys, zeros(keys), {.heads = 1, .dropout = 0.3}, 32);
}

TEST(AttentionTensorCore, BiasByDistance) {
  for (const Lengths& lengths : {Lengths{1, 40, 7}, Lengths{28, 0, 1, 17}})
    for (const bool causal : {false, true}) {
      const std::int64_t longest = *std::max_element(lengths.begin(), lengths.end());
      contract::OwnedTensor bias =
          random_tensor(DType::float32, {2, 2 * longest}, 9);  // no longer distance occurs
      const kernels::AttentionOptions options{
          .heads = 2, .dropout = 0.2, .training = true, .key = {7, 8, 9}, .causal = causal, .bias = bias};
      TiledCase tiled({lengths, lengths, zeros(lengths), options, 2 * 32, bias.values()}, DType::bfloat16);
      run_all(tiled);
      const AttentionResult expected = tiled.reference();
      expect_close(tiled.out, expected.out, tolerance, "out");
      expect_close(tiled.dq, expected.dq, 10 * tolerance, "dq");
    }
}

/// Expects that the last sequence of a batch has the bits that it has alone, however long the others are.
void expect_bits_alone(std::int64_t length) {
  const std::int64_t width = 2 * 32;
  const kernels::AttentionOptions options{.heads = 2, .training = true, .alibi = true, .causal = true};
  TiledCase alone({{length}, {length}, {0}, options, width}, DType::bfloat16);
  ASSERT_TRUE(run(alone));
  for (const Lengths& others : {Lengths{33}, Lengths{1, 60}}) {
    Lengths lengths = others;
    lengths.push_back(length);
    const std::int64_t before = std::accumulate(others.begin(), others.end(), std::int64_t{0});
    TiledCase batch({lengths, lengths, zeros(lengths), options, width}, DType::bfloat16);
    const auto put_last = [&](contract::OwnedTensor& to, const contract::OwnedTensor& from,
                              std::int64_t columns) {
      Values values = to.values();
      const Values last = from.values();
      std::copy(last.begin(), last.end(), values.begin() + before * columns);
      to.set(values);
    };
    put_last(batch.q, alone.q, width);
    put_last(batch.kv, alone.kv, 2 * width);
    put_last(batch.dout, alone.dout, width);
    ASSERT_TRUE(run(batch));
    const auto last_of = [&](const contract::OwnedTensor& tensor, std::int64_t columns) {
      const Values values = tensor.values();
      return Values(values.begin() + before * columns, values.end());
    };
    EXPECT_EQ(last_of(batch.out, width), alone.out.values());
    EXPECT_EQ(last_of(batch.log_sum, 2), alone.log_sum.values());
    EXPECT_EQ(last_of(batch.dq, width), alone.dq.values());
    EXPECT_EQ(last_of(batch.dkv, 2 * width), alone.dkv.values());
  }
}
TEST(AttentionTensorCore, RowsHaveTheBitsThatTheyHaveAlone) {
  for (const std::int64_t length : {40, 20}) expect_bits_alone(length);
}

TEST(AttentionTensorCore, OtherProblemsAreLeftToOtherKernels) {
  TiledCase apart({{9}, {9}, {0}, {.heads = 1, .window = 2, .stride = 3}, 32}, DType::bfloat16);
  EXPECT_FALSE(run(apart));
  TiledCase odd({{9}, {9}, {0}, {.heads = 1}, 24}, DType::bfloat16);
  EXPECT_FALSE(run(odd));
}

#endif

}  // namespace
}  // namespace encore::test
