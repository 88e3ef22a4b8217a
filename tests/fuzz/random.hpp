// SPDX-License-Identifier: BSD-3-Clause
// The random numbers of a case: equal for equal seeds, with every compiler.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analysis/statistics.hpp"

namespace encore::fuzz {

class Random {
 public:
  explicit Random(std::uint64_t seed) : seed_(seed) {}

  std::uint64_t word() { return analysis::random_word(seed_, number_++); }
  /// Returns a number in [0, count); count > 0.
  std::size_t below(std::size_t count) { return static_cast<std::size_t>(word() % count); }
  /// Returns true once in `times`.
  bool once_in(std::size_t times) { return below(times) == 0; }
  template <class T>
  const T& any_of(const std::vector<T>& list) {
    return list[below(list.size())];
  }

 private:
  std::uint64_t seed_;
  std::uint64_t number_ = 0;
};

}  // namespace encore::fuzz
