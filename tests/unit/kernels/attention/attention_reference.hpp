// SPDX-License-Identifier: BSD-3-Clause
// attention_reference(): attention with explicit weights in double, one sequence and head at a time, forward
// and backward; and what its tests share: RowsAt (row sets whose first position is given) and columns of
// packed values. The tests of this folder and bits_test.cpp include it. It follows the formulas of
// kernels/attention/attention_host.hpp and must stay simple enough to be checked by reading.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include <encore/random.hpp>

#include "unit/kernels/kernel_test.hpp"

namespace encore::test {

using Lengths = std::vector<std::int64_t>;

/// Returns columns [first, first + count) of values with `columns` in a row.
inline Values columns_of(const Values& values, std::int64_t columns, std::int64_t first, std::int64_t count) {
  Values result;
  for (std::size_t row = 0; row < values.size(); row += static_cast<std::size_t>(columns))
    for (std::int64_t c = first; c < first + count; ++c)
      result.push_back(values[row + static_cast<std::size_t>(c)]);
  return result;
}

/// A row set of sequences whose rows begin at these positions, with the tables that kernels read. Sequence b
/// is example 100 + 3 b, as in OwnedBatch (contract/test_memory.hpp).
class RowsAt {
 public:
  RowsAt(const Lengths& lengths, const Lengths& first_positions) {
    Values offsets{0.0}, sequence, positions, examples;
    for (std::size_t b = 0; b < lengths.size(); ++b) {
      for (std::int64_t t = 0; t < lengths[b]; ++t) {
        sequence.push_back(static_cast<double>(b));
        positions.push_back(static_cast<double>(first_positions[b] + t));
        examples.push_back(static_cast<double>(100 + 3 * b));
      }
      offsets.push_back(static_cast<double>(sequence.size()));
      rows_.size.longest = std::max(rows_.size.longest, lengths[b]);
      rows_.size.past = std::max(rows_.size.past, first_positions[b]);
    }
    rows_.size.tokens = static_cast<std::int64_t>(sequence.size());
    rows_.size.sequences = static_cast<std::int64_t>(lengths.size());
    rows_.offsets = own(DType::int32, offsets);
    rows_.sequence = own(DType::int32, sequence);
    rows_.positions = own(DType::int32, positions);
    rows_.examples = own(DType::int64, examples);
  }
  explicit RowsAt(const Lengths& lengths) : RowsAt(lengths, Lengths(lengths.size(), 0)) {}
  operator const RowSet&() const { return rows_; }
  std::int64_t count() const { return rows_.size.tokens; }

