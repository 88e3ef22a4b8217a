// SPDX-License-Identifier: BSD-3-Clause
// float16: IEEE 754 binary16, as our own 16-bit storage type. Kernels load and store it (elements.hpp);
// arithmetic is done in float. Numbers end at 65,504 and lose digits below 6.1e-5, so gradients in float16
// need a factor on the loss (train/loss_scaling.hpp). Its rounding decides the bits of runs in precision
// float16, so it must not change. Read next: bfloat16.hpp.
#pragma once

#include <cstdint>

#include <encore/bfloat16.hpp>

namespace encore {

struct float16 {
  std::uint16_t bits = 0;

  float16() = default;
  /// Rounds to nearest, ties to even. Magnitudes from 65,520 become infinity; a NaN stays a (quiet) NaN.
  ENCORE_HOST_AND_DEVICE explicit float16(float value) {
#if defined(__CUDA_ARCH__)
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
#else
    const auto word = __builtin_bit_cast(std::uint32_t, value);
    const std::uint32_t sign = (word >> 16) & 0x8000U, magnitude = word & 0x7FFFFFFFU;
    const float size = __builtin_bit_cast(float, magnitude);
    if (value != value)
      bits = static_cast<std::uint16_t>(sign | 0x7E00U);
    else if (size >= 65520.0F)
      bits = static_cast<std::uint16_t>(sign | 0x7C00U);
    else if (size < 0x1p-14F)  // steps of 2^-24, which are those of a float between 0.5 and 1
      bits =
          static_cast<std::uint16_t>(sign | (__builtin_bit_cast(std::uint32_t, size + 0.5F) - 0x3F000000U));
    else  // from bias 127 to bias 15
      bits = static_cast<std::uint16_t>(sign |
                                        ((magnitude - (112U << 23) + 0xFFFU + ((word >> 13) & 1U)) >> 13));
#endif
  }
  ENCORE_HOST_AND_DEVICE operator float() const {
#if defined(__CUDA_ARCH__)
    float value;
    asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
    return value;
#else
    const std::uint32_t sign = std::uint32_t{bits & 0x8000U} << 16;
    const std::uint32_t exponent = (bits >> 10) & 0x1FU, fraction = bits & 0x3FFU;
    if (exponent == 0) {
      const float size = static_cast<float>(fraction) * 0x1p-24F;
      return sign != 0 ? -size : size;
    }
    const std::uint32_t widened = exponent == 0x1F ? 0xFFU : exponent + 112U;
    return __builtin_bit_cast(float, sign | widened << 23 | fraction << 13);
#endif
  }
};
static_assert(sizeof(float16) == 2);

}  // namespace encore
