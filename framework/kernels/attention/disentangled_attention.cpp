// SPDX-License-Identifier: BSD-3-Clause
// The kernels disentangled_attention and its backward (He et al. 2021): scores (q_i k_j + q_i kr_d + k_j
// qr_d) / sqrt(3 D) (encore/kernels.hpp). The layer of that name calls them. Kept for backward: weights (T,
// T) of each sequence and head; to compute them again takes twice the products of plain attention. One row of
// work is a query, a key or a distance, each with a head, so every sum has one thread and one order, which
// must stay for equal bits.
#include <cmath>

#include <encore/math.hpp>
#include <encore/random.hpp>
#include <encore/rows.hpp>

#include "kernels/attention/attention_problem.hpp"
#include "kernels/check.hpp"

namespace encore::kernels {
namespace {

struct DisentangledProblem {
  const std::int32_t* offsets;   // (B + 1)
  const std::int32_t* sequence;  // (N)
  const std::int64_t* examples;  // (N)
  std::int64_t sequences;        // B
  std::int64_t rows;             // N
  std::int64_t width;            // C
  std::int64_t heads;            // H
  std::int64_t size;             // D
  std::int64_t reach;            // R
  double scale;                  // (3 D)^-0.5
  bool causal;
  bool drop;
  Random random;
  Dropout dropped;
};

/// Where a head of a sequence lies: its rows, and its (T, T) weights.
struct HeadPlace {
  std::int64_t first, length, weights;
};

KOKKOS_INLINE_FUNCTION HeadPlace place_of(const DisentangledProblem& p, std::int64_t sequence,
                                          std::int64_t head) {
  std::int64_t before = 0;
  for (std::int64_t b = 0; b < sequence; ++b) {
    const std::int64_t length = p.offsets[b + 1] - p.offsets[b];
    before += length * length;
  }
  const std::int64_t first = p.offsets[sequence], length = p.offsets[sequence + 1] - first;
  return {first, length, before * p.heads + head * length * length};
}

/// Returns d(i, j), the row of qr and kr.
KOKKOS_FORCEINLINE_FUNCTION std::int64_t bucket(const DisentangledProblem& p, std::int64_t i,
                                                std::int64_t j) {
  const std::int64_t shifted = i - j + p.reach, last = 2 * p.reach - 1;
  return shifted < 0 ? 0 : shifted > last ? last : shifted;
}

/// The distances i - j of a bucket: [least, most].
struct Distances {
  std::int64_t least, most;
};
KOKKOS_INLINE_FUNCTION Distances distances_of(const DisentangledProblem& p, std::int64_t bucket,
                                              std::int64_t length) {
  const std::int64_t distance = bucket - p.reach;
  return {bucket == 0 ? -length : distance, bucket == 2 * p.reach - 1 ? length : distance};
}

/// The rows [least, most] of a sequence, as far as there are such.
struct RowRange {
  std::int64_t first, count;
};
KOKKOS_INLINE_FUNCTION RowRange limited(std::int64_t least, std::int64_t most, std::int64_t length) {
  const std::int64_t first = least > 0 ? least : 0, last = most < length ? most : length - 1;
  return {first, first <= last ? last - first + 1 : 0};
}

/// Returns the first key that is not seen.
KOKKOS_FORCEINLINE_FUNCTION std::int64_t seen_end(const DisentangledProblem& p, std::int64_t i,
                                                  std::int64_t length) {
  return p.causal ? i + 1 : length;
}

template <class S>
KOKKOS_INLINE_FUNCTION S dropout_factor(const DisentangledProblem& p, const HeadPlace& at, std::int64_t head,
                                        std::int64_t i, std::int64_t j) {
  if (!p.drop) return S(1);
  return p.dropped.factor<S>(p.random.word(p.examples[at.first], static_cast<std::uint32_t>(i),
                                           attention_counter(head), static_cast<std::uint32_t>(j),
                                           static_cast<std::uint32_t>(at.length)));
}

/// weights: P; out = P' V with P' = P times the factors of dropout. `gathered` (N, C) takes sums.
template <class T>
void attend(const Device& device, const DisentangledProblem& p, const SliceRows<const T>& q,
            const SliceRows<const T>& k, const SliceRows<const T>& v, const T* qr, const T* kr,
            Sum<T>* weights, T* out) {
  using S = Sum<T>;
  S* gathered = static_cast<S*>(device.workspace(static_cast<std::size_t>(p.rows * p.width) * sizeof(S)));
  for_uneven_rows(
      device, "encore::disentangled_attention", p.rows * p.heads, KOKKOS_LAMBDA(const Row& row) {
        const std::int64_t n = row.index / p.heads, head = row.index % p.heads, column = head * p.size;
        const HeadPlace at = place_of(p, p.sequence[n], head);
        const std::int64_t i = n - at.first, end = seen_end(p, i, at.length);
        const T* query = q[n] + column;
        S* own = weights + at.weights + i * at.length;
        for (std::int64_t j = 0; j < end; ++j) {
          const T* key = k[at.first + j] + column;
          const std::int64_t place = bucket(p, i, j) * p.width + column;
          const T* key_place = kr + place;
          const T* query_place = qr + place;
          const S score = row.sum<S>(p.size, [&](std::int64_t d) {
            const S content = static_cast<S>(key[d]);
            return static_cast<S>(query[d]) * (content + static_cast<S>(key_place[d])) +
                   content * static_cast<S>(query_place[d]);
          });
          row.once([&] { own[j] = score * static_cast<S>(p.scale); });
        }
        row.barrier();
        const S largest = row.max<S>(end, [&](std::int64_t j) { return own[j]; });
        row.each(end, [&](std::int64_t j) { own[j] = math::exp(own[j] - largest); });
        const S inverse = S(1) / row.sum<S>(end, [&](std::int64_t j) { return own[j]; });
        row.each(end, [&](std::int64_t j) { own[j] *= inverse; });
        row.each(at.length - end, [&](std::int64_t j) { own[end + j] = S(0); });
        row.barrier();
        S* sum = gathered + n * p.width + column;
        row.each(p.size, [&](std::int64_t d) { sum[d] = S(0); });
        for (std::int64_t j = 0; j < end; ++j) {
          const S weight = own[j] * dropout_factor<S>(p, at, head, i, j);
          const T* value = v[at.first + j] + column;
          row.each(p.size, [&](std::int64_t d) { sum[d] += weight * static_cast<S>(value[d]); });
        }
        T* to = out + n * p.width + column;
        row.each(p.size, [&](std::int64_t d) { to[d] = static_cast<T>(sum[d]); });
      });
}

/// Computes dscores = scale P (P's gradient - delta), delta = rowsum(dout out); weights becomes P'; and dq.
template <class T>
void make_query_gradients(const Device& device, const DisentangledProblem& p, const SliceRows<const T>& k,
                          const SliceRows<const T>& v, const T* kr, const T* out, const T* dout,
                          Sum<T>* weights, Sum<T>* dscores, const SliceRows<T>& dq) {
  using S = Sum<T>;
  S* gathered = static_cast<S*>(device.workspace(static_cast<std::size_t>(p.rows * p.width) * sizeof(S)));
  for_uneven_rows(
      device, "encore::disentangled_attention_backward_queries", p.rows * p.heads,
      KOKKOS_LAMBDA(const Row& row) {
        const std::int64_t n = row.index / p.heads, head = row.index % p.heads, column = head * p.size;
        const HeadPlace at = place_of(p, p.sequence[n], head);
        const std::int64_t i = n - at.first, end = seen_end(p, i, at.length);
        const T* dy = dout + n * p.width + column;
        const T* y = out + n * p.width + column;
        S* own = weights + at.weights + i * at.length;
        S* gradients = dscores + at.weights + i * at.length;
        S* sum = gathered + n * p.width + column;
        row.each(p.size, [&](std::int64_t d) { sum[d] = S(0); });
        const S delta =
            row.sum<S>(p.size, [&](std::int64_t d) { return static_cast<S>(dy[d]) * static_cast<S>(y[d]); });
        for (std::int64_t j = 0; j < end; ++j) {
          const T* value = v[at.first + j] + column;
          const S factor = dropout_factor<S>(p, at, head, i, j), weight = own[j];
          const S dweight = factor * row.sum<S>(p.size, [&](std::int64_t d) {
            return static_cast<S>(dy[d]) * static_cast<S>(value[d]);
          });
          const S ds = static_cast<S>(p.scale) * weight * (dweight - delta);
          const T* key = k[at.first + j] + column;
          const T* key_place = kr + bucket(p, i, j) * p.width + column;
          row.each(p.size, [&](std::int64_t d) {
            sum[d] += ds * (static_cast<S>(key[d]) + static_cast<S>(key_place[d]));
          });
          row.barrier();  // all lanes have read own[j]
          row.once([&] {
            gradients[j] = ds;
            own[j] = weight * factor;
          });
        }
        row.each(at.length - end, [&](std::int64_t j) { gradients[end + j] = S(0); });
        T* to = dq[n] + column;
        row.each(p.size, [&](std::int64_t d) { to[d] = static_cast<T>(sum[d]); });
      });
}

template <class T>
void make_key_gradients(const Device& device, const DisentangledProblem& p, const SliceRows<const T>& q,
                        const T* qr, const T* dout, const Sum<T>* weights, const Sum<T>* dscores,
                        const SliceRows<T>& dk, const SliceRows<T>& dv) {
  using S = Sum<T>;
  S* gathered = static_cast<S*>(device.workspace(static_cast<std::size_t>(2 * p.rows * p.width) * sizeof(S)));
  for_uneven_rows(
      device, "encore::disentangled_attention_backward_keys", p.rows * p.heads,
      KOKKOS_LAMBDA(const Row& row) {
        const std::int64_t n = row.index / p.heads, head = row.index % p.heads, column = head * p.size;
        const HeadPlace at = place_of(p, p.sequence[n], head);
        const std::int64_t j = n - at.first;
        S* keys = gathered + 2 * (n * p.width + column);
        S* values = keys + p.size;
        row.each(p.size, [&](std::int64_t d) { keys[d] = values[d] = S(0); });
        for (std::int64_t i = p.causal ? j : 0; i < at.length; ++i) {
          const S ds = dscores[at.weights + i * at.length + j],
                  weight = weights[at.weights + i * at.length + j];
          const T* query = q[at.first + i] + column;
          const T* query_place = qr + bucket(p, i, j) * p.width + column;
          const T* dy = dout + (at.first + i) * p.width + column;
          row.each(p.size, [&](std::int64_t d) {
            keys[d] += ds * (static_cast<S>(query[d]) + static_cast<S>(query_place[d]));
            values[d] += weight * static_cast<S>(dy[d]);
          });
        }
        T* to_key = dk[n] + column;
        T* to_value = dv[n] + column;
        row.each(p.size, [&](std::int64_t d) {
          to_key[d] = static_cast<T>(keys[d]);
          to_value[d] = static_cast<T>(values[d]);
        });
      });
}

/// Computes dkr_r = sum over the pairs with d(i, j) = r of dscore q_i, and dqr_r with dscore k_j: for each
/// row the dscores of its pairs are added first, then the rows in their order.
template <class T>
void make_place_gradients(const Device& device, const DisentangledProblem& p, const SliceRows<const T>& q,
                          const SliceRows<const T>& k, const Sum<T>* dscores, T* dqr, T* dkr) {
  using S = Sum<T>;
  const std::int64_t buckets = 2 * p.reach;
  S* gathered =
      static_cast<S*>(device.workspace(static_cast<std::size_t>(2 * buckets * p.width) * sizeof(S)));
  for_uneven_rows(
      device, "encore::disentangled_attention_backward_places", buckets * p.heads,
      KOKKOS_LAMBDA(const Row& row) {
        const std::int64_t r = row.index / p.heads, head = row.index % p.heads, column = head * p.size;
        S* keys = gathered + 2 * (r * p.width + column);
        S* queries = keys + p.size;
        row.each(p.size, [&](std::int64_t d) { keys[d] = queries[d] = S(0); });
        for (std::int64_t b = 0; b < p.sequences; ++b) {
          const HeadPlace at = place_of(p, b, head);
          const Distances of = distances_of(p, r, at.length);
          const S* gradients = dscores + at.weights;
          for (std::int64_t t = 0; t < at.length; ++t) {
            // The keys that row t has as a query, and the queries that it has as a key.
            const RowRange keys_of = limited(t - of.most, t - of.least, at.length);
            const RowRange queries_of = limited(t + of.least, t + of.most, at.length);
            const S as_query = row.sum<S>(
                keys_of.count, [&](std::int64_t o) { return gradients[t * at.length + keys_of.first + o]; });
            const S as_key = row.sum<S>(queries_of.count, [&](std::int64_t o) {
              return gradients[(queries_of.first + o) * at.length + t];
            });
            const T* query = q[at.first + t] + column;
            const T* key = k[at.first + t] + column;
            row.each(p.size, [&](std::int64_t d) {
              keys[d] += as_query * static_cast<S>(query[d]);
              queries[d] += as_key * static_cast<S>(key[d]);
            });
          }
        }
        T* to_key = dkr + r * p.width + column;
        T* to_query = dqr + r * p.width + column;
        row.each(p.size, [&](std::int64_t d) {
          to_key[d] = static_cast<T>(keys[d]);
          to_query[d] = static_cast<T>(queries[d]);
        });
      });
}

/// Checks what forward and backward have in common.
DisentangledProblem make_problem(const RowSet& rows, const AttentionOptions& options, const Slice& q,
                                 const Slice& k, const Slice& v, const Tensor& qr, const Tensor& kr,
                                 const Tensor& weights, const Tensor& out) {
  check_rank("out", out, 2);
  check_rank("qr", qr, 2);
  const std::int64_t count = rows.size.tokens, width = out.extent(1), buckets = qr.extent(0);
  ENCORE_REQUIRE(options.heads >= 1 && width % options.heads == 0,
                 std::to_string(options.heads) + " heads do not divide the width " + std::to_string(width));
  ENCORE_REQUIRE(buckets >= 2 && buckets % 2 == 0,
                 "qr is " + describe(qr) + ", expected twice as many rows as the longest distance");
  check("out", out, out.dtype, {count, width});
  check("q", q, out.dtype, count, width);
  check("k", k, out.dtype, count, width);
  check("v", v, out.dtype, count, width);
  check("qr", qr, out.dtype, {buckets, width});
  check("kr", kr, out.dtype, {buckets, width});
  check("weights", weights, sum_type(out.dtype), {rows.size.squares, options.heads});
  const std::int64_t size = width / options.heads;
  const bool drop = options.training && options.dropout > 0.0;
  return {.offsets = elements<std::int32_t>(rows.offsets),
          .sequence = elements<std::int32_t>(rows.sequence),
          .examples = elements<std::int64_t>(rows.examples),
          .sequences = rows.size.sequences,
          .rows = count,
          .width = width,
          .heads = options.heads,
          .size = size,
          .reach = buckets / 2,
          .scale = 1.0 / std::sqrt(3.0 * static_cast<double>(size)),
          .causal = options.causal,
          .drop = drop,
          .random = Random(options.key),
          .dropped = Dropout(drop ? options.dropout : 0.0)};
}

}  // namespace

void disentangled_attention(const Device& device, const RowSet& rows, const AttentionOptions& options,
                            const Slice& q, const Slice& k, const Slice& v, Tensor qr, Tensor kr,
                            Tensor weights, Tensor out) {
  const DisentangledProblem p = make_problem(rows, options, q, k, v, qr, kr, weights, out);
  dispatch(out.dtype, [&](auto type) {
    using T = decltype(type);
    attend<T>(device, p, slice_rows<const T>(q), slice_rows<const T>(k), slice_rows<const T>(v),
              elements<T>(qr), elements<T>(kr), elements<Sum<T>>(weights), elements<T>(out));
  });
}

void disentangled_attention_backward(const Device& device, const RowSet& rows,
                                     const AttentionOptions& options, const Slice& q, const Slice& k,
                                     const Slice& v, Tensor qr, Tensor kr, Tensor weights, Tensor out,
                                     Tensor dout, Tensor dscores, const Slice& dq, const Slice& dk,
                                     const Slice& dv, Tensor dqr, Tensor dkr) {
  const DisentangledProblem p = make_problem(rows, options, q, k, v, qr, kr, weights, out);
  check("dout", dout, out.dtype, {p.rows, p.width});
  check("dscores", dscores, weights.dtype, {weights.extent(0), weights.extent(1)});
  check("dq", dq, out.dtype, p.rows, p.width);
  check("dk", dk, out.dtype, p.rows, p.width);
  check("dv", dv, out.dtype, p.rows, p.width);
  check("dqr", dqr, out.dtype, {2 * p.reach, p.width});
  check("dkr", dkr, out.dtype, {2 * p.reach, p.width});
  dispatch(out.dtype, [&](auto type) {
    using T = decltype(type);
    using S = Sum<T>;
    const SliceRows<const T> queries = slice_rows<const T>(q), keys = slice_rows<const T>(k);
    S* kept = elements<S>(weights);
    S* gradients = elements<S>(dscores);
    make_query_gradients<T>(device, p, keys, slice_rows<const T>(v), elements<T>(kr), elements<T>(out),
                            elements<T>(dout), kept, gradients, slice_rows<T>(dq));
    make_key_gradients<T>(device, p, queries, elements<T>(qr), elements<T>(dout), kept, gradients,
                          slice_rows<T>(dk), slice_rows<T>(dv));
    make_place_gradients<T>(device, p, queries, keys, gradients, elements<T>(dqr), elements<T>(dkr));
  });
}

}  // namespace encore::kernels
