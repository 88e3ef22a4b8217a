// SeparatedRows: a text whose lines are rows with columns parted by one character; where quotes count, as RFC
// 4180 has it, a value in quotation marks may hold that character, line breaks, and "" for a quotation mark.
// Place in the flow: the text of a file -> here -> the reader "tsv".
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

  /// The next row that is not empty; false at the end.
  bool next();
  /// Of the current row, which may have several lines: the first, from 1.
  std::int64_t line() const { return line_; }
  /// Its bytes, without the line end behind it. Valid as long as the text.
  std::string_view row() const { return text_.substr(row_begin_, row_end_ - row_begin_); }
  /// White space around a value is dropped, within quotation marks it is kept. Valid until next().
  const std::vector<std::string_view>& values() const { return values_; }
  /// What is wrong with its quotation marks, or "".
  const std::string& problem() const { return problem_; }
  /// Lone CRs that ended rows so far, where others ended with LF.
  std::int64_t stray_returns() const { return others_ > 0 ? lone_returns_ : 0; }

 private:
  void take_line();
  void take_quoted_row();
  std::string_view take_quoted_value();
  /// Up to the delimiter or the end of the line, which stay.
  std::string_view take_plain_value();
  std::size_t place() const { return text_.size() - left_.size(); }
  /// Bytes of what is left that lie in front of the next line end.
  std::size_t bytes_of_line() { return ends_.next(place()) - place(); }
  void take_line_end();

  std::string_view text_, left_;
  LineEnds ends_;
  char delimiter_;
  bool has_quotes_;
  std::size_t row_begin_ = 0, row_end_ = 0;
  std::int64_t line_ = 0, next_line_ = 1;
  std::int64_t lone_returns_ = 0, others_ = 0;  ///< rows by what ended them
  std::vector<std::string_view> values_;
  std::deque<std::string> unquoted_;  ///< values whose quotation marks were doubled
  std::string problem_;
};

/// A value as `has_quotes` wants it in a file: in quotation marks where it could be misread, else on one
/// line.
std::string written_value(std::string_view value, char delimiter, bool has_quotes);

}  // namespace encore::tsv
