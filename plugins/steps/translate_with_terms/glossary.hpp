// SPDX-License-Identifier: BSD-3-Clause
// Glossary and TranslationMemory: two files of the user that the step obeys. A glossary has terms with the
// translations that they must have; a memory has whole strings with their translations. Both are read once,
// when the step is made. translate_with_terms.cpp asks them about each text. Answers of stored runs depend on
// how terms are found, so a change needs a new version of the step.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <encore/tokenizer.hpp>

namespace encore::translate_with_terms {

class Glossary {
 public:
  /// A line of the file: TERM, tab, TRANSLATION, and more forms of the translation that are accepted too.
  struct Entry {
    std::string term;
    std::vector<std::string> forms;
    std::u32string folded = {};  ///< the term as strings are compared with it
    std::size_t line = 0;
  };
  /// A term in a text.
  struct Use {
    std::size_t begin = 0, end = 0;  ///< bytes
    std::size_t entry = 0;           ///< number in entries()
  };

  Glossary() = default;
  /// Throws Error that names file and line if the file cannot be read, if a line has no translation, or if a
  /// term stands twice.
  Glossary(const std::filesystem::path& file, bool ignore_case);

  const std::vector<Entry>& entries() const { return entries_; }
  /// Returns the terms of a text in their order, none inside another: at each word the longest term.
  std::vector<Use> terms_in(std::string_view text) const;

 private:
  std::u32string folded(std::string_view text) const;

  bool ignore_case_ = true;
  std::vector<Entry> entries_;
  std::map<std::u32string, std::vector<std::size_t>> by_first_word_;  ///< the longest term first
};

/// Returns how often a text has one of the forms as whole words; occurrences do not overlap.
std::size_t count_forms(std::string_view text, const std::vector<std::string>& forms);

/// Returns the first bytes [begin, end) at or after `from` that are one of the forms as whole words, the
/// longest form first; an empty range at the end of the text if there are none.
ByteRange find_form(std::string_view text, const std::vector<std::string>& forms, std::size_t from);

class TranslationMemory {
 public:
  TranslationMemory() = default;
  /// Reads lines of SOURCE, tab, TARGET. Throws Error that names file and line if the file cannot be read, if
  /// a line has not two columns, or if a source has two translations.
  explicit TranslationMemory(const std::filesystem::path& file);
  /// Returns the translation of a text, white space at its ends ignored; null if the memory has none.
  const std::string* find(std::string_view source) const;
  std::size_t size() const { return targets_.size(); }

 private:
  struct Target {
    std::string text;
    std::size_t line = 0;
  };
  std::map<std::string, Target, std::less<>> targets_;
};

}  // namespace encore::translate_with_terms
