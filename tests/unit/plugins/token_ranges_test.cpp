// SPDX-License-Identifier: BSD-3-Clause
// Tests what all tokenizers that ship (plugins/tokenizers) share beside their tokens: special tokens by role,
// training from inputs of several words, the byte range of the text that each token comes from, and decoding.
// Ranges must not change tokens: encoding with and without them gives the same.
#include <functional>
#include <random>

#include "unit/plugins/trained_tokenizers.hpp"
#include "unit/record/temporary_folder.hpp"

namespace encore::test {
namespace {

using encore::testing::message_of;

const TextCounts some_words = {{"low", 5},     {"lower", 2},  {"newest", 6}, {"widest", 3},
                               {"aaaaaaa", 4}, {"Zürich", 3}, {"don't", 2}};

TEST(Tokenizers, KnowTheirSpecialTokensByRole) {
  for (const std::string name : {"byte_bpe", "word", "character", "wordpiece"}) {
    auto tokenizer = trained(name, {}, some_words);
    EXPECT_EQ(tokenizer->special(Special::padding), 0);
    EXPECT_EQ(tokenizer->special(Special::unknown), 1);
    EXPECT_EQ(tokenizer->special(Special::start), 2);
    EXPECT_EQ(tokenizer->special(Special::end), 3);
    EXPECT_EQ(tokenizer->special(Special::separator), 3);
    Tokens vocabulary = vocabulary_behind(*tokenizer, 0);
    if (name == "wordpiece") std::erase(vocabulary, "[MASK]");
    tokenizer = make_tokenizer(name, {});
    tokenizer->load(vocabulary);
    EXPECT_EQ(tokenizer->find(Special::mask), std::nullopt);
    EXPECT_EQ(message_of<Error>([&] { tokenizer->special(Special::mask); }),
              "the vocabulary has no token for the role \"mask\"; add the line [MASK] to its file");
    vocabulary.push_back("[MASK]");
    tokenizer = make_tokenizer(name, {});
    tokenizer->load(vocabulary);
    const auto mask = static_cast<std::int32_t>(vocabulary.size() - 1);
    EXPECT_EQ(tokenizer->special(Special::mask), mask);
    EXPECT_EQ(tokenizer->decode({{mask}}), "");
  }
}

TEST(Tokenizers, AreTrainedFromAnInputWithSeveralWords) {
  const TextCounts words = {{"low", 5}, {"lower", 2}, {"Zürich", 2}},
                   texts = {{"low lower", 2}, {" low\tZürich\n", 1}, {"low", 2}, {"Zürich", 1}};
  for (const std::string name : {"word", "character"})
    EXPECT_EQ(vocabulary_behind(*trained(name, {}, texts), 0),
              vocabulary_behind(*trained(name, {}, words), 0));
  EXPECT_EQ(tokens(*trained("byte_bpe", {}, {{"low lower", 2}}), "low lower"), (Tokens{"Ġlow", "Ġlower"}));
}

/// Returns the bytes that each token comes from.
Tokens sources(const Tokenizer& tokenizer, const std::string& text) {
  Numbers numbers;
  std::vector<ByteRange> ranges;
  tokenizer.encode(text, numbers, ranges);
  Tokens result;
  for (const ByteRange range : ranges) result.push_back(text.substr(range.begin, range.end - range.begin));
  return result;
}

TEST(Tokenizers, ReportTheRangeOfTheTextThatEachTokenComesFrom) {
  const auto word = trained("word", {{"lowercase", true}}, some_words);
  EXPECT_EQ(sources(*word, "\tLOW ẞ\u200b LOWER\xFF"), (Tokens{"LOW", "ẞ", "LOWER\xFF"}));
  const auto character = trained("character", {{"lowercase", true}}, some_words);
  EXPECT_EQ(sources(*character, "Le\u0301 \u1112\u1161\u11ABe\u0323\u0302é"),
            (Tokens{"L", "e\u0301", "\u1112\u1161\u11AB", "e\u0323\u0302", "é"}));
  EXPECT_EQ(sources(*character, "e\u0301\xFF"), (Tokens{"e", "\u0301", "\xFF"}))
      << "no UTF-8, so not composed";
  const auto bytes = trained("byte_bpe", {}, some_words);
  EXPECT_EQ(sources(*bytes, "low lower"), (Tokens{"low", " lower"}));
  EXPECT_EQ(sources(*bytes, " low"), Tokens{" low"});
  EXPECT_EQ(sources(*bytes, "q"), (Tokens{"", "q"})) << "the blank in front is not of the text";
}

/// The inputs are random mixtures of letters and marks that Unicode normalization composes, decomposes,
/// reorders, drops or replaces.
TEST(Tokenizers, GiveTheSameTokensWithRangesAndWithout) {
  const Tokens parts = {
      "a",      "B",      "e",          "\u0301",     "\u0323",     "\u0302", "é",      "ệ",
      "İ",      "ß",      "ﬁ",          "\u0344",     "\u0958",     "\u09C7", "\u09BE", "\u1025",
      "\u102E", "\u302E", "\U0001D165", "\U0001D16D", "\U0001D15E", "\u1112", "\u1161", "\u11AB",
      "한",     "하",     "日",         "。",         ",",          " ",      "\t",     "\n",
      "\u00A0", "\u200B", "\u200D",     "\U0001F600", "\U0001F1E9", "\xFF",   "\xC3",   "[SEP]",
      "[",      "##",     "'s"};
  const std::vector<std::pair<std::string, Settings>> tokenizers = {
      {"word", {}},
      {"word", {{"lowercase", true}}},
      {"character", {}},
      {"character", {{"lowercase", true}}},
      {"character", {{"compose", false}}},
      {"character", {{"white_space", true}}},
      {"byte_bpe", {}},
      {"byte_bpe", {{"add_prefix_space", false}}},
      {"wordpiece", {{"min_frequency", std::int64_t{20}}}},
      {"wordpiece", {{"min_frequency", std::int64_t{20}}, {"lowercase", true}}}};
  std::mt19937 random(7);
  std::vector<std::string> texts;
  TextCounts counts;
  for (int i = 0; i < 3000; ++i) {
    texts.emplace_back();
    const std::size_t kinds = i % 4 == 0 ? parts.size() : parts.size() - 6;  // mostly UTF-8
    for (unsigned length = random() % 12; length > 0; --length) texts.back() += parts[random() % kinds];
    if (i % 2 == 0) ++counts[texts.back()];
  }
  for (const auto& [name, settings] : tokenizers) {
    const auto tokenizer = trained(name, settings, counts);
    for (const std::string& text : texts) {
      Numbers numbers;
      std::vector<ByteRange> ranges;
      tokenizer->encode(text, numbers, ranges);
      ASSERT_EQ(numbers, encoded(*tokenizer, text)) << name << ": " << text;
      ASSERT_EQ(numbers.size(), ranges.size());
      for (std::size_t i = 0; i < ranges.size(); ++i) {
        ASSERT_LE(ranges[i].begin, ranges[i].end);
        ASSERT_LE(ranges[i].end, text.size());
        if (i == 0) continue;
        ASSERT_GE(ranges[i].begin, ranges[i - 1].begin) << name << ": " << text;
        ASSERT_GE(ranges[i].end, ranges[i - 1].end) << name << ": " << text;
      }
    }
  }
}

TEST(Tokenizers, DecodeTheTextOfTheirTokens) {
  const auto word = trained("word", {}, some_words);
  EXPECT_EQ(word->decode(encoded(*word, "low  other\tZürich")), "low Zürich")
      << "what is unknown is left out";
  const auto character = trained("character", {}, some_words);
  EXPECT_EQ(character->decode(encoded(*character, "low Zürich")), "lowZürich");
  for (const std::string name : {"word", "character", "byte_bpe", "wordpiece"})
    for (const std::int32_t number : {-1, 100000})
      EXPECT_THROW(trained(name, {}, some_words)->decode({{number}}), std::logic_error) << name;
}

}  // namespace
}  // namespace encore::test
