// SPDX-License-Identifier: BSD-3-Clause
// SeparatedRows reads a text whose lines are rows of columns separated by one character. With quotes, as in
// RFC 4180, a value in quotation marks may contain that character, line breaks, and "" for a quotation mark.
// The flow is: text of a file -> SeparatedRows -> the reader "tsv"; framework/survey finds the columns of a
// user's file by the same rule. Equal bytes must give equal values, or runs do not repeat, so the rules never
// change.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include <encore/lines.hpp>

namespace encore {

/// Splits a text into rows and values in one pass. Values point into the text unless they contain doubled
/// quotation marks.
class SeparatedRows {
 public:
  SeparatedRows(std::string_view text, char delimiter, bool has_quotes);

  /// Moves to the next row that is not empty; returns false at the end.
  bool next();
  /// Returns the number of the first line of the current row, from 1.
  std::int64_t line() const { return line_; }
  /// Returns the bytes of the row without its line end. Valid as long as the text.
  std::string_view row() const { return text_.substr(row_begin_, row_end_ - row_begin_); }
  /// Returns the values, without white space around them unless it is in quotation marks. Valid until next().
  const std::vector<std::string_view>& values() const { return values_; }
  /// Returns what is wrong with the quotation marks of the row, or "".
  const std::string& problem() const { return problem_; }
  /// Returns the number of lone CRs that have ended rows so far; 0 if no row ended with LF.
  std::int64_t stray_returns() const { return others_ > 0 ? lone_returns_ : 0; }

 private:
  void take_line();
  void take_quoted_row();
  std::string_view take_quoted_value();
  /// Reads up to the delimiter or the line end, which are not consumed.
  std::string_view take_plain_value();
  std::size_t place() const { return text_.size() - left_.size(); }
  /// Returns the number of bytes before the next line end.
  std::size_t bytes_of_line() { return ends_.next(place()) - place(); }
  void take_line_end();

  std::string_view text_, left_;
  LineEnds ends_;
  char delimiter_;
  bool has_quotes_;
  std::size_t row_begin_ = 0, row_end_ = 0;
  std::int64_t line_ = 0, next_line_ = 1;
  std::int64_t lone_returns_ = 0, others_ = 0;  ///< rows by the kind of their line end
  std::vector<std::string_view> values_;
  std::deque<std::string> unquoted_;  ///< values that had doubled quotation marks
  std::string problem_;
};

inline SeparatedRows::SeparatedRows(std::string_view text, char delimiter, bool has_quotes)
    : text_(text), left_(text), ends_(text), delimiter_(delimiter), has_quotes_(has_quotes) {
  while (left_.starts_with("\xEF\xBB\xBF")) left_.remove_prefix(3);
}

inline void SeparatedRows::take_line_end() {
  const std::size_t bytes = ends_.length(place());
  if (bytes == 0) return;
  ++(bytes == 1 && left_.front() == '\r' ? lone_returns_ : others_);
  left_.remove_prefix(bytes);
  ++next_line_;
}

inline bool SeparatedRows::next() {
  while (!left_.empty()) {
    values_.clear();
    unquoted_.clear();
    problem_.clear();
    line_ = next_line_;
    row_begin_ = place();
    if (has_quotes_)
      take_quoted_row();
    else
      take_line();
    row_end_ = place();
    take_line_end();
    if (values_.size() > 1 || !values_.front().empty() || !problem_.empty()) return true;
  }
  return false;
}

inline void SeparatedRows::take_line() {
  std::string_view line = left_.substr(0, bytes_of_line());
  left_.remove_prefix(line.size());
  for (std::size_t end = line.find(delimiter_); end != std::string_view::npos; end = line.find(delimiter_)) {
    values_.push_back(trimmed(line.substr(0, end)));
    line.remove_prefix(end + 1);
  }
  values_.push_back(trimmed(line));
}

inline void SeparatedRows::take_quoted_row() {
  while (true) {
    const std::size_t blanks = std::min(left_.find_first_not_of(" \t\v\f"), left_.size());
    const bool is_quoted = blanks < left_.size() && left_[blanks] == '"' &&
                           left_.substr(0, blanks).find(delimiter_) == std::string_view::npos;
    if (is_quoted) {
      left_.remove_prefix(blanks + 1);
      values_.push_back(take_quoted_value());
      const std::string_view behind = take_plain_value();
      if (!behind.empty() && problem_.empty())
        problem_ = "letters follow the closing quotation mark of column " + std::to_string(values_.size()) +
                   "; a quotation mark within a value is written twice";
    } else {
      values_.push_back(take_plain_value());
    }
    if (bytes_of_line() == 0) return;
    left_.remove_prefix(1);  // the delimiter
  }
}

inline std::string_view SeparatedRows::take_quoted_value() {
  const std::string_view from = left_;
  bool has_doubled = false;
  std::size_t end = from.find('"');
  while (end != std::string_view::npos && end + 1 < from.size() && from[end + 1] == '"') {
    has_doubled = true;
    end = from.find('"', end + 2);
  }
  if (end == std::string_view::npos) {
    problem_ =
        "the quotation mark that opens column " + std::to_string(values_.size() + 1) + " is never closed";
    end = from.size();
  }
  const std::string_view value = from.substr(0, end);
  next_line_ += count_line_ends(value);
  left_.remove_prefix(std::min(end + 1, from.size()));
  if (!has_doubled) return value;
  std::string& text = unquoted_.emplace_back();
  for (std::size_t i = 0; i < value.size(); ++i) {
    text += value[i];
    if (value[i] == '"') ++i;
  }
  return text;
}

inline std::string_view SeparatedRows::take_plain_value() {
  const std::string_view line = left_.substr(0, bytes_of_line());
  const std::string_view value = line.substr(0, line.find(delimiter_));
  left_.remove_prefix(value.size());
  return trimmed(value);
}

/// Returns a value as a file should contain it. With `has_quotes` it gets quotation marks if it could be
/// misread; without, its line breaks become blanks.
inline std::string written_value(std::string_view value, char delimiter, bool has_quotes) {
  if (!has_quotes) {
    std::string text(trimmed(value));
    std::ranges::replace_if(
        text, [&](char letter) { return letter == delimiter || letter == '\n' || letter == '\r'; }, ' ');
    return text;
  }
  const bool is_plain = value.find_first_of("\"\n\r") == std::string_view::npos &&
                        value.find(delimiter) == std::string_view::npos && trimmed(value) == value;
  if (is_plain) return std::string(value);
  std::string text = "\"";
  for (const char letter : value) {
    text += letter;
    if (letter == '"') text += letter;
  }
  return text + "\"";
}

}  // namespace encore
