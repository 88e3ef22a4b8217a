// SPDX-License-Identifier: BSD-3-Clause
// The kernel that returns the weights of softmax attention for display (`exp attention`): it computes them
// again from queries, keys and log_sum, as the backward pass does (attention_pairs.hpp), one thread per query
// and head, or copies them if the layer has kept them. A training step never calls it, so its speed does not
// matter.
#include <encore/attention_weights.hpp>
#include <encore/rows.hpp>

#include "kernels/attention/attention_arguments.hpp"
#include "kernels/attention/attention_pairs.hpp"

namespace encore::kernels {
namespace {

/// Computes weights[h][i][j] = exp(scale q_i k_j - slope |i - j| + bias[j - i] - log_sum_i) over the keys
/// that query i sees, else 0.
template <class T>
void recompute_weights(const Device& device, const PairwiseAttentionBackward<T>& pairs, std::int64_t sequence,
                       std::int64_t queries, std::int64_t keys, Sum<T>* weights) {
  using S = Sum<T>;
  for_rows(
      device, "encore::attention_weights", pairs.p.heads * queries, KOKKOS_LAMBDA(const Row& row) {
        const AttentionProblem& p = pairs.p;
        const std::int64_t head = row.index / queries, i = row.index % queries;
        const AttentionSequence of = sequence_of(p, sequence);
        const S slope = static_cast<S>(alibi_slope(p, head));
        S* own = weights + row.index * keys;
        row.each(keys, [&](std::int64_t j) { own[j] = S(0); });
        row.barrier();
        row.once([&] {
          each_seen(p, of.position + i, of.keys,
                    [&](std::int64_t j) { own[j] = pairs.weight(of, head, of.first_query + i, j, slope); });
        });
      });
}

/// Sets weights (H, T, T) = the block of the sequence in `kept`, where those of the sequences before it come
/// first.
template <class S>
void copy_block(const Device& device, const std::int32_t* offsets, std::int64_t heads, std::int64_t sequence,
                std::int64_t count, const S* kept, S* weights) {
  for_rows(
      device, "encore::disentangled_attention_weights", 1, KOKKOS_LAMBDA(const Row& row) {
        std::int64_t before = 0;
        for (std::int64_t b = 0; b < sequence; ++b) {
          const std::int64_t length = offsets[b + 1] - offsets[b];
          before += length * length;
        }
        row.each(count, [&](std::int64_t i) { weights[i] = kept[before * heads + i]; });
      });
}

void check_sequence(std::int64_t sequence, const RowSet& rows) {
  ENCORE_REQUIRE(
      sequence >= 0 && sequence < rows.size.sequences,
      "sequence " + std::to_string(sequence) + " of a batch of " + std::to_string(rows.size.sequences));
}

}  // namespace

void attention_weights(const Device& device, const RowSet& queries, const RowSet& keys,
                       const AttentionOptions& options, const Slice& q, const Slice& k, Tensor log_sum,
                       std::int64_t sequence, Tensor weights) {
  check_sequence(sequence, queries);
  const DType type = q.matrix.dtype;
  check("q", q, type, queries.size.tokens, q.width);
  check("k", k, type, keys.size.tokens, q.width);
  check("log_sum", log_sum, sum_type(type), {queries.size.tokens, options.heads});
  check_bias(options, type);
  check_rank("weights", weights, 3);
  const std::int64_t rows = weights.extent(1), columns = weights.extent(2);
  check("weights", weights, sum_type(type), {options.heads, rows, columns});
  AttentionOptions undropped = options;
  undropped.dropout = 0.0;
  const AttentionProblem problem = make_problem(queries, keys, undropped, q.width);
  if (rows == 0 || columns == 0) return;
  dispatch(type, [&](auto of) {
    using T = decltype(of);
    PairwiseAttentionBackward<T> pairs{.p = problem,
                                       .q = slice_rows<const T>(q),
                                       .k = slice_rows<const T>(k),
                                       .v = {},
                                       .log_sum = elements<Sum<T>>(log_sum),
                                       .dout = nullptr,
                                       .delta = nullptr,
                                       .dq = {},
                                       .dk = {},
                                       .dv = {},
                                       .gathered = nullptr};
    recompute_weights<T>(device, pairs, sequence, rows, columns, elements<Sum<T>>(weights));
  });
}

void disentangled_attention_weights(const Device& device, const RowSet& rows, std::int64_t heads, Tensor kept,
                                    std::int64_t sequence, Tensor weights) {
  check_sequence(sequence, rows);
  check("kept", kept, weights.dtype, {rows.size.squares, heads});
  check_rank("weights", weights, 3);
  check("weights", weights, weights.dtype, {heads, weights.extent(1), weights.extent(1)});
  const auto* offsets = elements<std::int32_t>(rows.offsets);
  if (weights.dtype == DType::float64)
    copy_block<double>(device, offsets, heads, sequence, weights.size(), elements<double>(kept),
                       elements<double>(weights));
  else
    copy_block<float>(device, offsets, heads, sequence, weights.size(), elements<float>(kept),
                      elements<float>(weights));
}

}  // namespace encore::kernels
