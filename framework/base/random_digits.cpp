// SPDX-License-Identifier: BSD-3-Clause
// random_digits() draws each digit from std::random_device. A seeded generator would repeat ids.
#include "base/random_digits.hpp"

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
