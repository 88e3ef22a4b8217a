// SPDX-License-Identifier: BSD-3-Clause
// The kernels linear_attention and its backward (Katharopoulos et al. 2020): per head out_i = f(q_i) S /
// (f(q_i) z + 1e-6) with S (D, D) = sum_j f(k_j)^T v_j, z (D) = sum_j f(k_j) over the sequence and f(x) =
// elu(x) + 1, so that time and memory grow with T, not T * T. The layer linear_attention calls them. Kept for
// backward: features (N, 2 C), sums (B, C (D + 1)), norms (N, H).
//
// The 1e-6 is that of the authors' program. With g_i = dout_i / norm_i and c_i = -dout_i out_i / norm_i:
//   df(q_i) = g_i S^T + c_i z,  dS = sum_i f(q_i)^T g_i,  dz = sum_i f(q_i) c_i,
//   df(k_j) = v_j dS^T + dz,  dv_j = f(k_j) dS.
// Every sum has one thread (one warp on a GPU) and runs over rows in their order, which must stay for equal
// bits. A row of S with its element of z, D + 1 numbers, is called a line.
#include <encore/math.hpp>
#include <encore/rows.hpp>

#include "kernels/attention/attention_problem.hpp"
#include "kernels/check.hpp"

namespace encore::kernels {
namespace {

constexpr double least_norm = 1e-6;

/// The sizes and the row set that all kernels of this file share.
struct LinearProblem {
  const std::int32_t* offsets;   // (B + 1)
  const std::int32_t* sequence;  // (N)
  std::int64_t sequences;        // B
  std::int64_t rows;             // N
  std::int64_t width;            // C
  std::int64_t heads;            // H
  std::int64_t size;             // D

