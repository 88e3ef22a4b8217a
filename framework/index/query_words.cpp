// SPDX-License-Identifier: BSD-3-Clause
// The words of a query, and their form for FTS5: each word stands in quotation marks, within which FTS5 knows
// no operators. The stop words are the 33 words that Lucene's EnglishAnalyzer drops; the list is part of the
// meaning of an index and must stay. Read row_store.hpp first.
#include "index/row_store.hpp"

#include <algorithm>
#include <set>

namespace encore::index {
namespace {

bool is_stop_word(const std::string& word) {
  static const std::set<std::string> words = {
      "a",  "an",  "and",   "are",  "as",    "at",    "be",   "but",  "by",  "for",  "if",
      "in", "is",  "it",    "into", "no",    "not",   "of",   "on",   "or",  "such", "that",
      "to", "the", "their", "then", "there", "these", "they", "this", "was", "will", "with"};
  return words.contains(word);
}

bool is_of_word(char letter) {
  const auto byte = static_cast<unsigned char>(letter);
  return byte >= 0x80 || (letter >= '0' && letter <= '9') || (letter >= 'a' && letter <= 'z') ||
         (letter >= 'A' && letter <= 'Z');
}

char in_lower_case(char letter) {
  return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
}

}  // namespace

std::vector<std::string> words_of_query(std::string_view query, bool drops_stop_words) {
  std::vector<std::string> words, dropped;
  std::set<std::string> seen;
  for (std::size_t at = 0; at < query.size() && words.size() < most_query_words;) {
    if (!is_of_word(query[at])) {
      ++at;
      continue;
    }
    std::string word;
    for (; at < query.size() && is_of_word(query[at]); ++at) word += in_lower_case(query[at]);
    if (!seen.insert(word).second) continue;
    (drops_stop_words && is_stop_word(word) ? dropped : words).push_back(std::move(word));
  }
  return words.empty() ? dropped : words;
}

std::string match_expression(const std::vector<std::string>& words) {
  std::string expression;
  for (const std::string& word : words) expression += (expression.empty() ? "\"" : " OR \"") + word + "\"";
  return expression;
}

}  // namespace encore::index
