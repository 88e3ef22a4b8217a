// SPDX-License-Identifier: BSD-3-Clause
// Rows of weights as 4-bit integers, a scale for each group of 32 elements along the row: w[i] = scale q[i],
// q from -7 to 7. A scale has the 8 bits of significand of a bfloat16, so that a weight takes 4.5 bits and
// scale times q is a float32 exactly. The functions run on the host, without Kokkos. int4_tile.hpp and
// infer/integer_weights.cpp call them: the first lays the weights out for products, the second writes them to
// a file, so the format never changes. Rounded weights are rounded to themselves, as in int8_weights.hpp.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace encore::kernels {

inline constexpr std::int64_t int4_group = 32;
/// The largest integer of a rounded number.
inline constexpr float int4_most = 7.0F;

inline std::int64_t int4_groups(std::int64_t columns) {
  return (columns + int4_group - 1) / int4_group;
}

/// Returns max |w| / 7 of a group, rounded up to 8 bits of significand: the upper half of a float32. NaN if
/// the group holds a number that is not finite.
inline float int4_scale(const float* group, std::int64_t count) {
  float largest = 0.0F;
  bool finite = true;
  for (std::int64_t i = 0; i < count; ++i) {
    largest = std::max(largest, std::abs(group[i]));
    finite = finite && std::isfinite(group[i]);
  }
  if (!finite) return std::numeric_limits<float>::quiet_NaN();
  return std::bit_cast<float>((std::bit_cast<std::uint32_t>(largest / int4_most) + 0xFFFFU) & ~0xFFFFU);
}

/// Computes q = w / scale, to the nearest, ties to even; zeros if the scale is 0 or NaN.
inline void to_int4(const float* group, std::int64_t count, float scale, std::int8_t* q) {
  for (std::int64_t i = 0; i < count; ++i)
    q[i] = scale > 0.0F ? static_cast<std::int8_t>(std::nearbyint(group[i] / scale)) : std::int8_t{0};
}

}  // namespace encore::kernels
