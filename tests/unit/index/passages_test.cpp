// SPDX-License-Identifier: BSD-3-Clause
// Tests how documents are cut into passages (framework/index/passages.cpp, load_passages()): at ends of
// sentences, with an overlap of whole sentences, and that no word is lost. It needs no index. Digests of
// indexes follow from the cuts, so the expected passages must stay.
#include "index/passages.hpp"

#include <gtest/gtest.h>

#include <random>
#include <sstream>

#include "unit/record/temporary_folder.hpp"

namespace encore::index {
namespace {

using Passages = std::vector<std::string>;

std::vector<std::string> words_in(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

TEST(Passages, LeaveAShortTextAsItIs) {
  EXPECT_EQ(cut_into_passages(" One  two.\nThree. ", {.words = 3}), Passages{" One  two.\nThree. "});
  EXPECT_EQ(cut_into_passages("One two. Three. Four.", {}), Passages{"One two. Three. Four."});
  EXPECT_EQ(cut_into_passages("", {.words = 3}), Passages{""});
  EXPECT_EQ(cut_into_passages(" \n ", {.words = 3}), Passages{" \n "});
}

TEST(Passages, EndAtEndsOfSentences) {
  EXPECT_EQ(cut_into_passages("One two. Three four. Five six seven. Eight.", {.words = 5}),
            (Passages{"One two. Three four.", "Five six seven. Eight."}));
  EXPECT_EQ(cut_into_passages("He said \"go!\" (Why?) They knew\xE2\x80\xA6 Then he went.", {.words = 4}),
            (Passages{"He said \"go!\" (Why?)", "They knew\xE2\x80\xA6", "Then he went."}));
  EXPECT_EQ(cut_into_passages("Some items, e.g. this one. Others.", {.words = 5}),
            (Passages{"Some items, e.g. this one.", "Others."}))
      << "a small letter follows, so the sentence continues";
  EXPECT_EQ(cut_into_passages("A title\n\none two three\r\n\r\nfour five", {.words = 3}),
            (Passages{"A title", "one two three", "four five"}))
      << "an empty line ends a sentence";
  EXPECT_EQ(cut_into_passages("one two\nthree four", {.words = 3}), (Passages{"one two\nthree", "four"}))
      << "a line end does not";
}

TEST(Passages, CutASentenceThatIsTooLongBetweenWords) {
  EXPECT_EQ(cut_into_passages("a b c d e f g. H i.", {.words = 3}), (Passages{"a b c", "d e f", "g. H i."}));
  EXPECT_EQ(cut_into_passages("a b c d e f g. H i.", {.words = 3, .overlap = 2}),
            (Passages{"a b c", "d e f", "g. H i."}))
      << "parts of a sentence are not repeated";
}

TEST(Passages, ShareWholeSentences) {
  EXPECT_EQ(cut_into_passages("A b. C d. E f. G h.", {.words = 4, .overlap = 2}),
            (Passages{"A b. C d.", "C d. E f.", "E f. G h."}));
  EXPECT_EQ(cut_into_passages("A b. C d. E f. G h.", {.words = 4, .overlap = 1}),
            (Passages{"A b. C d.", "E f. G h."}))
      << "the last sentence has more words than the overlap";
  EXPECT_EQ(cut_into_passages("A b. C d. E f g h.", {.words = 4, .overlap = 2}),
            (Passages{"A b. C d.", "E f g h."}))
      << "the next sentence would not fit";
}

TEST(Passages, OfDrawnDocumentsHaveAllWordsInOrder) {
  std::mt19937 draws(3);
  for (int round = 0; round < 500; ++round) {
    std::string text;
    for (std::size_t i = 0, count = draws() % 80; i < count; ++i)
      text += "W" + std::to_string(i) + (draws() % 5 == 0 ? "." : "") + (draws() % 9 == 0 ? "\n\n" : " ");
    const PassageSettings settings{.words = 1 + draws() % 20, .overlap = draws() % 10};
    const std::vector<std::string> all = words_in(text);
    std::size_t next = 0;  // the first word that no passage had
    const Passages passages = cut_into_passages(text, settings);
    for (const std::string& passage : passages) {
      const std::vector<std::string> words = words_in(passage);
      EXPECT_LE(words.size(), settings.words);
      const auto begin = std::ranges::search(all, words).begin();
      const auto first = static_cast<std::size_t>(begin - all.begin());
      EXPECT_LE(first, next) << "a word is missing in\n" << text;
      EXPECT_LE(next - first, settings.overlap) << text;
      EXPECT_TRUE(passages.size() == 1 || first + words.size() > next) << "nothing new in\n" << text;
      next = first + words.size();
    }
    EXPECT_EQ(next, all.size());
  }
}

TEST(Passages, BeginWithTheTitleOfTheirDocument) {
  const testing::TemporaryFolder folder;
  testing::write_bytes(folder / "d.jsonl",
                       "{\"id\": \"b\", \"text\": \"One two. Three four.\", \"title\": \"Long head\"}\n"
                       "{\"id\": \"a\", \"text\": \"Short.\"}\n");
  const std::vector<IndexedDocument> expected = {{.id = "a", .text = "Short."},
                                                 {.id = "b", .text = "Long head\nOne two."},
                                                 {.id = "b", .text = "Long head\nThree four."}};
  EXPECT_EQ(load_passages(folder / "d.jsonl", {.words = 2}), expected);
  EXPECT_EQ(load_passages(folder / "d.jsonl", {}), load_documents(folder / "d.jsonl"));
}

TEST(Passages, RefuseAnOverlapThatIsNotBelowTheWords) {
  EXPECT_EQ(passage_problem({.words = 5, .overlap = 4}, "words", "overlap"), "");
  EXPECT_EQ(passage_problem({}, "words", "overlap"), "");
  EXPECT_EQ(passage_problem({.words = 5, .overlap = 5}, "words", "overlap"),
            "invalid overlap 5: expected less than words 5");
  EXPECT_EQ(passage_problem({.overlap = 5}, "words", "overlap"),
            "invalid overlap 5: documents are not cut; also set words");
}

}  // namespace
}  // namespace encore::index
