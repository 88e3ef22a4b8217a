// SPDX-License-Identifier: BSD-3-Clause
// VectorView and MatrixView: typed, rank-checked views of Tensors (tensor.hpp), for kernels that are
// templates over the element type. They are not Kokkos::View: nvcc 13.0 and g++ 12 disagree about the size of
// a View with a single extent, so that a kernel reads the captures after it from the wrong place. For
// functions of Kokkos, make Kokkos::View(view.data(), extents...). Plugins use it: no member may be renamed.
// Read first: elements.hpp.
#pragma once

#include <string>

#include <encore/elements.hpp>
#include <encore/space.hpp>

namespace encore {

/// A view of a tensor of rank 1. It does not own its elements; kernels copy it. The function that launches a
/// kernel makes the view, and the kernel captures it by value:
///
///   template <class T> void scale(const Device& device, double factor, Tensor x) {
///     const auto values = vector_view<T>(x);
///     Kokkos::parallel_for("my::scale", Kokkos::RangePolicy<ExecutionSpace>(device.space(), 0, x.size()),
///                          KOKKOS_LAMBDA(const std::int64_t i) { values(i) *= static_cast<T>(factor); });
///   }
///   dispatch(x.dtype, [&](auto type) { scale<decltype(type)>(device, factor, x); });
template <class T>
class VectorView {
 public:
  VectorView(T* data, std::int64_t extent) : data_(data), extent_(extent) {}

  KOKKOS_FORCEINLINE_FUNCTION T& operator()(std::int64_t i) const { return data_[i]; }
  KOKKOS_FORCEINLINE_FUNCTION T* data() const { return data_; }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t extent() const { return extent_; }

 private:
  T* data_;
  std::int64_t extent_;
};

/// A view of a tensor of rank 2, row-major: element (row, column) lies at row * columns + column.
template <class T>
class MatrixView {
 public:
  MatrixView(T* data, std::int64_t rows, std::int64_t columns)
      : data_(data), rows_(rows), columns_(columns) {}

  KOKKOS_FORCEINLINE_FUNCTION T& operator()(std::int64_t row, std::int64_t column) const {
    return data_[row * columns_ + column];
  }
  KOKKOS_FORCEINLINE_FUNCTION T* data() const { return data_; }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t rows() const { return rows_; }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t columns() const { return columns_; }

 private:
  T* data_;
  std::int64_t rows_, columns_;
};

template <class T>
VectorView<T> vector_view(const Tensor& tensor) {
  ENCORE_REQUIRE(tensor.rank == 1,
                 "a vector is expected, the tensor has rank " + std::to_string(tensor.rank));
  return VectorView<T>(elements<T>(tensor), tensor.extent(0));
}

template <class T>
MatrixView<T> matrix_view(const Tensor& tensor) {
  ENCORE_REQUIRE(tensor.rank == 2,
                 "a matrix is expected, the tensor has rank " + std::to_string(tensor.rank));
  return MatrixView<T>(elements<T>(tensor), tensor.extent(0), tensor.extent(1));
}

}  // namespace encore
