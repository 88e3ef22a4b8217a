// SPDX-License-Identifier: BSD-3-Clause
// WordCounts: counts words, with or without their white space, from which a tokenizer is trained. Tasks that
// read a whole text use it in Task::text_counts. Trained vocabularies depend on these counts, so they must
// not change.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <unordered_map>

#include <encore/tokenizer.hpp>

namespace encore::tasks {

/// Counts words. The counted strings must outlive this object.
class WordCounts {
 public:
  void add(std::string_view text) {
    for (std::size_t end = 0, first = text.find_first_not_of(white_space); first != std::string_view::npos;
         first = text.find_first_not_of(white_space, end)) {
      end = std::min(text.find_first_of(white_space, first), text.size());
      ++counts_[text.substr(first, end - first)];
    }
  }
  /// Counts each word with the white space before it, and the white space at the end, so that nothing is
  /// lost. A tokenizer that cuts at white space cuts these parts as it cuts the whole text.
  void add_with_blanks(std::string_view text) {
    for (std::size_t begin = 0, end = 0; begin < text.size(); begin = end) {
      end = std::min(text.find_first_not_of(white_space, begin), text.size());
      end = std::min(text.find_first_of(white_space, end), text.size());
      ++counts_[text.substr(begin, end - begin)];
    }
  }
  /// Returns the counts sorted: a map, because its order does not depend on a hash table.
  TextCounts sorted() const { return {counts_.begin(), counts_.end()}; }

 private:
  static constexpr std::string_view white_space = " \t\r\n\v\f";

  std::unordered_map<std::string_view, std::int64_t> counts_;
};

}  // namespace encore::tasks
