// SPDX-License-Identifier: BSD-3-Clause
// Splits running text into words as annotated corpora do: punctuation at the ends of a word is separate, and
// so is an English 's. WordLabels::from_text (tasks ner and tag) calls it for text that a user types;
// join_words() is for words of a file, which stay as they are. Predictions for such text depend on it,
// trained models do not.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace encore::tasks {

struct TextWord {
  std::string_view text;  ///< within the line
  std::size_t start = 0;  ///< in Unicode code points from the start of the line
  std::size_t end = 0;    ///< one past the last
};

/// Returns the words of one line without white space. The line must be UTF-8 and outlive the result.
std::vector<TextWord> split_words(std::string_view line);

/// Writes the words of a record into `line`, with a blank between two, and returns them as parts of it.
std::vector<TextWord> join_words(const std::vector<std::string>& words, std::string& line);

}  // namespace encore::tasks
