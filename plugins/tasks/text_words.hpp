// Running text to words, as the annotated corpora have them: punctuation at the ends of a word stands alone,
// and so does an English 's. Place in the flow: from_text, for text that nobody has split.
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

/// Words of one line; white space separates and is dropped. The line must be UTF-8 and outlive the result.
std::vector<TextWord> split_words(std::string_view line);

}  // namespace encore::tasks
