// TerminalFilter: what stands between a standard stream and the terminal, so that no text of others reaches
// it as a command. Place in the flow: main() of both programs puts one in front of std::cerr, that of exp in
// front of std::cout too, and a worker in front of answers that go to a terminal (worker/answers.cpp). What
// exp writes for programs (--json, --csv) passes unchanged, because its bytes are data. Several threads may
// write.
#pragma once

#include <iosfwd>
#include <mutex>
#include <streambuf>
#include <string>
#include <string_view>

namespace encore {

class TerminalFilter : public std::streambuf {
 public:
  /// Filters what is written to the stream until the filter is destroyed. `color`: the styles of
  /// cli/terminal.hpp pass, and nothing else that begins with an escape character.
  TerminalFilter(std::ostream& stream, bool color);
  ~TerminalFilter() override;
  TerminalFilter(const TerminalFilter&) = delete;
  TerminalFilter& operator=(const TerminalFilter&) = delete;

  void pass_all();

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
  std::mutex mutex_;  ///< of what follows
  bool passes_all_ = false;
  std::string cut_;  ///< the beginning of a character or style, whose rest was not written yet
};

/// Lets everything pass that is written to the stream from now on, where a TerminalFilter is in front of it.
void pass_all(std::ostream& stream);

}  // namespace encore
