// SPDX-License-Identifier: BSD-3-Clause
// The kinds of lines in CoNLL files: rows, comments and ends of sentences. A token may begin with the comment
// mark too ("#fun"), so the number of columns decides. conll.cpp and conll_questions.cpp call it for each
// line and must agree about every line. Read conll_rows.hpp first.
#include "conll_rows.hpp"

#include <map>

#include <encore/lines.hpp>

#include "line_checks.hpp"
#include "line_text.hpp"

namespace encore::conll {

bool parts_sentences(std::string_view line, char delimiter) {
  constexpr std::string_view mark = "-DOCSTART-";
  if (line.empty()) return true;
  if (!line.starts_with(mark)) return false;
  return line.size() == mark.size() || line[mark.size()] == ' ' || line[mark.size()] == '\t' ||
         line[mark.size()] == delimiter;
}

bool has_label_of_sentence(std::string_view line, const Format& format) {
  return !format.label_comment.empty() && line.starts_with(format.label_comment);
}

void split_row(std::string_view whole, const Format& format, std::vector<std::string_view>& columns) {
  if (format.delimiter == ' ') {
    const std::string_view line = trimmed(whole);
    whole = whole.substr(0, static_cast<std::size_t>(line.data() + line.size() - whole.data()));
  }
  split_columns(whole, format.delimiter, columns);
}

std::string_view first_row(std::string_view text, const Format& format) {
  for (Lines lines(text); lines.next();) {
    const bool may_be_comment = has_label_of_sentence(lines.line(), format) ||
                                (!format.comment.empty() && lines.line().starts_with(format.comment));
    if (!may_be_comment && !parts_sentences(trimmed(lines.line()), format.delimiter)) return lines.line();
  }
  return {};
}

/// Returns whether a line is a comment. It is a row if it has as many columns as other rows, and a label if
/// one is expected. If labels may be any word, blanks alone do not make "# words" a row.
bool is_comment(std::string_view line, const Format& format, std::int64_t expected,
                std::vector<std::string_view>& columns) {
  if (format.comment.empty() || !line.starts_with(format.comment)) return false;
  split_row(line, format, columns);
  const bool has_own_delimiter = format.delimiter != ' ' || line.find('\t') != std::string_view::npos;
  if (!problem_of(columns, format, expected, line.find('\t') != std::string_view::npos).empty()) return true;
  const std::string_view behind = line.substr(format.comment.size());
  const bool ends_mark = behind.empty() || behind.front() == ' ' || behind.front() == '\t';
  if (!format.entities) return !has_own_delimiter && ends_mark;
  std::map<std::string, std::int64_t> unused;
  const bool has_label =
      problem_of_tag(mapped_label(columns[place_of_label(format, std::ssize(columns))], format, unused),
                     format)
          .empty();
  return !has_label && (ends_mark || !has_own_delimiter);
}

std::string problem_of_heading(std::span<const std::string_view> columns, const Format& format) {
  const std::string_view label = columns[place_of_label(format, std::ssize(columns))];
  const std::string_view token = columns[static_cast<std::size_t>(format.token_column) - 1];
  if (!is_text_heading(token) || !is_label_heading(label)) return "";
  return "this row names the columns (\"" + std::string(token) + "\", \"" + std::string(label) +
         "\") and has no token: remove it";
}

}  // namespace encore::conll
