// SPDX-License-Identifier: BSD-3-Clause
// The kernel mean_rows: y (B, C) = the mean of each sequence's rows of x (N, C), summed in row order, and its
// backward: dx = dy / length. Heads call it that score a sequence by its mean instead of its first row.
// Nothing is kept for backward. The order of sums decides bits and must stay.
#include <encore/head.hpp>
#include <encore/rows.hpp>

#include "kernels/check.hpp"

namespace encore::kernels {
namespace {

template <class T>
void mean(const Device& device, const RowSet& rows, Tensor x, Tensor y) {
  using S = Sum<T>;
  const std::int64_t width = x.extent(1);
  const std::int32_t* offsets = elements<std::int32_t>(rows.offsets);
  const T* in = elements<T>(x);
  S* out = elements<S>(y);
  for_rows(
      device, "encore::mean_rows", rows.size.sequences, KOKKOS_LAMBDA(const Row& row) {
        const std::int64_t begin = offsets[row.index], end = offsets[row.index + 1];
        S* means = out + row.index * width;
        row.each(width, [&](std::int64_t c) { means[c] = S(0); });
        for (std::int64_t t = begin; t < end; ++t)
          row.each(width, [&](std::int64_t c) { means[c] += static_cast<S>(in[t * width + c]); });
        const S share = end > begin ? S(1) / static_cast<S>(end - begin) : S(0);
        row.each(width, [&](std::int64_t c) { means[c] *= share; });
      });
}

template <class T>
void mean_backward(const Device& device, const RowSet& rows, Tensor dy, Tensor dx) {
  using S = Sum<T>;
  const std::int64_t width = dx.extent(1);
  const std::int32_t* offsets = elements<std::int32_t>(rows.offsets);
  const S* in = elements<S>(dy);
  T* out = elements<T>(dx);
  for_rows(
      device, "encore::mean_rows_backward", rows.size.sequences, KOKKOS_LAMBDA(const Row& row) {
        const std::int64_t begin = offsets[row.index], end = offsets[row.index + 1];
        const S share = end > begin ? S(1) / static_cast<S>(end - begin) : S(0);
        for (std::int64_t t = begin; t < end; ++t)
          row.each(width, [&](std::int64_t c) {
            out[t * width + c] = static_cast<T>(share * in[row.index * width + c]);
          });
      });
}

}  // namespace

void mean_rows(const Device& device, const RowSet& rows, Tensor x, Tensor y) {
  check("y", y, sum_type(x.dtype), {rows.size.sequences, x.extent(1)});
  dispatch(x.dtype, [&](auto type) { mean<decltype(type)>(device, rows, x, y); });
}

void mean_rows_backward(const Device& device, const RowSet& rows, Tensor dy, Tensor dx) {
  check("dy", dy, sum_type(dx.dtype), {rows.size.sequences, dx.extent(1)});
  dispatch(dx.dtype, [&](auto type) { mean_backward<decltype(type)>(device, rows, dy, dx); });
}

}  // namespace encore::kernels
