// SPDX-License-Identifier: BSD-3-Clause
// The plain passes over memory of encore/kernels.hpp: add (y += x), copy with conversion, scale (y = factor
// x), scale_rows, append_rows (rows into a cache of keys and values), and fill. Pass, layers and Generation
// call them. They keep nothing for backward. encore/kernels.hpp is part of the SDK, so signatures must stay.
// map_row.hpp has their loops.
#include <encore/rows.hpp>

#include "kernels/check.hpp"
#include "kernels/map_row.hpp"

namespace encore::kernels {
namespace {

/// y + x, computed in the type of sums (S), as all passes of this file compute.
template <class S>
struct Added {
  KOKKOS_FORCEINLINE_FUNCTION S operator()(S y, S x) const { return y + x; }
};

template <class T>
void add_elements(const Device& device, Tensor x, Tensor y) {
  T* const sum = elements<T>(y);
  map_values(device, "encore::add", x.size(), sum, Added<Sum<T>>{}, sum, elements<T>(x));
}

template <class From, class To>
void copy_elements(const Device& device, Tensor x, Tensor y) {
  const From* in = elements<From>(x);
  map_elements(
      device, "encore::copy", x.size(), elements<To>(y),
      KOKKOS_LAMBDA(const std::int64_t i) { return static_cast<To>(static_cast<Sum<To>>(in[i])); });
}

template <class S>
struct Scaled {
  S factor;
  KOKKOS_FORCEINLINE_FUNCTION S operator()(S x) const { return factor * x; }
};

template <class T>
void scale_elements(const Device& device, double factor, Tensor x, Tensor y) {
  map_values(device, "encore::scale", x.size(), elements<T>(y), Scaled<Sum<T>>{static_cast<Sum<T>>(factor)},
             elements<T>(x));
}

template <class T>
void scale_rows_typed(const Device& device, Tensor factors, Tensor x) {
  using S = Sum<T>;
  const float* by = elements<float>(factors);
  T* values = elements<T>(x);
  const std::int64_t width = x.rank == 1 ? 1 : x.extent(1);
  for_rows(
      device, "encore::scale_rows", x.extent(0), KOKKOS_LAMBDA(const Row& row) {
        const S factor = static_cast<S>(by[row.index]);
        T* of_row = values + row.index * width;
        row.each(width,
                 [&](std::int64_t c) { of_row[c] = static_cast<T>(factor * static_cast<S>(of_row[c])); });
      });
}

template <class T>
void append_typed(const Device& device, const RowSet& rows, const Slice& x, const RowSet& cache, Tensor y) {
  const T* in = elements<T>(x.matrix) + x.first;
  T* out = elements<T>(y);
  const std::int64_t width = x.width, stride = x.matrix.extent(1);
  const auto* sequence = elements<std::int32_t>(rows.sequence);
  const auto* positions = elements<std::int32_t>(rows.positions);
  const auto* offsets = elements<std::int32_t>(cache.offsets);
  for_rows(
      device, "encore::append_rows", rows.size.tokens, KOKKOS_LAMBDA(const Row& row) {
        const T* from = in + row.index * stride;
        T* to = out + (std::int64_t{offsets[sequence[row.index]]} + positions[row.index]) * width;
        row.each(width, [&](std::int64_t c) { to[c] = from[c]; });
      });
}

template <class T>
void fill_elements(const Device& device, double value, Tensor y) {
  const T element = static_cast<T>(static_cast<Sum<T>>(value));
  map_elements(
      device, "encore::fill", y.size(), elements<T>(y),
      KOKKOS_LAMBDA(const std::int64_t) { return element; });
}

}  // namespace

void add(const Device& device, Tensor x, Tensor y) {
  ENCORE_REQUIRE(x.dtype == y.dtype && x.size() == y.size(), "x is " + describe(x) + ", y is " + describe(y));
  dispatch(x.dtype, [&](auto type) { add_elements<decltype(type)>(device, x, y); });
}

void copy(const Device& device, Tensor x, Tensor y) {
  ENCORE_REQUIRE(x.size() == y.size(), "x is " + describe(x) + ", y is " + describe(y));
  dispatch(x.dtype, [&](auto from) {
    dispatch(y.dtype, [&](auto to) { copy_elements<decltype(from), decltype(to)>(device, x, y); });
  });
}

void scale(const Device& device, double factor, Tensor x, Tensor y) {
  ENCORE_REQUIRE(x.size() == y.size() && x.dtype == y.dtype, "x is " + describe(x) + ", y is " + describe(y));
  dispatch(x.dtype, [&](auto type) { scale_elements<decltype(type)>(device, factor, x, y); });
}

void scale_rows(const Device& device, Tensor factors, Tensor x) {
  check("factors", factors, DType::float32, {x.extent(0)});
  dispatch(x.dtype, [&](auto type) { scale_rows_typed<decltype(type)>(device, factors, x); });
}

void append_rows(const Device& device, const RowSet& rows, const Slice& x, const RowSet& cache, Tensor y) {
  check("x", x, y.dtype, rows.size.tokens, x.width);
  check("y", y, y.dtype, {cache.size.tokens, x.width});
  ENCORE_REQUIRE(rows.size.sequences == cache.size.sequences,
                 "rows of " + std::to_string(rows.size.sequences) + " sequences and a cache of " +
                     std::to_string(cache.size.sequences));
  const std::int64_t longest = rows.size.longest + rows.size.past;
  ENCORE_REQUIRE(longest <= cache.size.longest, "a sequence of " + std::to_string(longest) +
                                                    " rows, and the cache has room for " +
                                                    std::to_string(cache.size.longest));
  dispatch(y.dtype, [&](auto type) { append_typed<decltype(type)>(device, rows, x, cache, y); });
}

void fill(const Device& device, double value, Tensor y) {
  switch (y.dtype) {
    case DType::int32:
      return fill_elements<std::int32_t>(device, value, y);
    case DType::int64:
      return fill_elements<std::int64_t>(device, value, y);
    default:
      dispatch(y.dtype, [&](auto type) { fill_elements<decltype(type)>(device, value, y); });
  }
}

}  // namespace encore::kernels
