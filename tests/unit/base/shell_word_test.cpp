// SPDX-License-Identifier: BSD-3-Clause
// Tests the quoting of text for a shell (base/shell_word.hpp), in every command that Encore prints for users
// to copy: a real bash reads back exactly the text, a quoted text cannot run another command, and no
// character in it controls the terminal. The tests need bash.
#include "base/shell_word.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <memory>

#include "base/terminal_text.hpp"

namespace encore {
namespace {

/// Returns the arguments that bash makes of `word`, each followed by "|". Exactly one "|" shows that there is
/// one argument.
std::string read_by_shell(const std::string& word) {
  const std::string script = "bash -c " + shell_word("printf '%s|' " + word);
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(::popen(script.c_str(), "r"), ::pclose);
  std::string text;
  char buffer[256];
  while (const std::size_t bytes = std::fread(buffer, 1, sizeof buffer, pipe.get()))
    text.append(buffer, bytes);
  return text;
}

TEST(ShellWord, PlainWordsStayAsTheyAre) {
  for (const char* text : {"tiny-s1", "a/b.toml", "train.epochs=2", "net-learning_rate=0.001", "zo\xc3\xab"})
    EXPECT_EQ(shell_argument(text), text);
}

TEST(ShellWord, AShellReadsTheTextBack) {
  for (const std::string text :
       {"", "two words", "it's", "it's \"so\"", "main; touch x #", "$(reboot) `id` $HOME", "a\\b", "!!", "~",
        "=ls", "*?[a]", "a\tb", "two\nlines", "a\033]0;title\007b", "back\\slash\t'quote'",
        "zo\xc3\xab \xe2\x80\xae"
        "abc",
        "\xff\x9b"})
    EXPECT_EQ(read_by_shell(shell_argument(text)), text + "|") << shell_argument(text);
}

TEST(ShellWord, NothingThatATerminalObeysIsInACommand) {
  for (const char* text : {"a\033[2J",
                           "a\xc2\x9b"
                           "2J",
                           "\xe2\x80\xae"
                           "txt",
                           "\x9b"
                           "31m",
                           "a\rb"}) {
    const std::string word = shell_argument(text);
    EXPECT_EQ(printable(word), word);
  }
  EXPECT_EQ(shell_argument("one text\tanother text"), "$'one text\\tanother text'");
}

TEST(ShellWord, ACommandIsMadeOfWords) {
  EXPECT_EQ(shell_command({"git", "checkout", "main; touch x #"}), "git checkout 'main; touch x #'");
  EXPECT_EQ(shell_command({"exp", "show", "tiny", "--db", "my runs/encore.db"}),
            "exp show tiny --db 'my runs/encore.db'");
}

}  // namespace
}  // namespace encore
