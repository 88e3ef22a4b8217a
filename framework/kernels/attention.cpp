// Attention of the queries of each sequence over its keys: checks, then the kernels of the host, or those
// that go pair by pair.
#include <cmath>

#include <encore/rows.hpp>

#include "kernels/attention_pairs.hpp"
#include "kernels/check.hpp"

#if ENCORE_HOST_BACKEND
#include "kernels/attention_host.hpp"
#endif

namespace encore::kernels {
namespace {

AttentionSide side_of(const RowSet& rows) {
  return {elements<std::int32_t>(rows.offsets), elements<std::int32_t>(rows.sequence),
          elements<std::int32_t>(rows.positions), rows.size.tokens, rows.size.longest};
}

AttentionProblem make_problem(const RowSet& queries, const RowSet& keys, const AttentionOptions& options,
                              std::int64_t width) {
  ENCORE_REQUIRE(options.heads >= 1 && width % options.heads == 0,
                 std::to_string(options.heads) + " heads do not divide the width " + std::to_string(width));
  ENCORE_REQUIRE(options.window >= 0,
                 "a window of " + std::to_string(options.window) + " tokens; 0 means all keys");
  ENCORE_REQUIRE(options.stride >= 0 && (options.stride == 0 || options.window > 0),
                 "a stride of " + std::to_string(options.stride) + " tokens with a window of " +
                     std::to_string(options.window) + "; a stride goes with a window");
  ENCORE_REQUIRE(queries.size.sequences == keys.size.sequences,
                 "queries of " + std::to_string(queries.size.sequences) + " sequences and keys of " +
                     std::to_string(keys.size.sequences));
  ENCORE_REQUIRE(keys.size.longest <= 4 * 65536, "a sequence has at most 262144 tokens");
  const std::int64_t head_size = width / options.heads;
  const bool drop = options.training && options.dropout > 0.0;
  return {.queries = side_of(queries),
          .keys = side_of(keys),
          .examples = elements<std::int64_t>(queries.examples),
          .sequences = queries.size.sequences,
          .width = width,
          .heads = options.heads,
          .head_size = head_size,
          .scale = 1.0 / std::sqrt(static_cast<double>(head_size)),
          .alibi = options.alibi,
          .causal = options.causal,
          .window = options.window,
          .stride = options.stride,
          // Self-attention without a mask never sees a part of its rows, and keeps the bits of recorded runs.
          .equal_rows = options.causal || queries.offsets.data != keys.offsets.data,
          .drop = drop,
          .random = Random(options.key),
          .dropped = Dropout(drop ? options.dropout : 0.0)};
}

void check_attention(const RowSet& queries, const RowSet& keys, const AttentionOptions& options,
                     const Slice& q, const Slice& k, const Slice& v, const Tensor& out,
                     const Tensor& log_sum) {
  check_rank("out", out, 2);
  const std::int64_t rows = queries.size.tokens, width = out.extent(1);
  check("out", out, out.dtype, {rows, width});
  check("q", q, out.dtype, rows, width);
  check("k", k, out.dtype, keys.size.tokens, width);
  check("v", v, out.dtype, keys.size.tokens, width);
  check("log_sum", log_sum, sum_type(out.dtype), {rows, options.heads});
}

}  // namespace

void attention(const Device& device, const RowSet& queries, const RowSet& keys,
               const AttentionOptions& options, const Slice& q, const Slice& k, const Slice& v, Tensor out,
               Tensor log_sum) {
  check_attention(queries, keys, options, q, k, v, out, log_sum);
  const AttentionProblem problem = make_problem(queries, keys, options, out.extent(1));
  if (problem.queries.tokens == 0) return;
  dispatch(out.dtype, [&](auto type) {
    using T = decltype(type);
    const auto q_rows = slice_rows<const T>(q), k_rows = slice_rows<const T>(k),
               v_rows = slice_rows<const T>(v);
#if ENCORE_HOST_BACKEND
    if (problem.stride == 0)
      return launch_attention<T>(device, problem, q_rows, k_rows, v_rows, elements<T>(out),
                                 elements<Sum<T>>(log_sum));
#endif
    launch_pairs<T>(device, problem, q_rows, k_rows, v_rows, elements<T>(out), elements<Sum<T>>(log_sum));
  });
}

void attention_backward(const Device& device, const RowSet& queries, const RowSet& keys,
                        const AttentionOptions& options, const Slice& q, const Slice& k, const Slice& v,
                        Tensor out, Tensor log_sum, Tensor dout, const Slice& dq, const Slice& dk,
                        const Slice& dv) {
  check_attention(queries, keys, options, q, k, v, out, log_sum);
  const std::int64_t width = out.extent(1);
  check("dout", dout, out.dtype, {out.extent(0), width});
  check("dq", dq, out.dtype, queries.size.tokens, width);
  check("dk", dk, out.dtype, keys.size.tokens, width);
  check("dv", dv, out.dtype, keys.size.tokens, width);
  const AttentionProblem problem = make_problem(queries, keys, options, width);
  if (problem.queries.tokens == 0 && problem.keys.tokens == 0) return;
  dispatch(out.dtype, [&](auto type) {
    using T = decltype(type);
    const auto q_rows = slice_rows<const T>(q), k_rows = slice_rows<const T>(k),
               v_rows = slice_rows<const T>(v);
#if ENCORE_HOST_BACKEND
    if (problem.stride == 0)
      return launch_attention_backward<T>(device, problem, q_rows, k_rows, v_rows, elements<T>(out),
                                          elements<Sum<T>>(log_sum), elements<T>(dout), slice_rows<T>(dq),
                                          slice_rows<T>(dk), slice_rows<T>(dv));
#endif
    launch_pairs_backward<T>(device, problem, q_rows, k_rows, v_rows, elements<T>(out),
                             elements<Sum<T>>(log_sum), elements<T>(dout), slice_rows<T>(dq),
                             slice_rows<T>(dk), slice_rows<T>(dv));
  });
}

}  // namespace encore::kernels
