// SPDX-License-Identifier: BSD-3-Clause
// Checks that the readers of lines share (conll.cpp, tsv.cpp, parallel.cpp, text_file.cpp, jsonl.cpp): lone
// carriage returns among other line ends, lines that are too long to be rows, and first rows that are
// headings. A first row that consists of headings is refused, so a heading that is added here can refuse
// files that are read today.
#pragma once

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace encore {

/// Longer rows are refused: most likely a line end or a closing quotation mark is missing.
inline constexpr std::size_t most_row_bytes = std::size_t{1} << 24;

/// Returns what is wrong with the length of a row, or "".
inline std::string problem_of_length(std::string_view row) {
  if (row.size() <= most_row_bytes) return "";
  return "this row has " + std::to_string(row.size()) + " bytes: expected at most " +
         std::to_string(most_row_bytes) + "; a line end may be missing";
}

/// Adds a note about lone CRs in a file with other line ends, where they may be characters of a text.
inline void add_stray_returns(std::vector<std::string>& notes, const std::string& file, std::int64_t count) {
  if (count > 0)
    notes.push_back(file + ": " + std::to_string(count) +
                    (count == 1 ? " lone carriage return (CR) is" : " lone carriage returns (CR) are") +
                    " read as " + (count == 1 ? "a line end" : "line ends"));
}

/// Returns whether the value is a usual heading of a label column, in upper or lower case.
inline bool is_label_heading(std::string_view value) {
  constexpr std::array<std::string_view, 16> names = {
      "label",    "labels", "class",      "category",   "tag",   "tags",     "target",  "sentiment",
      "polarity", "intent", "gold_label", "label_text", "score", "ner_tags", "ner_tag", "pos"};
  std::string small(value);
  std::ranges::transform(small, small.begin(), [](unsigned char letter) { return std::tolower(letter); });
  return std::ranges::find(names, small) != names.end();
}

/// Returns whether the value is a usual heading of a column with a text, a token or a source.
inline bool is_text_heading(std::string_view value) {
  constexpr std::array<std::string_view, 20> names = {
      "text",   "texts",    "sentence", "sentence1", "premise", "question1", "content",
      "review", "document", "tweet",    "title",     "source",  "src",       "token",
      "tokens", "word",     "words",    "form",      "input",   "utterance"};
  std::string small(value);
  std::ranges::transform(small, small.begin(), [](unsigned char letter) { return std::tolower(letter); });
  return std::ranges::find(names, small) != names.end();
}

}  // namespace encore
