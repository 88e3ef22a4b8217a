// SPDX-License-Identifier: BSD-3-Clause
// halton(): radical inverses in prime bases, with the digits permuted by the seed. propose.cpp calls it.
// Points of stored searches are recomputed, so it never changes. Read propose.hpp first.
#include "plan/search/propose.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "plan/sweep.hpp"

namespace encore::plan::search {

namespace {

bool is_prime(int number) {
  for (int divisor = 2; divisor * divisor <= number; ++divisor)
    if (number % divisor == 0) return false;
  return true;
}

/// Returns the prime with this index: 2, 3, 5, 7 ...
int prime(std::size_t index) {
  int number = 2;
  for (std::size_t found = 0;; ++number)
    if (is_prime(number) && found++ == index) return number;
}

/// Shuffles the digits with the algorithm of Fisher and Yates.
std::vector<int> permutation(int base, std::int64_t seed, const std::string& stream) {
  std::vector<int> digits(static_cast<std::size_t>(base));
  std::iota(digits.begin(), digits.end(), 0);
  for (int i = base - 1; i > 0; --i) {
    const int other = static_cast<int>(uniform_draw(seed, i, stream) * (i + 1));
    std::swap(digits[static_cast<std::size_t>(i)], digits[static_cast<std::size_t>(other)]);
  }
  return digits;
}

}  // namespace

double halton(std::int64_t seed, std::int64_t number, std::size_t dimension) {
  const int base = prime(dimension);
  double share = 0.0;
  double unit = 1.0 / base;
  // Leading zeros are permuted too, down to the last bit of a double.
  for (int place = 0; unit > 0x1p-53; ++place, number /= base, unit /= base) {
    const std::string stream = "halton " + std::to_string(dimension) + " " + std::to_string(place);
    share += unit * permutation(base, seed, stream)[static_cast<std::size_t>(number % base)];
  }
  return std::min(share, 1.0 - 0x1p-53);
}

}  // namespace encore::plan::search
