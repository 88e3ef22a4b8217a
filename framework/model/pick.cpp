// Copies of rows, one row per thread or warp.
#include "model/pick.hpp"

#include <encore/kernels.hpp>
#include <encore/rows.hpp>
#include <encore/view.hpp>

namespace encore {
namespace {

template <class T>
void copy_rows(const Device& device, const char* label, std::int64_t count, std::int64_t width,
               const std::int32_t* picked, bool scatter, const T* from, T* to) {
  for_rows(
      device, label, count, KOKKOS_LAMBDA(const Row& row) {
        const std::int64_t other = picked[row.index];
        const T* source = from + (scatter ? row.index : other) * width;
        T* target = to + (scatter ? other : row.index) * width;
        row.each(width, [&](std::int64_t c) { target[c] = source[c]; });
      });
}

}  // namespace

void gather_rows(const Device& device, Tensor x, Tensor rows, Tensor y) {
  dispatch(y.dtype, [&](auto type) {
    using T = decltype(type);
    copy_rows<T>(device, "encore::gather_rows", y.extent(0), y.extent(1), elements<std::int32_t>(rows), false,
                 elements<T>(x), elements<T>(y));
  });
}

void scatter_rows(const Device& device, Tensor dy, Tensor rows, Tensor dx) {
  kernels::fill(device, 0.0, dx);
  dispatch(dy.dtype, [&](auto type) {
    using T = decltype(type);
    copy_rows<T>(device, "encore::scatter_rows", dy.extent(0), dy.extent(1), elements<std::int32_t>(rows),
                 true, elements<T>(dy), elements<T>(dx));
  });
}

}  // namespace encore
