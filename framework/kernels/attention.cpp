// Self-attention over the sequences of a packed batch: checks, then the kernels of the host or of a GPU.
#include <cmath>

#include <encore/rows.hpp>

#include "kernels/check.hpp"

#if ENCORE_HOST_BACKEND
#include "kernels/attention_host.hpp"
#else
#include "kernels/attention_gpu.hpp"
#endif

namespace encore::kernels {
namespace {

AttentionProblem make_problem(const Batch& batch, const AttentionOptions& options, std::int64_t width) {
  ENCORE_REQUIRE(options.heads >= 1 && width % options.heads == 0,
                 std::to_string(options.heads) + " heads do not divide the width " + std::to_string(width));
  ENCORE_REQUIRE(options.window >= 0,
                 "a window of " + std::to_string(options.window) + " tokens; 0 means all keys");
  ENCORE_REQUIRE(batch.size.longest <= 4 * 65536, "a sequence has at most 262144 tokens");
  const std::int64_t head_size = width / options.heads;
  const bool drop = options.training && options.dropout > 0.0;
  return {elements<std::int32_t>(batch.offsets),
          elements<std::int32_t>(batch.sequence),
          elements<std::int32_t>(batch.positions),
          elements<std::int64_t>(batch.examples),
          batch.size.tokens,
          batch.size.sequences,
          batch.size.longest,
          width,
          options.heads,
          head_size,
          1.0 / std::sqrt(static_cast<double>(head_size)),
          options.alibi,
          options.window,
          drop,
          Random(options.key),
          Dropout(drop ? options.dropout : 0.0)};
}

void check_attention(const Batch& batch, const AttentionOptions& options, const Tensor& qkv,
                     const Tensor& out, const Tensor& log_sum) {
  check_rank("out", out, 2);
  const std::int64_t rows = batch.size.tokens;
  check("out", out, out.dtype, {rows, out.extent(1)});
  check("qkv", qkv, out.dtype, {rows, 3 * out.extent(1)});
  check("log_sum", log_sum, sum_type(out.dtype), {rows, options.heads});
}

}  // namespace

void attention(const Device& device, const Batch& batch, const AttentionOptions& options, Tensor qkv,
               Tensor out, Tensor log_sum) {
  check_attention(batch, options, qkv, out, log_sum);
  const AttentionProblem problem = make_problem(batch, options, out.extent(1));
  if (problem.tokens == 0) return;
  dispatch(out.dtype,
           [&](auto type) { launch_attention<decltype(type)>(device, problem, qkv, out, log_sum); });
}

void attention_backward(const Device& device, const Batch& batch, const AttentionOptions& options, Tensor qkv,
                        Tensor out, Tensor log_sum, Tensor dout, Tensor dqkv) {
  check_attention(batch, options, qkv, out, log_sum);
  check("dout", dout, out.dtype, {out.extent(0), out.extent(1)});
  check("dqkv", dqkv, out.dtype, {out.extent(0), 3 * out.extent(1)});
  const AttentionProblem problem = make_problem(batch, options, out.extent(1));
  if (problem.tokens == 0) return;
  dispatch(out.dtype, [&](auto type) {
    launch_attention_backward<decltype(type)>(device, problem, qkv, out, log_sum, dout, dqkv);
  });
}

}  // namespace encore::kernels
