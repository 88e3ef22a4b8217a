// SPDX-License-Identifier: BSD-3-Clause
// Implements Glossary and TranslationMemory: reads their files, and finds terms in strings. Strings are
// compared code point by code point, in lower case if the user wants that. Read glossary.hpp first.
#include "glossary.hpp"

#include <utf8proc.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include <encore/error.hpp>
#include <encore/required_text.hpp>
#include <encore/separated_rows.hpp>

namespace encore::translate_with_terms {
namespace {

std::string text_of_file(const std::filesystem::path& file, const char* what) {
  std::ifstream stream(file, std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
  if (!stream) throw Error(file.string() + ": cannot read this " + what);
  return text;
}

[[noreturn]] void refuse(const std::filesystem::path& file, std::int64_t line, const std::string& problem) {
  throw Error(file.string() + ":" + std::to_string(line) + ": " + problem);
}

/// Returns the values of the row that are not empty, as text. Throws Error for bytes that are not UTF-8.
std::vector<std::string> columns_of(const SeparatedRows& rows, const std::filesystem::path& file) {
  std::vector<std::string> columns;
  for (const std::string_view value : rows.values()) {
    for (std::size_t byte = 0; byte < value.size();) {
      utf8proc_int32_t point = -1;
      const auto* data = reinterpret_cast<const utf8proc_uint8_t*>(value.data() + byte);
      const utf8proc_ssize_t bytes =
          utf8proc_iterate(data, static_cast<utf8proc_ssize_t>(value.size() - byte), &point);
      if (bytes <= 0) refuse(file, rows.line(), "this line is not UTF-8: expected a file in UTF-8");
      byte += static_cast<std::size_t>(bytes);
    }
    columns.emplace_back(value);
  }
  while (columns.size() > 1 && columns.back().empty()) columns.pop_back();
  return columns;
}

/// Returns the number of bytes of the character that begins here.
std::size_t character_size(std::string_view text, std::size_t byte) {
  std::size_t size = 1;
  while (byte + size < text.size() && (static_cast<unsigned char>(text[byte + size]) & 0xC0U) == 0x80U)
    ++size;
  return size;
}

/// Returns the end of the word that begins at `first`, or of the one character there that belongs to no word.
std::size_t word_end(const std::u32string& text, std::size_t first) {
  std::size_t end = first;
  while (end < text.size() && joins_words(text[end])) ++end;
  return std::max(end, std::min(first + 1, text.size()));
}

}  // namespace

std::u32string Glossary::folded(std::string_view text) const {
  std::u32string points;
  for (std::size_t byte = 0; byte < text.size(); byte += character_size(text, byte)) {
    const char32_t point = code_point_at(text, byte);
    points +=
        ignore_case_ ? static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(point))) : point;
  }
  return points;
}

Glossary::Glossary(const std::filesystem::path& file, bool ignore_case) : ignore_case_(ignore_case) {
  const std::string text = text_of_file(file, "glossary");
  SeparatedRows rows(text, '\t', false);
  std::map<std::u32string, std::size_t> known;
  while (rows.next()) {
    std::vector<std::string> columns = columns_of(rows, file);
    if (columns.size() < 2 || std::ranges::find(columns, "") != columns.end())
      refuse(file, rows.line(),
             "expected TERM, a tab and its TRANSLATION; other forms may follow, each after a tab");
    Entry entry{.term = columns.front(),
                .forms = {columns.begin() + 1, columns.end()},
                .folded = folded(columns.front()),
                .line = static_cast<std::size_t>(rows.line())};
    const auto [other, is_new] = known.emplace(entry.folded, entry.line);
    if (!is_new)
      refuse(file, rows.line(),
             "the term \"" + entry.term + "\" is also in line " + std::to_string(other->second) +
                 ": write all its translations into one line, each after a tab");
    by_first_word_[entry.folded.substr(0, word_end(entry.folded, 0))].push_back(entries_.size());
    entries_.push_back(std::move(entry));
  }
  if (entries_.empty()) throw Error(file.string() + ": the glossary has no terms");
  for (auto& [word, numbers] : by_first_word_)
    std::ranges::stable_sort(numbers, std::ranges::greater(),
                             [&](std::size_t number) { return entries_[number].folded.size(); });
}

std::vector<Glossary::Use> Glossary::terms_in(std::string_view text) const {
  std::vector<Use> uses;
  if (entries_.empty()) return uses;
  const std::u32string points = folded(text);
  std::vector<std::size_t> bytes;  // where each code point begins, and the end of the text
  for (std::size_t byte = 0; byte < text.size(); byte += character_size(text, byte)) bytes.push_back(byte);
  bytes.push_back(text.size());
  for (std::size_t first = 0; first < points.size();) {
    std::size_t next = word_end(points, first);
    const auto entries = by_first_word_.find(points.substr(first, next - first));
    if (entries != by_first_word_.end())
      for (const std::size_t number : entries->second) {
        const std::u32string& term = entries_[number].folded;
        if (points.compare(first, term.size(), term) != 0 ||
            !stands_alone(text, bytes[first], bytes[first + term.size()]))
          continue;
        next = first + term.size();
        uses.push_back({.begin = bytes[first], .end = bytes[next], .entry = number});
        break;
      }
    first = next;
  }
  return uses;
}

ByteRange find_form(std::string_view text, const std::vector<std::string>& forms, std::size_t from) {
  for (std::size_t byte = from; byte < text.size(); byte += character_size(text, byte)) {
    std::size_t longest = 0;
    for (const std::string& form : forms)
      if (text.substr(byte).starts_with(form) && stands_alone(text, byte, byte + form.size()))
        longest = std::max(longest, form.size());
    if (longest > 0) return {.begin = byte, .end = byte + longest};
  }
  return {.begin = text.size(), .end = text.size()};
}

std::size_t count_forms(std::string_view text, const std::vector<std::string>& forms) {
  std::size_t count = 0;
  for (ByteRange form = find_form(text, forms, 0); form.begin < form.end;
       form = find_form(text, forms, form.end))
    ++count;
  return count;
}

TranslationMemory::TranslationMemory(const std::filesystem::path& file) {
  const std::string text = text_of_file(file, "translation memory");
  SeparatedRows rows(text, '\t', false);
  while (rows.next()) {
    const std::vector<std::string> columns = columns_of(rows, file);
    if (columns.size() != 2 || columns[0].empty() || columns[1].empty())
      refuse(file, rows.line(), "expected SOURCE, a tab and TARGET");
    const auto [known, is_new] = targets_.emplace(
        columns[0], Target{.text = columns[1], .line = static_cast<std::size_t>(rows.line())});
    if (!is_new && known->second.text != columns[1])
      refuse(file, rows.line(),
             "the source of this line has another translation in line " + std::to_string(known->second.line) +
                 ": keep one of them");
  }
}

const std::string* TranslationMemory::find(std::string_view source) const {
  const auto found = targets_.find(trimmed(source));
  return found == targets_.end() ? nullptr : &found->second.text;
}

}  // namespace encore::translate_with_terms
