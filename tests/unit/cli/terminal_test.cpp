#include "cli/terminal.hpp"

#include <gtest/gtest.h>

namespace encore {
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

TEST(LiveLine, ReplacesItselfOnATerminalAndIsSilentElsewhere) {
  std::FILE* file = std::tmpfile();
  {
    LiveLine line(file, Terminal{.live = true, .utf8 = true, .width = 10});
    line.draw("one");
    line.draw("one");
    line.draw("a very long line");
    line.print("stays");
  }
  {
    LiveLine line(file, Terminal{});
    line.draw("unseen");
    line.print("seen");
  }
  std::rewind(file);
  char text[256] = {};
  const std::size_t count = std::fread(text, 1, sizeof text - 1, file);
  std::fclose(file);
  EXPECT_EQ(std::string(text, count), "\r\033[Kone\r\033[Ka very l…\r\033[Kstays\nseen\n");
}

}  // namespace
}  // namespace encore
