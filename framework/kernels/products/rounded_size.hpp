// SPDX-License-Identifier: BSD-3-Clause
// Rounds the number of rows of a batch to the size for which cuBLASLt chooses an algorithm. Batches differ in
// their number of rows, and a choice for each number would take longer than the product. gemm_cublaslt.cpp
// uses it. The choice decides bits, so other sizes change the bits of runs on NVIDIA GPUs.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

namespace encore::kernels {

/// Returns sizes up to 16 unchanged; then multiples of 8, from 128 on of an eighth of the power of two below.
/// The result is never less than `size`, and from 64 on never more than nine eighths of it.
constexpr std::int64_t rounded_size(std::int64_t size) {
  if (size <= 16) return size;
  const auto power = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(size)));
  const std::int64_t step = std::max<std::int64_t>(8, power / 8);
  return (size + step - 1) / step * step;
}

}  // namespace encore::kernels
