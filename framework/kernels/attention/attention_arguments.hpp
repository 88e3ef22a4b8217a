// SPDX-License-Identifier: BSD-3-Clause
// Checks the arguments of a call of attention and makes the AttentionProblem that its kernels read. Only
// attention.cpp and attention_weights.cpp include it. Its messages name the arguments of encore/kernels.hpp,
// which authors of plugins read, so change both together. Read next: attention_problem.hpp.
#pragma once

#include <algorithm>
#include <cmath>

#include "kernels/attention/attention_problem.hpp"
#include "kernels/check.hpp"

namespace encore::kernels {

inline AttentionSide side_of(const RowSet& rows) {
  return {elements<std::int32_t>(rows.offsets), elements<std::int32_t>(rows.sequence),
          elements<std::int32_t>(rows.positions), rows.size.tokens, rows.size.longest};
}

inline void check_bias(const AttentionOptions& options, DType type) {
  ENCORE_REQUIRE(!options.bias || options.bias.dtype == sum_type(type),
                 "bias is " + describe(options.bias) + ", expected " + name_of(sum_type(type)));
}

inline void require_bias(const RowSet& queries, const RowSet& keys, const AttentionOptions& options) {
  const Tensor& bias = options.bias;
  check_rank("bias", bias, 2);
  ENCORE_REQUIRE(options.stride == 0, "a bias and a stride exclude each other");
  const std::int64_t longest = std::max(keys.size.longest, queries.size.longest + queries.size.past);
  ENCORE_REQUIRE(bias.extent(0) == options.heads && bias.extent(1) % 2 == 0 && bias.extent(1) >= 2 * longest,
                 "bias is " + describe(bias) + ", expected " + std::to_string(options.heads) +
                     " rows of twice as many distances as the " + std::to_string(longest) + " positions");
}

inline AttentionProblem make_problem(const RowSet& queries, const RowSet& keys,
                                     const AttentionOptions& options, std::int64_t width) {
  ENCORE_REQUIRE(options.heads >= 1 && width % options.heads == 0,
                 std::to_string(options.heads) + " heads do not divide the width " + std::to_string(width));
  ENCORE_REQUIRE(options.window >= 0,
                 "a window of " + std::to_string(options.window) + " tokens; 0 means all keys");
  ENCORE_REQUIRE(options.stride >= 0 && (options.stride == 0 || options.window > 0),
                 "a stride of " + std::to_string(options.stride) + " tokens with a window of " +
                     std::to_string(options.window) + "; a stride needs a window");
  ENCORE_REQUIRE(queries.size.sequences == keys.size.sequences,
                 "queries of " + std::to_string(queries.size.sequences) + " sequences and keys of " +
                     std::to_string(keys.size.sequences));
  ENCORE_REQUIRE(keys.size.longest <= 4 * 65536, "a sequence has at most 262144 tokens");
  if (options.bias) require_bias(queries, keys, options);
  const std::int64_t head_size = width / options.heads;
  const bool drop = options.training && options.dropout > 0.0;
  return {.queries = side_of(queries),
          .keys = side_of(keys),
          .examples = elements<std::int64_t>(queries.examples),
          .sequences = queries.size.sequences,
          .width = width,
          .heads = options.heads,
          .head_size = head_size,
          .scale = options.scaled ? 1.0 / std::sqrt(static_cast<double>(head_size)) : 1.0,
          .bias = options.bias.data,
          .reach = options.bias ? options.bias.extent(1) / 2 : 0,
          .alibi = options.alibi,
          .causal = options.causal,
          .window = options.window,
          .stride = options.stride,
          // Self-attention without a mask is always computed for all rows of a sequence at once, so it needs
          // no equal bits for a single row, and keeps the bits of recorded runs.
          .equal_rows = options.causal || queries.offsets.data != keys.offsets.data,
          .drop = drop,
          .random = Random(options.key),
          .dropped = Dropout(drop ? options.dropout : 0.0)};
}

}  // namespace encore::kernels
