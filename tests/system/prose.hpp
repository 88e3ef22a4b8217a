// SPDX-License-Identifier: BSD-3-Clause
// The prose of a source file, a script or a page: its comments, string literals, test names and sentences,
// each with its line. language_test.cpp is its only user; read language_rules.hpp next. A scanner of
// characters, not a parser: it is enough for the layout that .clang-format gives. A new kind of file needs
// one more branch in prose_of().
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace encore::testing {

/// One word of prose in lower case. Code spans, paths, option names and identifiers are not words; they are
/// kept as an empty text, so that no phrase matches across them.
struct ProseWord {
  std::string text;
  int line = 0;             ///< of the file, counted from 1
  bool ends = false;        ///< a sentence ends behind this word
  bool pauses = false;      ///< a comma, colon or semicolon follows
  bool is_capital = false;  ///< the first letter is upper case
};

/// Text that a reader takes in as one: consecutive comment lines, one string literal, one paragraph.
struct Passage {
  enum class Kind { comment, literal, page, test_name };
  Kind kind = Kind::comment;
  int line = 0;
  std::string text;  ///< without comment marks, quotes and escapes, with its line breaks
};

/// The passages of a file in their order. The file name decides how the content is read; files of data have
/// no passages.
std::vector<Passage> prose_of(const std::filesystem::path& file, std::string_view content);

/// The words of a passage.
std::vector<ProseWord> words_of(const Passage& passage);

}  // namespace encore::testing
