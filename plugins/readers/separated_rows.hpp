// SPDX-License-Identifier: BSD-3-Clause
// SeparatedRows reads a text whose lines are rows of columns separated by one character. With quotes, as in
// RFC 4180, a value in quotation marks may contain that character, line breaks, and "" for a quotation mark.
// The flow is: text of a file -> SeparatedRows -> the reader "tsv". Its rules are those of data files that
// exist, so they must not change.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include <encore/lines.hpp>

namespace encore::tsv {

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

/// Returns a value as a file should contain it. With `has_quotes` it gets quotation marks if it could be
/// misread; without, its line breaks become blanks.
std::string written_value(std::string_view value, char delimiter, bool has_quotes);

}  // namespace encore::tsv
