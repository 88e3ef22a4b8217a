// SPDX-License-Identifier: BSD-3-Clause
// Stores a number label as a double in a column of integers. Training uses float32, but measures must use the
// number that was read. The tasks regress and embed write it in encode, and read it in measure and describe.
// Caches of encoded sets contain the column, so its form must not change.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include <encore/examples.hpp>

namespace encore::tasks {

inline constexpr const char* number_bits_column = "number_bits";

/// Returns the column: one number per sequence, as two integers.
inline ColumnRule number_bits_rule() {
  return {.name = number_bits_column, .space = Space::sequences, .truth = true, .width = 2};
}

/// Appends the lower half of the number's bits, then the upper one.
inline void put_number(double number, std::vector<std::int32_t>& to) {
  const auto bits = std::bit_cast<std::uint64_t>(number);
  to.push_back(static_cast<std::int32_t>(static_cast<std::uint32_t>(bits)));
  to.push_back(static_cast<std::int32_t>(static_cast<std::uint32_t>(bits >> 32)));
}

/// Returns the number from the two integers that put_number wrote.
inline double number_in(std::span<const std::int32_t> halves) {
  const auto half = [&](std::size_t i) { return std::uint64_t{static_cast<std::uint32_t>(halves[i])}; };
  return std::bit_cast<double>(half(0) | half(1) << 32);
}

}  // namespace encore::tasks
