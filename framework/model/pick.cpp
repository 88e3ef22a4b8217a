// SPDX-License-Identifier: BSD-3-Clause
// Implements pick.hpp: kernels that copy rows of a matrix (N, C) by lists of row numbers, one row per thread
// or warp. Pass calls them between the last layer and the head, Generation for rows of its cache. A row is
// never written twice, so no order is needed. Read pick.hpp first.
#include "model/pick.hpp"

#include <encore/kernels.hpp>
#include <encore/rows.hpp>
#include <encore/view.hpp>

namespace encore::model {
namespace {

/// Sets row to[m] of y to row from[m] of x. A list that is null stands for 0, 1, 2, ...
template <class T>
void copy_rows(const Device& device, const char* label, std::int64_t count, std::int64_t width,
               const std::int32_t* from, const T* x, const std::int32_t* to, T* y) {
  for_rows(
      device, label, count, KOKKOS_LAMBDA(const Row& row) {
        const T* source = x + (from == nullptr ? row.index : from[row.index]) * width;
        T* target = y + (to == nullptr ? row.index : to[row.index]) * width;
        row.each(width, [&](std::int64_t c) { target[c] = source[c]; });
      });
}

}  // namespace

void gather_rows(const Device& device, Tensor x, Tensor rows, Tensor y) {
  dispatch(y.dtype, [&](auto type) {
    using T = decltype(type);
    copy_rows<T>(device, "encore::gather_rows", y.extent(0), y.extent(1), elements<std::int32_t>(rows),
                 elements<T>(x), nullptr, elements<T>(y));
  });
}

void scatter_rows(const Device& device, Tensor dy, Tensor rows, Tensor dx) {
  kernels::fill(device, 0.0, dx);
  put_rows(device, dy, rows, dx);
}

void put_rows(const Device& device, Tensor x, Tensor rows, Tensor y) {
  dispatch(x.dtype, [&](auto type) {
    using T = decltype(type);
    copy_rows<T>(device, "encore::put_rows", x.extent(0), x.extent(1), nullptr, elements<T>(x),
                 elements<std::int32_t>(rows), elements<T>(y));
  });
}

void copy_rows(const Device& device, Tensor from, Tensor to, Tensor x) {
  dispatch(x.dtype, [&](auto type) {
    using T = decltype(type);
    copy_rows<T>(device, "encore::copy_rows", from.extent(0), x.extent(1), elements<std::int32_t>(from),
                 elements<T>(x), elements<std::int32_t>(to), elements<T>(x));
  });
}

}  // namespace encore::model
