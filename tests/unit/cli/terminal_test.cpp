// SPDX-License-Identifier: BSD-3-Clause
// Tests the terminal of `exp` (cli/terminal.hpp): the width of characters, cutting text without splitting a
// character, and LiveLines, the lines that are redrawn while runs train. The escape sequences are compared
// byte by byte; elsewhere than on a terminal no live line may be written.
#include "cli/terminal.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <sstream>

namespace encore::cli {
namespace {

TEST(Terminal, WidthCountsWideAndCombiningCharacters) {
  EXPECT_EQ(display_width("abc"), 3);
  EXPECT_EQ(display_width("ä"), 1);
  EXPECT_EQ(display_width("e\u0301"), 1);
  EXPECT_EQ(display_width("日本"), 4);
  EXPECT_EQ(display_width("\xff"), 1);
}

TEST(Terminal, CuttingNeverSplitsACharacter) {
  EXPECT_EQ(cut_to_width("abcdef", 6, true), "abcdef");
  EXPECT_EQ(cut_to_width("abcdef", 4, true), "abc…");
  EXPECT_EQ(cut_to_width("abcdef", 4, false), "abc.");
  EXPECT_EQ(cut_to_width("日本語", 4, true), "日…");
  EXPECT_EQ(cut_to_width("abc", 0, true), "");
}

/// Returns what `write` writes to the stream.
std::string written(const std::function<void(std::ostream&)>& write) {
  std::ostringstream out;
  write(out);
  return out.str();
}

TEST(LiveLines, ReplaceThemselvesOnATerminalAndAreSilentElsewhere) {
  const auto write = [](const Terminal& terminal) {
    return written([&](std::ostream& out) {
      LiveLines lines(out, terminal);
      lines.set(0, "one");
      lines.refresh();
      lines.refresh();
      lines.set(0, "a very long line");
      lines.refresh();
      lines.print("stays");
    });
  };
  EXPECT_EQ(write(Terminal{.live = true, .utf8 = true, .width = 10}), "one\r\033[Ja very l…\r\033[Jstays\n");
  EXPECT_EQ(write(Terminal{}), "stays\n");
}

TEST(LiveLines, StandInTheOrderOfTheirKeysAndOneGoesWhenItIsRemoved) {
  EXPECT_EQ(written([](std::ostream& out) {
              LiveLines lines(out, Terminal{.live = true});
              lines.set(2, "second");
              lines.set(1, "first");
              lines.refresh();
              lines.remove(1);
              lines.refresh();
            }),
            "first\nsecond\r\033[1A\033[Jsecond\r\033[J");
}

TEST(LiveLines, MoreThanTheTerminalIsHighAreCounted) {
  EXPECT_EQ(written([](std::ostream& out) {
              LiveLines lines(out, Terminal{.live = true, .height = 4});
              for (int key = 0; key < 5; ++key) lines.set(key, "line " + std::to_string(key));
              lines.refresh();
            }),
            "line 0\nand 4 more\r\033[1A\033[J");
}

}  // namespace
}  // namespace encore::cli
