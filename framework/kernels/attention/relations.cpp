// SPDX-License-Identifier: BSD-3-Clause
// The kernels for the relations of a sequence's rows (formula in encore/relations.hpp) and their gradient,
// pair by pair: one thread per (row, head). The product of two rows is symmetric, so a thread finds all terms
// of its row in one pass over its sequence, and each sum has one thread and one order, which must stay for
// equal bits. model/relation_distillation.cpp calls them.
#include <encore/relations.hpp>
#include <encore/rows.hpp>

#include <cmath>

#include "kernels/attention/attention_pairs.hpp"
#include "kernels/check.hpp"

namespace encore::kernels {
namespace {

/// Computes products within one head of the student's rows, or of the teacher's.
template <class T>
struct Products {
  SliceRows<const T> rows;
  std::int64_t size;  ///< d
  double scale;       ///< 1 / sqrt(d)

  template <class S>
  KOKKOS_INLINE_FUNCTION S operator()(std::int64_t head, std::int64_t i, std::int64_t j) const {
    return dot<S>(rows[i] + head * size, rows[j] + head * size, size) * static_cast<S>(scale);
  }
};

template <class T>
Products<T> products_of(const Slice& x, std::int64_t heads) {
  const std::int64_t size = x.width / heads;
  return {slice_rows<const T>(x), size, 1.0 / std::sqrt(static_cast<double>(size))};
}

/// The rows of a sequence.
struct Sequences {
  const std::int32_t* offsets;
  const std::int32_t* sequence;

  KOKKOS_INLINE_FUNCTION std::int64_t begin(std::int64_t row) const { return offsets[sequence[row]]; }
  KOKKOS_INLINE_FUNCTION std::int64_t end(std::int64_t row) const { return offsets[sequence[row] + 1]; }
};

/// Computes KL(p || q) = sum_j p_j (t_j - s_j) - M + L, with p_j = exp(t_j - M), q_j = exp(s_j - L). Every
/// product is computed once: sums are those of exp(score - largest so far), and are scaled when a larger
/// score comes.
template <class T>
struct RelationsLoss {
  using S = Sum<T>;
  Sequences of;
  std::int64_t heads;
  S weight;
  Products<T> own;
  Products<S> taught;
  S* losses;
  S* log_sums;

  KOKKOS_FUNCTION void operator()(const std::int64_t index) const {
    const std::int64_t row = index / heads, head = index % heads;
    constexpr S none = -Kokkos::Experimental::infinity<S>::value;
    S largest = none, sum = S(0), taught_largest = none, taught_sum = S(0), apart = S(0);
    for (std::int64_t j = of.begin(row); j < of.end(row); ++j) {
      const S s = own.template operator()<S>(head, row, j), t = taught.template operator()<S>(head, row, j);
      if (s > largest) {
        sum *= math::exp(largest - s);
        largest = s;
      }
      if (t > taught_largest) {
        const S less = math::exp(taught_largest - t);
        taught_sum *= less;
        apart *= less;
        taught_largest = t;
      }
      sum += math::exp(s - largest);
      const S share = math::exp(t - taught_largest);
      taught_sum += share;
      apart += share * (t - s);
    }
    const S own_log = largest + math::log(sum), taught_log = taught_largest + math::log(taught_sum);
    losses[index] = weight * (apart / taught_sum - taught_log + own_log);
    log_sums[2 * index] = own_log;
    log_sums[2 * index + 1] = taught_log;
  }
};

/// With q_ij the student's distribution of row i and p_ij the teacher's, dx_i += weight / sqrt(d) *
/// sum_j (q_ij + q_ji - p_ij - p_ji) x_j.
template <class T>
struct RelationsBackward {
  using S = Sum<T>;
  Sequences of;
  std::int64_t heads;
  S weight;
  Products<T> own;
  Products<S> taught;
  const S* log_sums;
  SliceRows<T> gradient;
  S* gathered;  // (N, C)

