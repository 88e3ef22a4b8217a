// SPDX-License-Identifier: BSD-3-Clause
// Tests printable() and its relatives (base/terminal_text.hpp), through which all text of users, databases
// and bundles reaches a terminal: characters that move the cursor, change the title or reverse the direction
// of text are replaced, and text of any language stays.
#include "base/terminal_text.hpp"

#include <gtest/gtest.h>

namespace encore {
namespace {

TEST(TerminalText, KeepsTextOfAnyLanguage) {
  for (const char* text : {"plain\ttext", "zo\xc3\xab", "\xe4\xb8\xad\xe6\x96\x87", "\xd7\xa9\xd7\x9c",
                           "\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x94\xac"})
    EXPECT_EQ(printable(text), text);
}

TEST(TerminalText, ReplacesWhatATerminalObeys) {
  EXPECT_EQ(printable("\033[2Ja"), "?[2Ja");
  EXPECT_EQ(printable("\033]0;title\007"), "?]0;title?");
  EXPECT_EQ(printable("a\rb\nc\x7f"), "a?b?c?");
  EXPECT_EQ(printable("\xc2\x9b"
                      "2J\xc2\x85"),
            "?2J?")
      << "C1 in UTF-8";
  EXPECT_EQ(printable("\x9b"
                      "2J"),
            "?2J")
      << "C1 as a byte";
  for (const char* mark : {"\xd8\x9c", "\xe2\x80\x8e", "\xe2\x80\x8f", "\xe2\x80\xa8", "\xe2\x80\xa9",
                           "\xe2\x80\xaa", "\xe2\x80\xab", "\xe2\x80\xac", "\xe2\x80\xad", "\xe2\x80\xae",
                           "\xe2\x81\xa6", "\xe2\x81\xa7", "\xe2\x81\xa8", "\xe2\x81\xa9"})
    EXPECT_EQ(printable(std::string("a") + mark + "b"), "a?b");
}

TEST(TerminalText, ReplacesInvalidBytes) {
  EXPECT_EQ(printable("\xc0\x9b\xe0\x80\x9b"), "?????") << "long forms of a control character";
  EXPECT_EQ(printable("\xed\xa0\x80\xff"), "????");
  EXPECT_EQ(printable("a\xe4\xb8"), "a??") << "cut";
}

TEST(TerminalText, KeepsLineEndsWhereLinesAreMeant) {
  EXPECT_EQ(printable_lines("one\n\033two\n"), "one\n?two\n");
}

TEST(TerminalText, KnowsTheBeginningOfACharacter) {
  EXPECT_TRUE(is_cut_character("\xe4\xb8"));
  EXPECT_TRUE(is_cut_character("\xe2"));
  for (const char* text : {"", "a", "\xe4\xb8\xad",
                           "\xe4"
                           "a",
                           "\x9b"})
    EXPECT_FALSE(is_cut_character(text));
}

}  // namespace
}  // namespace encore
