// SPDX-License-Identifier: BSD-3-Clause
// TerminalFilter: a stream buffer in front of the terminal that replaces unsafe characters, so that text from
// a database or bundle cannot control the terminal. Place in the flow: main() of both programs puts one in
// front of std::cerr, exp also in front of std::cout, and a worker in front of answers that go to a terminal
// (worker/answers.cpp). Output for programs (--json, --csv) passes unchanged, because its bytes are data.
// Several threads may write.
#pragma once

#include <iosfwd>
#include <mutex>
#include <streambuf>
#include <string>
#include <string_view>

namespace encore {

class TerminalFilter : public std::streambuf {
 public:
  /// Filters the stream until the filter is destroyed. With `color` the styles of cli/terminal.hpp pass; all
  /// other escape sequences are replaced.
  TerminalFilter(std::ostream& stream, bool color);
  ~TerminalFilter() override;
  TerminalFilter(const TerminalFilter&) = delete;
  TerminalFilter& operator=(const TerminalFilter&) = delete;

  void pass_all();
  void write_control(std::string_view text);

 protected:
  int_type overflow(int_type letter) override;
  std::streamsize xsputn(const char* text, std::streamsize size) override;
  int sync() override;

 private:
  bool write(std::string_view text);
  bool put(std::string_view text);
  std::size_t style_length(std::string_view text) const;

  std::ostream& stream_;
  std::streambuf* target_;
  const bool color_;
  std::mutex mutex_;  ///< guards the members below
  bool passes_all_ = false;
  std::string cut_;  ///< the beginning of a character or style that is not complete yet
};

/// Turns the filter of the stream off, if it has one. Call it before writing data for programs.
void pass_all(std::ostream& stream);
/// Writes past the filter of the stream, if it has one: sequences that move the cursor, around text that was
/// made printable before.
void write_control(std::ostream& stream, std::string_view text);

}  // namespace encore