  KOKKOS_FUNCTION void operator()(const std::int64_t index) const {
    const std::int64_t row = index / heads, head = index % heads, size = own.size;
    S* sums = gathered + index * size;
    for (std::int64_t d = 0; d < size; ++d) sums[d] = S(0);
    const S* own_sums = log_sums + 2 * index;
    for (std::int64_t j = of.begin(row); j < of.end(row); ++j) {
      const S* other_sums = log_sums + 2 * (j * heads + head);
      const S s = own.template operator()<S>(head, row, j), t = taught.template operator()<S>(head, row, j);
      const S apart = math::exp(s - own_sums[0]) + math::exp(s - other_sums[0]) - math::exp(t - own_sums[1]) -
                      math::exp(t - other_sums[1]);
      const T* other = own.rows[j] + head * size;
      ENCORE_SIMD
      for (std::int64_t d = 0; d < size; ++d) sums[d] += apart * static_cast<S>(other[d]);
    }
    T* to = gradient[row] + head * size;
    const S factor = weight * static_cast<S>(own.scale);
    for (std::int64_t d = 0; d < size; ++d) to[d] = static_cast<T>(static_cast<S>(to[d]) + factor * sums[d]);
  }
};

template <class Kernel>
void run(const Device& device, const char* label, const RowSet& rows, const Kernel& kernel) {
  using Policy =
      Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::int64_t>, Kokkos::Schedule<Kokkos::Dynamic>>;
  const Policy policy(device.space(), 0, rows.size.tokens * kernel.heads);
  launch_attention_kernel(label, policy, kernel);
}

Sequences sequences_of(const RowSet& rows) {
  return {elements<std::int32_t>(rows.offsets), elements<std::int32_t>(rows.sequence)};
}

template <class T, class U>
void copy_rows(const Device& device, const Slice& x, Tensor y) {
  const std::int64_t width = x.width;
  const SliceRows<const T> in = slice_rows<const T>(x);
  U* out = elements<U>(y);
  for_rows(
      device, "encore::copy_relation_rows", y.extent(0), KOKKOS_LAMBDA(const Row& row) {
        const T* from = in[row.index];
        U* to = out + row.index * width;
        row.each(width, [&](std::int64_t c) { to[c] = static_cast<U>(from[c]); });
      });
}

void check_arguments(const RowSet& rows, const Slice& x, const TaughtRows& taught) {
  const std::int64_t heads = taught.heads;
  ENCORE_REQUIRE(heads >= 1 && x.width % heads == 0,
                 std::to_string(heads) + " heads do not divide the width " + std::to_string(x.width));
  check_rank("teacher", taught.teacher, 2);
  const std::int64_t width = taught.teacher.extent(1);
  ENCORE_REQUIRE(width % heads == 0,
                 std::to_string(heads) + " heads do not divide the teacher's width " + std::to_string(width));
  const DType type = x.matrix.dtype;
  check("x", x, type, rows.size.tokens, x.width);
  check("teacher", taught.teacher, sum_type(type), {rows.size.tokens, width});
  check("log_sums", taught.log_sums, sum_type(type), {rows.size.tokens, heads, 2});
}

}  // namespace

void copy_relation_rows(const Device& device, const Slice& x, Tensor y) {
  check_rank("y", y, 2);
  check("x", x, x.matrix.dtype, y.extent(0), y.extent(1));
  dispatch(x.matrix.dtype, [&](auto from) {
    dispatch(y.dtype, [&](auto to) { copy_rows<decltype(from), decltype(to)>(device, x, y); });
  });
}

void relations_loss(const Device& device, const RowSet& rows, const Slice& x, const TaughtRows& taught,
                    Tensor losses) {
  check_arguments(rows, x, taught);
  check("losses", losses, sum_type(x.matrix.dtype), {rows.size.tokens, taught.heads});
  dispatch(x.matrix.dtype, [&](auto type) {
    using T = decltype(type);
    using S = Sum<T>;
    run(device, "encore::relations_loss", rows,
        RelationsLoss<T>{sequences_of(rows), taught.heads,
                         static_cast<S>(taught.weight / static_cast<double>(taught.heads)),
                         products_of<T>(x, taught.heads), products_of<S>(taught.teacher, taught.heads),
                         elements<S>(losses), elements<S>(taught.log_sums)});
  });
}

void relations_backward(const Device& device, const RowSet& rows, const Slice& x, const TaughtRows& taught,
                        double scale, const Slice& dx) {
  check_arguments(rows, x, taught);
  check("dx", dx, x.matrix.dtype, rows.size.tokens, x.width);
  dispatch(x.matrix.dtype, [&](auto type) {
    using T = decltype(type);
    using S = Sum<T>;
    S* gathered =
        static_cast<S*>(device.workspace(static_cast<std::size_t>(rows.size.tokens * x.width) * sizeof(S)));
    run(device, "encore::relations_backward", rows,
        RelationsBackward<T>{sequences_of(rows), taught.heads,
                             static_cast<S>(scale * taught.weight / static_cast<double>(taught.heads)),
                             products_of<T>(x, taught.heads), products_of<S>(taught.teacher, taught.heads),
                             elements<S>(taught.log_sums), slice_rows<T>(dx), gathered});
  });
}

}  // namespace encore::kernels
