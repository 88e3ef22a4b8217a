// SPDX-License-Identifier: BSD-3-Clause
// The random numbers of a case, and the mutations that every target can use: of bytes and text, with words
// that mean something in its format, and of JSON as a tree. The targets call them through target.hpp. The
// sequence of draws decides which input a case number stands for, so a change makes stored case numbers
// meaningless.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "analysis/statistics.hpp"

namespace encore::fuzz {

/// The random numbers of a case: equal for equal seeds, with every compiler.
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

/// Words that mean something in a format, such as "B-PER" in CoNLL; mutations insert them.
using Words = std::vector<std::string>;

/// Makes one to eight changes: bits and bytes, removed, doubled or moved parts, words of the format, numbers
/// at the edges of their types, a part of an input in `others`.
void mutate_bytes(std::string& input, const Words& words, const std::vector<std::string>& others,
                  Random& random);

/// Replaces values of JSON by others or by those of another type, or removes them. Invalid JSON is changed as
/// bytes.
void mutate_json(std::string& text, Random& random);

/// Returns numbers and strings at the limits, as JSON writes them.
const Words& json_words();

}  // namespace encore::fuzz
