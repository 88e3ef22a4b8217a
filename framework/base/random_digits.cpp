// SPDX-License-Identifier: BSD-3-Clause
// Draws the random digits of ids and names: each from std::random_device, because a seeded generator would
// repeat ids. Read sha256.hpp first.
#include "base/sha256.hpp"

#include <random>

namespace encore {

std::string random_digits(std::size_t count) {
  constexpr char digits[] = "0123456789abcdef";
  std::random_device source;
  std::uniform_int_distribution<int> digit(0, 15);
  std::string text;
  for (std::size_t index = 0; index < count; ++index) text += digits[digit(source)];
  return text;
}

}  // namespace encore
