// SPDX-License-Identifier: BSD-3-Clause
// Tests wrapped() (cli/terminal.hpp), which breaks help text into lines, and TerminalFilter
// (base/terminal_filter.hpp), through which all output to a terminal passes: sequences that would control the
// terminal must be replaced, wherever the output is cut into writes, and data for programs must pass
// unchanged.

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <vector>

#include "base/terminal_filter.hpp"
#include "cli/terminal.hpp"

namespace encore::cli {
namespace {

TEST(WrappedText, NoLineIsWiderThanItMayBe) {
  EXPECT_EQ(wrapped("one two three four", 9), "one two\nthree\nfour");
  EXPECT_EQ(wrapped("one two", 7), "one two");
  EXPECT_EQ(wrapped("", 10), "");
}

TEST(WrappedText, LineBreaksAndIndentsStay) {
  EXPECT_EQ(wrapped("a list:\n  bash: add this line\n\nthe end", 14),
            "a list:\n  bash: add\n  this line\n\nthe end");
  EXPECT_EQ(wrapped("  run   train what is asked", 16, 6), "  run   train\n        what is\n        asked");
}

TEST(WrappedText, AWordIsNeverCut) {
  EXPECT_EQ(wrapped("see https://example.org/page now", 10), "see\nhttps://example.org/page\nnow");
}

TEST(WrappedText, ColumnsAreCountedAndNotBytes) {
  EXPECT_EQ(wrapped("zo\xc3\xab zo\xc3\xab", 7), "zo\xc3\xab zo\xc3\xab");
  EXPECT_EQ(wrapped("\xe4\xb8\xad\xe6\x96\x87 ab", 6), "\xe4\xb8\xad\xe6\x96\x87\nab") << "wide characters";
}

/// Returns what the filter lets through of these strings, each written and flushed by itself, and of "end",
/// written letter by letter.
std::string filtered(const std::vector<std::string>& pieces, bool color = false) {
  std::ostringstream out;
  {
    const TerminalFilter filter(out, color);
    for (const std::string& piece : pieces) out << piece << std::flush;
    for (const char letter : std::string("end")) out.put(letter);
  }
  return out.str();
}

TEST(TerminalFilter, ReplacesCommandsOfATerminalHoweverTheyAreCut) {
  const std::string hostile =
      "a\n\tb\033[2J\033]0;title\007 \xc2\x9b"
      "31m \xe2\x80\xae"
      "gpj.exe \x9b"
      "2J zo\xc3\xab\r";
  const std::string clean = "a\n\tb?[2J?]0;title? ?31m ?gpj.exe ?2J zo\xc3\xab?end";
  EXPECT_EQ(filtered({hostile}), clean);
  for (std::size_t at = 0; at <= hostile.size(); ++at)
    EXPECT_EQ(filtered({hostile.substr(0, at), hostile.substr(at)}), clean) << at;
}

TEST(TerminalFilter, LetsOurOwnStylesPassWhereThereIsColour) {
  const Terminal terminal{.color = true};
  const std::string text = styled(terminal, Style::red, "no") + styled(terminal, Style::bold, "b");
  EXPECT_EQ(filtered({text}, true), text + "end");
  for (std::size_t at = 0; at <= text.size(); ++at)
    EXPECT_EQ(filtered({text.substr(0, at), text.substr(at)}, true), text + "end") << at;
  EXPECT_EQ(filtered({"\033[2J\033[8m\033]52;c;x\007\033"}, true), "?[2J?[8m?]52;c;x??end");
  EXPECT_EQ(filtered({text}), "?[31mno?[0m?[1mb?[0mend");
}

TEST(TerminalFilter, LetsDataForProgramsPass) {
  std::ostringstream out;
  {
    const TerminalFilter filter(out, false);
    pass_all(out);
    out << "\"\xe2\x80\xae\",\033\r\n";
  }
  EXPECT_EQ(out.str(), "\"\xe2\x80\xae\",\033\r\n");
}

TEST(TerminalFilter, AFailureToWriteIsSeen) {
  std::ofstream closed;
  {
    const TerminalFilter filter(closed, false);
    closed << "text" << std::flush;
    EXPECT_FALSE(closed);
  }
  EXPECT_FALSE(closed);
}

}  // namespace
}  // namespace encore::cli
