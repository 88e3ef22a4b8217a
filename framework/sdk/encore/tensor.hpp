// SPDX-License-Identifier: BSD-3-Clause
// Tensor: the only data type that host and plugin exchange: a pointer into device memory that the host owns,
// an element type and up to four extents, row-major and dense. Kernels read it through the views of view.hpp,
// which are not Kokkos Views. The layout of Tensor and the values of DType are part of the plugin ABI: a
// change needs a new ENCORE_SDK_VERSION (plugin.hpp). size_of and name_of are indexed by DType: add a type
// only at the end, in all three places.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include <encore/error.hpp>

namespace encore {

enum class DType : std::uint8_t { float32, float64, bfloat16, float16, int32, int64 };

constexpr std::size_t size_of(DType type) {
  constexpr std::size_t sizes[] = {4, 8, 2, 2, 4, 8};
  return sizes[static_cast<int>(type)];
}

constexpr const char* name_of(DType type) {
  constexpr const char* names[] = {"float32", "float64", "bfloat16", "float16", "int32", "int64"};
  return names[static_cast<int>(type)];
}

/// Returns the DType of sums over elements of `type`.
constexpr DType sum_type(DType type) {
  return type == DType::float64 ? DType::float64 : DType::float32;
}

/// A reference to device memory. Copying copies the reference, not the data. It is valid as long as the
/// memory of its owner: a tensor of a Step during the call only. Element access from the host is not allowed
/// on a GPU.
struct Tensor {
  static constexpr int max_rank = 4;

  void* data = nullptr;
  DType dtype = DType::float32;
  int rank = 0;
  std::array<std::int64_t, max_rank> extents{};

  Tensor() = default;
  Tensor(void* memory, DType type, std::initializer_list<std::int64_t> shape) : data(memory), dtype(type) {
    ENCORE_REQUIRE(shape.size() <= max_rank, "a tensor has at most four extents");
    for (std::int64_t extent : shape) extents[static_cast<std::size_t>(rank++)] = extent;
  }

  std::int64_t extent(int axis) const { return extents[static_cast<std::size_t>(axis)]; }
  /// Returns the number of elements; 1 for rank 0.
  std::int64_t size() const {
    std::int64_t count = 1;
    for (int axis = 0; axis < rank; ++axis) count *= extent(axis);
    return count;
  }
  std::size_t bytes() const { return static_cast<std::size_t>(size()) * size_of(dtype); }
  explicit operator bool() const { return data != nullptr; }

  /// Returns the same memory with another shape. Throws std::logic_error if the number of elements differs.
  Tensor reshaped(std::initializer_list<std::int64_t> shape) const {
    Tensor result(data, dtype, shape);
    ENCORE_REQUIRE(result.size() == size(), "reshaping keeps the number of elements");
    return result;
  }
};

}  // namespace encore