  /// Returns the place of the head's first line in a tensor shaped like sums.
  KOKKOS_INLINE_FUNCTION std::int64_t lines(std::int64_t row, std::int64_t head) const {
    return (sequence[row] * heads + head) * size * (size + 1);
  }
};

/// Returns elu(x) + 1.
template <class S>
KOKKOS_FORCEINLINE_FUNCTION S feature(S x) {
  const S falling = math::exp(x < S(0) ? x : S(0));
  return x > S(0) ? x + S(1) : falling;
}
/// Returns the derivative of feature(), from x and feature(x).
template <class S>
KOKKOS_FORCEINLINE_FUNCTION S feature_slope(S x, S value) {
  return x > S(0) ? S(1) : value;
}

/// Computes features (N, 2 C): f(q), then f(k).
template <class T>
void make_features(const Device& device, const LinearProblem& p, const SliceRows<const T>& q,
                   const SliceRows<const T>& k, Sum<T>* features) {
  using S = Sum<T>;
  for_rows(
      device, "encore::linear_attention_features", p.rows, KOKKOS_LAMBDA(const Row& row) {
        const T* queries = q[row.index];
        const T* keys = k[row.index];
        S* to = features + row.index * 2 * p.width;
        row.each(p.width, [&](std::int64_t c) { to[c] = feature(static_cast<S>(queries[c])); });
        row.each(p.width, [&](std::int64_t c) { to[p.width + c] = feature(static_cast<S>(keys[c])); });
      });
}

/// Computes line d of a head: the sum over the rows i of its sequence of left_i(d) * (right_i, last_i), for a
/// tensor of lines. left: columns `first_left` + h D + d of features; right: (N, C) by head, divided by norms
/// if there are some; lasts (N, H), or null for ones.
template <class T>
void add_up_lines(const Device& device, const char* label, const LinearProblem& p, const Sum<T>* features,
                  std::int64_t first_left, const SliceRows<const T>& right, const Sum<T>* norms,
                  const Sum<T>* lasts, Sum<T>* lines) {
  using S = Sum<T>;
  for_uneven_rows(
      device, label, p.sequences * p.width, KOKKOS_LAMBDA(const Row& row) {
        const std::int64_t sequence = row.index / p.width, column = row.index % p.width;
        const std::int64_t head = column / p.size, first = head * p.size;
        S* to = lines + row.index * (p.size + 1);
        row.each(p.size, [&](std::int64_t e) { to[e] = S(0); });
        S last = S(0);
        for (std::int64_t i = p.offsets[sequence]; i < p.offsets[sequence + 1]; ++i) {
          const S left = features[i * 2 * p.width + first_left + column];
          const S factor = norms == nullptr ? left : left / norms[i * p.heads + head];
          const T* values = right[i] + first;
          row.each(p.size, [&](std::int64_t e) { to[e] += factor * static_cast<S>(values[e]); });
          last += lasts == nullptr ? left : left * lasts[i * p.heads + head];
        }
        row.once([&] { to[p.size] = last; });
      });
}

template <class T>
void make_outputs(const Device& device, const LinearProblem& p, const Sum<T>* features, const Sum<T>* sums,
                  Sum<T>* norms, T* out) {
  using S = Sum<T>;
  S* gathered = static_cast<S*>(device.workspace(static_cast<std::size_t>(p.rows * p.width) * sizeof(S)));
  for_rows(
      device, "encore::linear_attention", p.rows * p.heads, KOKKOS_LAMBDA(const Row& row) {
        const std::int64_t i = row.index / p.heads, head = row.index % p.heads, first = head * p.size;
        const S* query = features + i * 2 * p.width + first;
        const S* lines = sums + p.lines(i, head);
        S* sum = gathered + i * p.width + first;
        row.each(p.size, [&](std::int64_t e) { sum[e] = S(0); });
        S norm = static_cast<S>(least_norm);
        for (std::int64_t d = 0; d < p.size; ++d) {
          const S* line = lines + d * (p.size + 1);
          const S factor = query[d];
          row.each(p.size, [&](std::int64_t e) { sum[e] += factor * line[e]; });
          norm += factor * line[p.size];
        }
        T* to = out + i * p.width + first;
        row.each(p.size, [&](std::int64_t e) { to[e] = static_cast<T>(sum[e] / norm); });
        row.once([&] { norms[row.index] = norm; });
      });
}

/// Computes dnorms (N, H): c_i; and dq.
template <class T>
void make_query_gradients(const Device& device, const LinearProblem& p, const SliceRows<const T>& q,
                          const Sum<T>* features, const Sum<T>* sums, const Sum<T>* norms, const T* out,
                          const T* dout, Sum<T>* dnorms, const SliceRows<T>& dq) {
  using S = Sum<T>;
  for_rows(
      device, "encore::linear_attention_backward_queries", p.rows * p.heads, KOKKOS_LAMBDA(const Row& row) {
        const std::int64_t i = row.index / p.heads, head = row.index % p.heads, first = head * p.size;
        const T* gradient = dout + i * p.width + first;
        const T* result = out + i * p.width + first;
        const S inverse = S(1) / norms[row.index];
        const S product = row.sum<S>(
            p.size, [&](std::int64_t e) { return static_cast<S>(gradient[e]) * static_cast<S>(result[e]); });
        const S dnorm = -product * inverse;
        const S* lines = sums + p.lines(i, head);
        for (std::int64_t d = 0; d < p.size; ++d) {
          const S* line = lines + d * (p.size + 1);
          const S along =
              row.sum<S>(p.size, [&](std::int64_t e) { return static_cast<S>(gradient[e]) * line[e]; });
          const S slope =
              feature_slope(static_cast<S>(q[i][first + d]), features[i * 2 * p.width + first + d]);
          const S value = (along * inverse + dnorm * line[p.size]) * slope;
          row.once([&] { dq[i][first + d] = static_cast<T>(value); });
        }
        row.once([&] { dnorms[row.index] = dnorm; });
      });
}

template <class T>
void make_key_gradients(const Device& device, const LinearProblem& p, const SliceRows<const T>& k,
                        const SliceRows<const T>& v, const Sum<T>* features, const Sum<T>* dsums,
                        const SliceRows<T>& dk, const SliceRows<T>& dv) {
  using S = Sum<T>;
  S* gathered = static_cast<S*>(device.workspace(static_cast<std::size_t>(p.rows * p.width) * sizeof(S)));
  for_rows(
      device, "encore::linear_attention_backward_keys", p.rows * p.heads, KOKKOS_LAMBDA(const Row& row) {
        const std::int64_t j = row.index / p.heads, head = row.index % p.heads, first = head * p.size;
        const S* key = features + j * 2 * p.width + p.width + first;
        const T* values = v[j] + first;
        const S* lines = dsums + p.lines(j, head);
        S* sum = gathered + j * p.width + first;
        row.each(p.size, [&](std::int64_t e) { sum[e] = S(0); });
        for (std::int64_t d = 0; d < p.size; ++d) {
          const S* line = lines + d * (p.size + 1);
          const S factor = key[d];
          row.each(p.size, [&](std::int64_t e) { sum[e] += factor * line[e]; });
          const S along =
              row.sum<S>(p.size, [&](std::int64_t e) { return static_cast<S>(values[e]) * line[e]; });
          const S value = (along + line[p.size]) * feature_slope(static_cast<S>(k[j][first + d]), factor);
          row.once([&] { dk[j][first + d] = static_cast<T>(value); });
        }
        T* to = dv[j] + first;
        row.each(p.size, [&](std::int64_t e) { to[e] = static_cast<T>(sum[e]); });
      });
}

/// Checks what forward and backward have in common.
LinearProblem make_problem(const RowSet& rows, std::int64_t heads, const Slice& q, const Slice& k,
                           const Slice& v, const Tensor& features, const Tensor& sums, const Tensor& norms,
                           const Tensor& out) {
  check_rank("out", out, 2);
  const std::int64_t count = rows.size.tokens, width = out.extent(1);
  ENCORE_REQUIRE(heads >= 1 && width % heads == 0,
                 std::to_string(heads) + " heads do not divide the width " + std::to_string(width));
  const DType sum = sum_type(out.dtype);
  check("out", out, out.dtype, {count, width});
  check("q", q, out.dtype, count, width);
  check("k", k, out.dtype, count, width);
  check("v", v, out.dtype, count, width);
  check("features", features, sum, {count, 2 * width});
  check("sums", sums, sum, {rows.size.sequences, width * (width / heads + 1)});
  check("norms", norms, sum, {count, heads});
  return {.offsets = elements<std::int32_t>(rows.offsets),
          .sequence = elements<std::int32_t>(rows.sequence),
          .sequences = rows.size.sequences,
          .rows = count,
          .width = width,
          .heads = heads,
          .size = width / heads};
}

}  // namespace

void linear_attention(const Device& device, const RowSet& rows, std::int64_t heads, const Slice& q,
                      const Slice& k, const Slice& v, Tensor features, Tensor sums, Tensor norms,
                      Tensor out) {
  const LinearProblem p = make_problem(rows, heads, q, k, v, features, sums, norms, out);
  dispatch(out.dtype, [&](auto type) {
    using T = decltype(type);
    using S = Sum<T>;
    S* kept = elements<S>(features);
    make_features<T>(device, p, slice_rows<const T>(q), slice_rows<const T>(k), kept);
    add_up_lines<T>(device, "encore::linear_attention_sums", p, kept, p.width, slice_rows<const T>(v),
                    nullptr, nullptr, elements<S>(sums));
    make_outputs<T>(device, p, kept, elements<S>(sums), elements<S>(norms), elements<T>(out));
  });
}

void linear_attention_backward(const Device& device, const RowSet& rows, std::int64_t heads, const Slice& q,
                               const Slice& k, const Slice& v, Tensor features, Tensor sums, Tensor norms,
                               Tensor out, Tensor dout, Tensor dsums, Tensor dnorms, const Slice& dq,
                               const Slice& dk, const Slice& dv) {
  const LinearProblem p = make_problem(rows, heads, q, k, v, features, sums, norms, out);
  check("dout", dout, out.dtype, {p.rows, p.width});
  check("dsums", dsums, sums.dtype, {p.sequences, sums.extent(1)});
  check("dnorms", dnorms, norms.dtype, {p.rows, heads});
  check("dq", dq, out.dtype, p.rows, p.width);
  check("dk", dk, out.dtype, p.rows, p.width);
  check("dv", dv, out.dtype, p.rows, p.width);
  dispatch(out.dtype, [&](auto type) {
    using T = decltype(type);
    using S = Sum<T>;
    const S* kept = elements<S>(features);
    make_query_gradients<T>(device, p, slice_rows<const T>(q), kept, elements<S>(sums), elements<S>(norms),
                            elements<T>(out), elements<T>(dout), elements<S>(dnorms), slice_rows<T>(dq));
    add_up_lines<T>(device, "encore::linear_attention_backward_sums", p, kept, 0, slice_rows<const T>(dout),
                    elements<S>(norms), elements<S>(dnorms), elements<S>(dsums));
    make_key_gradients<T>(device, p, slice_rows<const T>(k), slice_rows<const T>(v), kept, elements<S>(dsums),
                          slice_rows<T>(dk), slice_rows<T>(dv));
  });
}

}  // namespace encore::kernels
