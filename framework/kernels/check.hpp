// SPDX-License-Identifier: BSD-3-Clause
// Checks the shapes and types of the arguments of kernels. The functions of encore/kernels.hpp call these
// before they launch work. A message names the kernel's argument, and authors of plugins read it; so pass the
// name that encore/kernels.hpp gives the argument.
#pragma once

#include <string>

#include <encore/elements.hpp>
#include <encore/kernels.hpp>

namespace encore::kernels {

inline std::string describe(const Tensor& tensor) {
  std::string text = std::string(name_of(tensor.dtype)) + " (";
  for (int axis = 0; axis < tensor.rank; ++axis)
    text += (axis > 0 ? ", " : "") + std::to_string(tensor.extent(axis));
  return text + ")";
}

/// Requires that `tensor` has exactly this shape and type.
inline void check(const char* name, const Tensor& tensor, DType type,
                  std::initializer_list<std::int64_t> shape,
                  std::source_location where = std::source_location::current()) {
  bool equal = tensor.dtype == type && tensor.rank == static_cast<int>(shape.size());
  int axis = 0;
  for (const std::int64_t extent : shape)
    if (equal) equal = tensor.extent(axis++) == extent;
  if (equal && (tensor.data != nullptr || tensor.size() == 0)) return;
  std::string expected = std::string(name_of(type)) + " (";
  for (const std::int64_t extent : shape)
    expected += (expected.back() == '(' ? "" : ", ") + std::to_string(extent);
  fail_requirement("shape and type of the arguments",
                   std::string(name) + " is " + describe(tensor) +
                       (tensor.data == nullptr ? " without memory" : "") + ", expected " + expected + ")",
                   where);
}

inline std::string describe(const Slice& slice) {
  return "columns " + std::to_string(slice.first) + " .. " + std::to_string(slice.first + slice.width - 1) +
         " of " + describe(slice.matrix);
}

/// Requires that `slice` lies in a matrix of this type and number of rows, and has this number of columns.
inline void check(const char* name, const Slice& slice, DType type, std::int64_t rows, std::int64_t width,
                  std::source_location where = std::source_location::current()) {
  const Tensor& matrix = slice.matrix;
  if (matrix.rank == 2 && matrix.dtype == type && matrix.extent(0) == rows && slice.width == width &&
      slice.first >= 0 && slice.first + width <= matrix.extent(1) &&
      (matrix.data != nullptr || matrix.size() == 0))
    return;
  fail_requirement("shape and type of the arguments",
                   std::string(name) + " is " + describe(slice) +
                       (matrix.data == nullptr ? " without memory" : "") + ", expected " +
                       std::to_string(width) + " columns of a " + name_of(type) + " matrix with " +
                       std::to_string(rows) + " rows",
                   where);
}

/// Requires that `tensor` has this rank.
inline void check_rank(const char* name, const Tensor& tensor, int rank,
                       std::source_location where = std::source_location::current()) {
  if (tensor.rank == rank) return;
  fail_requirement("rank of the arguments",
                   std::string(name) + " is " + describe(tensor) + ", expected rank " + std::to_string(rank),
                   where);
}

}  // namespace encore::kernels
