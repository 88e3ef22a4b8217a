// SPDX-License-Identifier: BSD-3-Clause
// Lines: the one rule by which a text is cut into lines: LF, CRLF and a lone CR end a line, as in Python's
// text mode. CR CR LF, which a second conversion to CRLF leaves behind, is one line end too. Readers,
// vocabularies and verbs that take one text per line cut the text of a file or of standard input by it.
// Numbers of lines in messages, and the records of data sets, depend on the rule, so it must not change.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace encore {

/// Finds the line ends of a text. Queries must not go backwards: all of them together read the text once.
class LineEnds {
 public:
  explicit LineEnds(std::string_view text) : text_(text) {}

  /// Returns the place of the first line end at or after `at`; the size of the text if there is none.
  std::size_t next(std::size_t at) {
    if (!known_ || feed_ < at) feed_ = find('\n', at);
    if (!known_ || return_ < at) return_ = find('\r', at);
    known_ = true;
    return std::min(feed_, return_);
  }
  /// Returns the number of bytes of the line end at a place that next() returned; 0 at the end of the text.
  std::size_t length(std::size_t place) const {
    for (const std::string_view end : {"\r\r\n", "\r\n"})
      if (text_.substr(place).starts_with(end)) return end.size();
    return place < text_.size() ? 1 : 0;
  }

 private:
  std::size_t find(char letter, std::size_t at) const {
    return std::min(text_.find(letter, at), text_.size());
  }

  std::string_view text_;
  bool known_ = false;
  std::size_t feed_ = 0, return_ = 0;  ///< the next LF and CR
};

/// The lines of a text, one by one. A line end closes a line, so none follows the last one.
class Lines {
 public:
  explicit Lines(std::string_view text) : text_(text), ends_(text) {}

  /// Moves to the next line. Returns false after the last one. line() then returns it without its line end.
  bool next() {
    if (at_ >= text_.size()) return false;
    const std::size_t end = ends_.next(at_);
    line_ = text_.substr(at_, end - at_);
    at_ = end + ends_.length(end);
    ++number_;
    if (end < text_.size()) ++(at_ == end + 1 && text_[end] == '\r' ? lone_returns_ : others_);
    return true;
  }
  std::string_view line() const { return line_; }
  /// Returns the number of the current line, from 1.
  std::int64_t number() const { return number_; }
  /// Returns how many lines so far ended with a lone CR in a text in which others end with LF or CRLF.
  std::int64_t stray_returns() const { return others_ > 0 ? lone_returns_ : 0; }

 private:
  std::string_view text_, line_;
  LineEnds ends_;
  std::size_t at_ = 0;
  std::int64_t number_ = 0, lone_returns_ = 0, others_ = 0;
};

/// Returns the number of line ends in a text.
inline std::int64_t count_line_ends(std::string_view text) {
  LineEnds ends(text);
  std::int64_t count = 0;
  for (std::size_t at = ends.next(0); at < text.size(); at = ends.next(at + ends.length(at))) ++count;
  return count;
}

}  // namespace encore
