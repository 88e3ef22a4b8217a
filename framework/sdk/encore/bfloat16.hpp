// SPDX-License-Identifier: BSD-3-Clause
// bfloat16: the upper half of a float32, as our own 16-bit storage type (Kokkos' bhalf_t is an alias of float
// on the host). Kernels load and store it (elements.hpp); arithmetic is done in float. Its rounding decides
// the bits of runs in precision bfloat16, so it must not change.
#pragma once

#include <cstdint>

// Marks a function that both a kernel and the host may call. Kokkos is not included, because reading a number
// does not need it.
#if defined(__CUDACC__) || defined(__HIPCC__)
#define ENCORE_HOST_AND_DEVICE __host__ __device__
#else
#define ENCORE_HOST_AND_DEVICE
#endif

namespace encore {

struct bfloat16 {
  std::uint16_t bits = 0;

  bfloat16() = default;
  /// Rounds to nearest, ties to even; a NaN stays a (quiet) NaN.
  ENCORE_HOST_AND_DEVICE explicit bfloat16(float value) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    std::uint32_t pair;  // one instruction, which is faster for two numbers than for one
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(0.0F), "f"(value));
    bits = static_cast<std::uint16_t>(pair);
#else
    const auto word = __builtin_bit_cast(std::uint32_t, value);
    const std::uint32_t rounded = (word + 0x7FFFU + ((word >> 16) & 1U)) >> 16;
    const std::uint32_t quiet_nan = (word >> 16) | 0x40U;
    bits = static_cast<std::uint16_t>(value == value ? rounded : quiet_nan);
#endif
  }
  ENCORE_HOST_AND_DEVICE operator float() const {
    return __builtin_bit_cast(float, static_cast<std::uint32_t>(bits) << 16);
  }
};
static_assert(sizeof(bfloat16) == 2);

}  // namespace encore
