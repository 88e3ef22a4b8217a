// Attention by tensor cores: on an NVIDIA GPU as it is launched there, elsewhere with a warp of threads that
// does what the instructions are documented to do. Against explicit weights in double, and for rows that do
// not notice their neighbours.
#include "kernels/attention_tensor_core.hpp"
#include "unit/kernels/tiled_case.hpp"

#if !defined(KOKKOS_ENABLE_CUDA)
#include "support/emulated_warp.hpp"
#endif

#include <numeric>

namespace encore::test {
namespace {

constexpr double tolerance = 2e-2;

#if defined(KOKKOS_ENABLE_CUDA)
bool run(TiledCase& tiled) {
  tiled.forget_results();
  const auto of = tiled.operands<bfloat16>();
  const bool launched =
      kernels::launch_tensor_cores(device(), of.problem, of.q, of.k, of.v, of.out, of.log_sum) &&
      kernels::launch_tensor_cores_backward(device(), of.problem, of.q, of.k, of.v, of.out, of.log_sum,
                                            of.dout, of.dq, of.dk, of.dv, of.dbias);
  device().fence();
  return launched;
}
#elif ENCORE_HOST_BACKEND
bool run(TiledCase& tiled) {
  tiled.forget_results();
  const auto of = tiled.operands<bfloat16>();
  const kernels::AttentionProblem& p = of.problem;
  std::vector<float> delta(static_cast<std::size_t>(p.queries.tokens * p.heads));
  const std::int64_t query_tiles = (p.queries.longest + kernels::own_rows - 1) / kernels::own_rows;
  const std::int64_t key_tiles = (p.keys.longest + kernels::own_rows - 1) / kernels::own_rows;
  const std::int64_t rows = p.sequences * p.heads;
  if (p.stride > 0) return false;
  return kernels::with_head_size(p.head_size, [&](auto size) {
    constexpr int D = decltype(size)::value;
    run_emulated(kernels::WarpAttention<D>{p, of.q, of.k, of.v, of.out, of.log_sum, query_tiles},
                 rows * query_tiles);
    run_emulated(kernels::WarpQueryGradient<D>{p, of.q, of.k, of.v, of.out, of.log_sum, of.dout, of.dq,
                                               delta.data(), query_tiles},
                 rows * query_tiles);
    run_emulated(kernels::WarpKeyGradient<D>{p, of.q, of.k, of.v, of.log_sum, of.dout, delta.data(), of.dk,
                                             of.dv, key_tiles},
                 rows * key_tiles);
  });
}
#endif

#if ENCORE_HOST_BACKEND || defined(KOKKOS_ENABLE_CUDA)

void compare(const Lengths& queries, const Lengths& keys, const Lengths& positions,
             kernels::AttentionOptions options, std::int64_t size) {
  options.training = true;
  options.key = {7, 8, 9};
  TiledCase tiled({queries, keys, positions, options, options.heads * size}, DType::bfloat16);
  ASSERT_TRUE(run(tiled));
  tiled.expect(tolerance, std::to_string(options.heads) + " heads of " + std::to_string(size) + ", window " +
                              std::to_string(options.window));
}
void compare_self(const Lengths& lengths, const kernels::AttentionOptions& options, std::int64_t size) {
  compare(lengths, lengths, zeros(lengths), options, size);
}

TEST(AttentionTensorCore, every_head_size) {
  for (const std::int64_t size : {32, 64, 128}) compare_self({20, 1, 33, 0, 70}, {.heads = 2}, size);
}
TEST(AttentionTensorCore, lengths_around_tiles) {
  compare_self({15, 16, 17, 31, 32, 33, 47, 48, 49}, {.heads = 1, .dropout = 0.2}, 32);
}
TEST(AttentionTensorCore, masks) {
  for (const std::int64_t window : {0, 5, 1000})
    for (const bool causal : {false, true})
      compare_self({1, 33, 0, 50},
                   {.heads = 2, .dropout = 0.2, .alibi = window == 5, .window = window, .causal = causal},
                   32);
}
TEST(AttentionTensorCore, keys_of_other_rows) {
  const Lengths queries{1, 5, 33, 0, 7}, keys{4, 1, 7, 9, 40};
  compare(queries, keys, zeros(keys), {.heads = 2, .dropout = 0.3}, 32);
  const Lengths some{0, 3, 0, 5}, others{3, 0, 0, 4};
  compare(some, others, zeros(others), {.heads = 1, .causal = true}, 32);
}
TEST(AttentionTensorCore, queries_that_start_at_an_offset) {
  for (const bool causal : {false, true})
    compare({1, 5, 33}, {9, 12, 64}, {8, 7, 31}, {.heads = 1, .window = 20, .causal = causal}, 32);
  // Far behind the last key a window is empty.
  compare({20, 3}, {5, 40}, {0, 60}, {.heads = 1, .window = 4}, 32);
}
TEST(AttentionTensorCore, bias_by_distance) {
  const Lengths lengths{1, 40, 7};
  OwnedTensor bias = random_tensor(DType::float32, {2, 2 * 40}, 9);  // no further than the longest
  const kernels::AttentionOptions options{
      .heads = 2, .dropout = 0.2, .training = true, .key = {7, 8, 9}, .bias = bias};
  TiledCase tiled({lengths, lengths, zeros(lengths), options, 2 * 32, bias.values()}, DType::bfloat16);
  ASSERT_TRUE(run(tiled));
  const AttentionResult expected = tiled.reference();
  expect_close(tiled.out, expected.out, tolerance, "out");
  expect_close(tiled.dq, expected.dq, 10 * tolerance, "dq");
}

/// The last text of a batch has the bits that it has alone, however long the others are.
TEST(AttentionTensorCore, rows_have_the_bits_that_they_have_alone) {
  const std::int64_t length = 40, width = 2 * 32;
  const kernels::AttentionOptions options{.heads = 2, .training = true, .alibi = true, .causal = true};
  TiledCase alone({{length}, {length}, {0}, options, width}, DType::bfloat16);
  ASSERT_TRUE(run(alone));
  for (const Lengths& others : {Lengths{33}, Lengths{1, 60}}) {
    Lengths lengths = others;
    lengths.push_back(length);
    const std::int64_t before = std::accumulate(others.begin(), others.end(), std::int64_t{0});
    TiledCase batch({lengths, lengths, zeros(lengths), options, width}, DType::bfloat16);
    const auto put_last = [&](OwnedTensor& to, const OwnedTensor& from, std::int64_t columns) {
      Values values = to.values();
      const Values last = from.values();
      std::copy(last.begin(), last.end(), values.begin() + before * columns);
      to.set(values);
    };
    put_last(batch.q, alone.q, width);
    put_last(batch.kv, alone.kv, 2 * width);
    put_last(batch.dout, alone.dout, width);
    ASSERT_TRUE(run(batch));
    const auto last_of = [&](const OwnedTensor& tensor, std::int64_t columns) {
      const Values values = tensor.values();
      return Values(values.begin() + before * columns, values.end());
    };
    EXPECT_EQ(last_of(batch.out, width), alone.out.values());
    EXPECT_EQ(last_of(batch.log_sum, 2), alone.log_sum.values());
    EXPECT_EQ(last_of(batch.dq, width), alone.dq.values());
    EXPECT_EQ(last_of(batch.dkv, 2 * width), alone.dkv.values());
  }
}

TEST(AttentionTensorCore, other_problems_are_left_to_other_kernels) {
  TiledCase apart({{9}, {9}, {0}, {.heads = 1, .window = 2, .stride = 3}, 32}, DType::bfloat16);
  EXPECT_FALSE(run(apart));
  TiledCase odd({{9}, {9}, {0}, {.heads = 1}, 24}, DType::bfloat16);
  EXPECT_FALSE(run(odd));
}

#endif

}  // namespace
}  // namespace encore::test