 private:
  Tensor own(DType type, const Values& values) {
    memory_.emplace_back(type, std::vector<std::int64_t>{static_cast<std::int64_t>(values.size())});
    memory_.back().set(values);
    return memory_.back();
  }
  std::vector<contract::OwnedTensor> memory_;
  RowSet rows_;
};

/// Returns the factor that dropout puts on one weight, drawn from the random word that kernels.hpp specifies.
inline double dropout_factor(const kernels::AttentionOptions& options, std::int64_t example,
                             std::int64_t head, std::int64_t query, std::int64_t key, std::int64_t keys) {
  if (!options.training || options.dropout == 0.0) return 1.0;
  const std::uint32_t word =
      Random(options.key)
          .word(example, static_cast<std::uint32_t>(query), static_cast<std::uint32_t>(head) << 16,
                static_cast<std::uint32_t>(key), static_cast<std::uint32_t>(keys));
  return Dropout(options.dropout).factor<double>(word);
}

/// Returns the slope of each head by recursion, as the program of the ALiBi paper computes it.
inline Values alibi_slopes(std::int64_t heads) {
  const auto power = static_cast<std::int64_t>(std::exp2(std::floor(std::log2(static_cast<double>(heads)))));
  Values slopes;
  for (std::int64_t h = 1; h <= power; ++h)
    slopes.push_back(std::pow(std::pow(2.0, -8.0 / static_cast<double>(power)), static_cast<double>(h)));
  if (heads == power) return slopes;
  const Values finer = alibi_slopes(2 * power);
  for (std::size_t i = 0; static_cast<std::int64_t>(slopes.size()) < heads; i += 2)
    slopes.push_back(finer[i]);
  return slopes;
}

/// The sizes of one attention: lengths on both sides, and the position of each sequence's first query.
struct AttentionCase {
  Lengths queries, keys, positions;
  kernels::AttentionOptions options;
  std::int64_t width;
  Values bias = {};  ///< (H, 2 M), the values of options.bias; empty without one
};

struct AttentionResult {
  Values out, log_sum, dq, dk, dv;
  Values dbias = {};  ///< (N, 2 H); empty without a bias
};

/// Computes outputs and gradients. q and dout are (N2, C), k and v are (N, C).
inline AttentionResult attention_reference(const AttentionCase& of, const Values& q, const Values& k,
                                           const Values& v, const Values& dout) {
  const kernels::AttentionOptions& options = of.options;
  const std::int64_t size = of.width / options.heads;
  const double scale = options.scaled ? 1.0 / std::sqrt(static_cast<double>(size)) : 1.0;
  const std::int64_t reach = std::ssize(of.bias) / (2 * options.heads);
  const Values slopes = alibi_slopes(options.heads);
  AttentionResult r{
      Values(q.size(), 0.0),
      Values(q.size() / static_cast<std::size_t>(of.width) * static_cast<std::size_t>(options.heads), 0.0),
      Values(q.size(), 0.0), Values(k.size(), 0.0), Values(v.size(), 0.0)};
  if (reach > 0)
    r.dbias.assign(
        static_cast<std::size_t>(2 * options.heads) * k.size() / static_cast<std::size_t>(of.width), 0.0);
  std::int64_t first_query = 0, first_key = 0;
  for (std::size_t b = 0; b < of.queries.size(); first_query += of.queries[b], first_key += of.keys[b], ++b)
    for (std::int64_t h = 0; h < options.heads; ++h) {
      const std::int64_t keys = of.keys[b];
      const auto at = [&](std::int64_t row, std::int64_t d) {
        return static_cast<std::size_t>(row * of.width + h * size + d);
      };
      for (std::int64_t i = 0; i < of.queries[b]; ++i) {
        const std::int64_t position = of.positions[b] + i, query = first_query + i;
        Values weights, dkept;
        double sum = 0.0, delta = 0.0;
        for (std::int64_t j = 0; j < keys; ++j) {
          double score = 0.0;
          for (std::int64_t d = 0; d < size; ++d) score += q[at(query, d)] * k[at(first_key + j, d)] * scale;
          const std::int64_t distance = std::abs(position - j);
          if (reach > 0) score += of.bias[static_cast<std::size_t>((2 * h + 1) * reach + j - position)];
          if (options.alibi) score -= slopes[static_cast<std::size_t>(h)] * static_cast<double>(distance);
          const bool near = options.window == 0 || distance <= options.window;
          const bool on_stride = options.stride > 0 && distance % options.stride == 0;
          const bool seen = (near || on_stride) && !(options.causal && j > position);
          weights.push_back(seen ? std::exp(score) : 0.0);
          sum += weights.back();
        }
        r.log_sum[static_cast<std::size_t>(query * options.heads + h)] = std::log(sum);
        if (sum == 0.0) continue;
        for (std::int64_t j = 0; j < keys; ++j) {
          double& weight = weights[static_cast<std::size_t>(j)];
          weight /= sum;
          const double factor =
              dropout_factor(options, 100 + 3 * static_cast<std::int64_t>(b), h, position, j, keys);
          double gradient = 0.0;
          for (std::int64_t d = 0; d < size; ++d) {
            r.out[at(query, d)] += weight * factor * v[at(first_key + j, d)];
            gradient += dout[at(query, d)] * v[at(first_key + j, d)];
            r.dv[at(first_key + j, d)] += weight * factor * dout[at(query, d)];
          }
          dkept.push_back(gradient * factor);
          delta += dkept.back() * weight;
        }
        for (std::int64_t j = 0; j < keys; ++j) {
          const auto key = static_cast<std::size_t>(j);
          const double unscaled = weights[key] * (dkept[key] - delta), ds = unscaled * scale;
          if (reach > 0)
            r.dbias[static_cast<std::size_t>(2 * first_key * options.heads + (2 * h + 1) * keys + j -
                                             position)] += unscaled;
          for (std::int64_t d = 0; d < size; ++d) {
            r.dq[at(query, d)] += ds * k[at(first_key + j, d)];
            r.dk[at(first_key + j, d)] += ds * q[at(query, d)];
          }
        }
      }
    }
  return r;
}

/// Computes attention from the values of a packed qkv (N, 3 C).
inline AttentionResult self_attention_reference(const AttentionCase& of, const Values& qkv,
                                                const Values& dout) {
  const std::int64_t width = of.width;
  return attention_reference(of, columns_of(qkv, 3 * width, 0, width),
                             columns_of(qkv, 3 * width, width, width),
                             columns_of(qkv, 3 * width, 2 * width, width), dout);
}

/// Expects the results of a packed self-attention; dqkv is (N, 3 C).
inline void expect_self_attention(const contract::OwnedTensor& out, const contract::OwnedTensor& log_sum,
                                  const contract::OwnedTensor& dqkv, const AttentionResult& expected,
                                  double tolerance, const std::string& what) {
  const bool rounds = size_of(out.tensor().dtype) == 2;
  const std::int64_t width = out.tensor().extent(1);
  expect_close(out, expected.out, tolerance, what + " out");
  expect_close(log_sum, expected.log_sum, rounds ? 1e-5 : tolerance, what + " log_sum");
  const Values dqkvs = dqkv.values();
  int number = 0;
  for (const Values* gradient : {&expected.dq, &expected.dk, &expected.dv}) {
    expect_close(columns_of(dqkvs, 3 * width, width * number, width), *gradient, 10 * tolerance,
                 what + " part " + std::to_string(number) + " of dqkv");
    ++number;
  }
}

/// Returns part 0, 1 or 2 of a packed (N, 3 C): queries, keys or values.
inline kernels::Slice part(const Tensor& packed, std::int64_t number) {
  const std::int64_t width = packed.extent(1) / 3;
  return {packed, number * width, width};
}

/// Runs the kernels of self-attention over a packed qkv (N, 3 C).
inline void self_attention(const RowSet& rows, const kernels::AttentionOptions& options, const Tensor& qkv,
                           const Tensor& out, const Tensor& log_sum) {
  kernels::attention(device(), rows, rows, options, part(qkv, 0), part(qkv, 1), part(qkv, 2), out, log_sum);
}
inline void self_attention_backward(const RowSet& rows, const kernels::AttentionOptions& options,
                                    const Tensor& qkv, const Tensor& out, const Tensor& log_sum,
                                    const Tensor& dout, const Tensor& dqkv, const Tensor& dbias = {}) {
  kernels::attention_backward(device(), rows, rows, options, part(qkv, 0), part(qkv, 1), part(qkv, 2), out,
                              log_sum, dout, part(dqkv, 0), part(dqkv, 1), part(dqkv, 2), dbias);
}

}  // namespace encore::test
