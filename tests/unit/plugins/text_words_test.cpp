// SPDX-License-Identifier: BSD-3-Clause
// Tests split_words() (plugins/tasks/text_words.cpp), which splits running text into words for tasks that
// label words (ner and tag): punctuation, possessives, white space, and offsets in code points. Another split
// would change the answers of trained models, so the words must stay.
#include "word_labels.hpp"

#include <gtest/gtest.h>

namespace encore::tasks {
namespace {

std::vector<std::string> words_of(std::string_view line) {
  std::vector<std::string> words;
  for (const TextWord& word : split_words(line)) words.emplace_back(word.text);
  return words;
}

using Words = std::vector<std::string>;

TEST(TextWords, PunctuationAtTheEndsStandsAlone) {
  EXPECT_EQ(words_of("Jordan (the river), not Jordan."),
            (Words{"Jordan", "(", "the", "river", ")", ",", "not", "Jordan", "."}));
}

TEST(TextWords, PunctuationInsideAWordStays) {
  EXPECT_EQ(words_of("Jean-Luc's U.S. e-mail"), (Words{"Jean-Luc", "'s", "U.S", ".", "e-mail"}));
}

TEST(TextWords, PunctuationAloneIsSplitIntoItsCharacters) {
  EXPECT_EQ(words_of("..."), (Words{".", ".", "."}));
}

TEST(TextWords, EmptyTextHasNoWords) {
  EXPECT_TRUE(split_words("").empty());
  EXPECT_TRUE(split_words(" \t\u00a0\u3000").empty());
}

TEST(TextWords, OffsetsCountCodePoints) {
  const std::string line = "Zürich \u2013 Łódź!";
  const std::vector<TextWord> words = split_words(line);
  ASSERT_EQ(words.size(), 4u);
  EXPECT_EQ(words[0].start, 0u);
  EXPECT_EQ(words[0].end, 6u);
  EXPECT_EQ(words[2].text, "Łódź");
  EXPECT_EQ(words[2].start, 9u);
  EXPECT_EQ(words[2].end, 13u);
  EXPECT_EQ(words[3].start, 13u);
}

TEST(TextWords, WordsOfAFileAreJoinedAsTheyAre) {
  std::string line;
  const std::vector<TextWord> words = join_words({"Łódź", "U.S.", "rose"}, line);
  EXPECT_EQ(line, "Łódź U.S. rose");
  ASSERT_EQ(words.size(), 3u);
  EXPECT_EQ(words[1].text, "U.S.");
  EXPECT_EQ(words[1].start, 5u);
  EXPECT_EQ(words[1].end, 9u);
  EXPECT_EQ(words[2].start, 10u);
  EXPECT_TRUE(join_words({}, line).empty());
  EXPECT_EQ(line, "");
}

TEST(TextWords, BytesThatAreNotUtf8AreKeptInTheirWord) {
  EXPECT_EQ(words_of("a\xff"
                     "b c"),
            (Words{"a\xff"
                   "b",
                   "c"}));
}

}  // namespace
}  // namespace encore::tasks
