// bfloat16: the upper half of a float32, as a 16-bit storage type of our own (Kokkos' bhalf_t is an alias of
// float on the host). It is only stored and loaded; arithmetic is done in float.
#pragma once

#include <cstdint>

#include <Kokkos_Core.hpp>

namespace encore {

struct bfloat16 {
  std::uint16_t bits = 0;

  bfloat16() = default;
  /// Rounds to nearest, ties to even; a NaN stays a (quiet) NaN.
  KOKKOS_INLINE_FUNCTION explicit bfloat16(float value) {
    const auto word = Kokkos::bit_cast<std::uint32_t>(value);
    const std::uint32_t rounded = (word + 0x7FFFU + ((word >> 16) & 1U)) >> 16;
    const std::uint32_t quiet_nan = (word >> 16) | 0x40U;
    bits = static_cast<std::uint16_t>(value == value ? rounded : quiet_nan);
  }
  KOKKOS_INLINE_FUNCTION operator float() const {
    return Kokkos::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
  }
};
static_assert(sizeof(bfloat16) == 2);

}  // namespace encore
