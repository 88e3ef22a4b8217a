// The number of a batch's rows for which an algorithm of products is chosen. Batches differ in their number
// of rows, and to choose for each would take longer than the product. Place in the flow: gemm_cublaslt.cpp.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

namespace encore {

/// Up to 16 as it is; then a multiple of 8, from 128 on an eighth of the power of two below. Never less than
/// `size`, and from 64 on never more than nine eighths of it.
constexpr std::int64_t rounded_size(std::int64_t size) {
  if (size <= 16) return size;
  const auto power = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(size)));
  const std::int64_t step = std::max<std::int64_t>(8, power / 8);
  return (size + step - 1) / step * step;
}

}  // namespace encore
