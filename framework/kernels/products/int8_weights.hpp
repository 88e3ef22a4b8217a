// SPDX-License-Identifier: BSD-3-Clause
// Converts rows of weights to 8-bit integers and one scale for each row: w[i] = scale q[i], |q| <= 127. The
// functions run on the host, without Kokkos. int8_tile.hpp and infer/integer_weights.cpp call them: the first
// lays the weights out for products, the second writes them to a file, so the format never changes. Rounding
// a rounded row gives the same row. So a model that reads such a file as float32 and quantizes it again has
// the integers and the scales of the file.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace encore::kernels {

/// The largest integer of a rounded number.
inline constexpr float int8_most = 127.0F;

/// Returns max |w| / 127, rounded up to 16 bits of significand: scale times any q is a float32 exactly. NaN
/// if the row holds a number that is not finite.
inline float int8_scale(const float* row, std::int64_t count) {
  float largest = 0.0F;
  bool finite = true;
  for (std::int64_t i = 0; i < count; ++i) {
    largest = std::max(largest, std::abs(row[i]));
    finite = finite && std::isfinite(row[i]);
  }
  if (!finite) return std::numeric_limits<float>::quiet_NaN();
  return std::bit_cast<float>((std::bit_cast<std::uint32_t>(largest / int8_most) + 0xFFU) & ~0xFFU);
}

/// Computes q = w / scale, to the nearest, ties to even; zeros if the scale is 0 or NaN.
inline void to_int8(const float* row, std::int64_t count, float scale, std::int8_t* q) {
  for (std::int64_t i = 0; i < count; ++i)
    q[i] = scale > 0.0F ? static_cast<std::int8_t>(std::nearbyint(row[i] / scale)) : std::int8_t{0};
}

/// Computes row = scale q, which is exact.
inline void from_int8(const std::int8_t* q, std::int64_t count, float scale, float* row) {
  for (std::int64_t i = 0; i < count; ++i) row[i] = static_cast<float>(q[i]) * scale;
}

}  // namespace encore::kernels
