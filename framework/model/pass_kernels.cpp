// SPDX-License-Identifier: BSD-3-Clause
// Implements pass_kernels.hpp. The kernels that copy rows of a matrix (N, C) take one row per thread or warp;
// Pass and Generation call them. A row is never written twice, so they need no order. sum_shards() adds the
// losses of the shards in one thread, so that their order is fixed; Model calls it, and the order must stay.
// Read pass_kernels.hpp first.
#include "model/pass_kernels.hpp"

#include <encore/head.hpp>
#include <encore/kernels.hpp>
#include <encore/rows.hpp>
#include <encore/space.hpp>
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

void sum_shards(const Device& device, const double* sums, std::int64_t shards, std::span<const double> scales,
                double* totals) {
  ENCORE_REQUIRE(scales.size() <= most_losses, "a head has at most most_losses losses");
  Kokkos::Array<double, most_losses> factors = {};
  for (std::size_t loss = 0; loss < scales.size(); ++loss) factors[loss] = scales[loss];
  const auto losses = static_cast<std::int64_t>(scales.size());
  Kokkos::parallel_for(
      "encore::sum_shards", Kokkos::RangePolicy<ExecutionSpace>(device.space(), 0, 1), KOKKOS_LAMBDA(int) {
        double all = 0.0;
        for (std::int64_t loss = 0; loss < losses; ++loss) {
          double sum = 0.0;
          for (std::int64_t shard = 0; shard < shards; ++shard) sum += sums[shard * losses + loss];
          totals[loss] = factors[static_cast<std::size_t>(loss)] * sum;
          all = loss == 0 ? totals[0] : all + totals[loss];
        }
        totals[losses] = all;
      });
}

}  // namespace encore::model
