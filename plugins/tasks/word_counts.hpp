// WordCounts: counts words, with or without their white space, to train a tokenizer. Tasks that read whole
// inputs share it. Place in the flow: Task::text_counts.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <unordered_map>

#include <encore/tokenizer.hpp>

namespace encore::tasks {

/// The counted strings must outlive it.
class WordCounts {
 public:
  void add(std::string_view text) {
    for (std::size_t end = 0, first = text.find_first_not_of(white_space); first != std::string_view::npos;
         first = text.find_first_not_of(white_space, end)) {
      end = std::min(text.find_first_of(white_space, first), text.size());
      ++counts_[text.substr(first, end - first)];
    }
  }
  /// Counts each word with the white space in front of it, and the white space at the end, so nothing is
  /// lost. A tokenizer that cuts at white space cuts these parts as it cuts the whole text.
  void add_with_blanks(std::string_view text) {
    for (std::size_t begin = 0, end = 0; begin < text.size(); begin = end) {
      end = std::min(text.find_first_not_of(white_space, begin), text.size());
      end = std::min(text.find_first_of(white_space, end), text.size());
      ++counts_[text.substr(begin, end - begin)];
    }
  }
  /// Returns a map, because its order is fixed; it is sorted once.
  TextCounts sorted() const { return {counts_.begin(), counts_.end()}; }

 private:
  static constexpr std::string_view white_space = " \t\r\n\v\f";

  std::unordered_map<std::string_view, std::int64_t> counts_;
};

}  // namespace encore::tasks
