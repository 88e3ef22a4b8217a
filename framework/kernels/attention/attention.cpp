// SPDX-License-Identifier: BSD-3-Clause
// The kernels attention and attention_backward (encore/kernels.hpp): out (N2, C) = softmax(scale Q K^T +
// bias) V by head, with masks and dropout; log_sum (N2, H) is kept for backward, which computes the weights
// again. Layers call them. This file checks the arguments and launches the kernels of the host, of a GPU, or
// pair by pair; the choice decides the bits of runs, so it must stay. Read attention_problem.hpp first, then
// attention_host.hpp for the formulas.
#include <type_traits>

#include <encore/rows.hpp>

#include "kernels/attention/attention_arguments.hpp"
#include "kernels/attention/attention_pairs.hpp"

#if ENCORE_HOST_BACKEND
#include "kernels/attention/attention_host.hpp"
#else
#include "kernels/attention/attention_tensor_core.hpp"
#include "kernels/attention/attention_tiled.hpp"
#endif

namespace encore::kernels {
namespace {

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
  check_bias(options, out.dtype);
}

/// Each row of the gradients belongs to one sequence of queries and of keys.
void check_bias_gradients(const RowSet& queries, const RowSet& keys, const AttentionOptions& options,
                          const Tensor& log_sum, const Tensor& dbias) {
  ENCORE_REQUIRE(options.bias || !dbias, "gradients of a missing bias");
  if (!dbias) return;
  ENCORE_REQUIRE(queries.offsets.data == keys.offsets.data, "dbias is for self-attention");
  check("dbias", dbias, log_sum.dtype, {keys.size.tokens, 2 * options.heads});
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
#else
#if defined(KOKKOS_ENABLE_CUDA)
    if constexpr (std::is_same_v<T, bfloat16>)
      if (launch_tensor_cores(device, problem, q_rows, k_rows, v_rows, elements<T>(out),
                              elements<float>(log_sum)))
        return;
#endif
    if (launch_tiles<T>(device, problem, q_rows, k_rows, v_rows, elements<T>(out), elements<Sum<T>>(log_sum)))
      return;
#endif
    launch_pairs<T>(device, problem, q_rows, k_rows, v_rows, elements<T>(out), elements<Sum<T>>(log_sum));
  });
}

void attention_backward(const Device& device, const RowSet& queries, const RowSet& keys,
                        const AttentionOptions& options, const Slice& q, const Slice& k, const Slice& v,
                        Tensor out, Tensor log_sum, Tensor dout, const Slice& dq, const Slice& dk,
                        const Slice& dv, Tensor dbias) {
  check_attention(queries, keys, options, q, k, v, out, log_sum);
  check_bias_gradients(queries, keys, options, log_sum, dbias);
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
    Sum<T>* dbias_sums = dbias ? elements<Sum<T>>(dbias) : nullptr;
#if ENCORE_HOST_BACKEND
    if (problem.stride == 0)
      return launch_attention_backward<T>(device, problem, q_rows, k_rows, v_rows, elements<T>(out),
                                          elements<Sum<T>>(log_sum), elements<T>(dout), slice_rows<T>(dq),
                                          slice_rows<T>(dk), slice_rows<T>(dv), dbias_sums);
#else
#if defined(KOKKOS_ENABLE_CUDA)
    if constexpr (std::is_same_v<T, bfloat16>)
      if (launch_tensor_cores_backward(device, problem, q_rows, k_rows, v_rows, elements<T>(out),
                                       elements<float>(log_sum), elements<T>(dout), slice_rows<T>(dq),
                                       slice_rows<T>(dk), slice_rows<T>(dv), dbias_sums))
        return;
#endif
    if (launch_tiles_backward<T>(device, problem, q_rows, k_rows, v_rows, elements<T>(out),
                                 elements<Sum<T>>(log_sum), elements<T>(dout), slice_rows<T>(dq),
                                 slice_rows<T>(dk), slice_rows<T>(dv), dbias_sums))
      return;
#endif
    launch_pairs_backward<T>(device, problem, q_rows, k_rows, v_rows, elements<T>(out),
                             elements<Sum<T>>(log_sum), elements<T>(dout), slice_rows<T>(dq),
                             slice_rows<T>(dk), slice_rows<T>(dv), dbias_sums);
  });
}

}  // namespace encore::kernels
