// SPDX-License-Identifier: BSD-3-Clause
// Tests the option added_tokens of the tokenizers (plugins/tokenizers/added_tokens.hpp): tokens that are
// found in a text as they are written, with every flag. The expected tokens are those of the Python package
// `tokenizers` and must stay; system/peers/compare_folders.py compares whole folders with it. Also tests
// cleaning options of wordpiece besides lowercase.
#include "unit/plugins/trained_tokenizers.hpp"
#include "unit/record/temporary_folder.hpp"

namespace encore::test {
namespace {

using encore::testing::message_of;

const Tokens words = {"[PAD]", "[UNK]", "[CLS]",    "[SEP]",  "[MASK]", "a",     "b",
                      "covid", "##s",   "new york", "<drug>", "cafe",   "Covid", "new",
                      "york",  "[E9]",  "中",       "国",     "中国",   "café"};

/// Returns the tokens that a WordPiece tokenizer with these options makes of a text.
Tokens cut(const std::string& text, const Tokens& added, bool lowercase = false, const Settings& more = {}) {
  Settings options = more;
  options.emplace("lowercase", lowercase);
  options.emplace("added_tokens", added);
  const auto tokenizer = make_tokenizer("wordpiece", options);
  tokenizer->load(words);
  return tokens(*tokenizer, text);
}

TEST(AddedTokens, AreFoundAsTheyAreWritten) {
  EXPECT_EQ(cut("a<drug>b <drug>", {"plain <drug>"}), (Tokens{"a", "<drug>", "b", "<drug>"}));
  EXPECT_EQ(cut("[E9]a[E9][MASK]", {"special [E9]"}), (Tokens{"[E9]", "a", "[E9]", "[MASK]"}));
  EXPECT_EQ(cut("[e9]", {"special [E9]"}, true), (Tokens{"[UNK]", "[UNK]", "[UNK]"}));
  EXPECT_EQ(cut("a new york b", {"plain new york"}), (Tokens{"a", "new york", "b"}));
}

TEST(AddedTokens, OfTwoTheLongerIsTakenAndOfNoneTheTextIsCut) {
  EXPECT_EQ(cut("new york new", {"plain new", "plain new york"}), (Tokens{"new york", "new"}));
  EXPECT_EQ(cut("newyork", {"plain new york"}), Tokens{"[UNK]"});
}

TEST(AddedTokens, OutsideOfTheModelMakeNoWords) {
  EXPECT_EQ(cut("covids", {"single_word covid"}), (Tokens{"covid", "##s"}));
  EXPECT_EQ(cut("covids covid", {"single_word,outside covid"}), (Tokens{"[UNK]", "covid"}));
}

TEST(AddedTokens, AreSingleWordsWhereTheyMustBe) {
  EXPECT_EQ(cut("acovid covidb covid _covid covid.", {"single_word,outside covid"}),
            (Tokens{"[UNK]", "[UNK]", "covid", "[UNK]", "[UNK]", "covid", "[UNK]"}));
}

TEST(AddedTokens, AreNormalizedWhereTheyMustBe) {
  EXPECT_EQ(cut("COVID covid", {"plain Covid"}, true), (Tokens{"covid", "covid"}));
  EXPECT_EQ(cut("aCOVIDb", {"normalized Covid"}, true), (Tokens{"a", "Covid", "b"}));
  EXPECT_EQ(cut("aCAFÉb", {"normalized café"}, true), (Tokens{"a", "café", "b"}));
  EXPECT_EQ(cut("new\u00a0york", {"normalized new york"}), Tokens{"new york"});
}

TEST(AddedTokens, ReportTheirRanges) {
  const auto tokenizer = make_tokenizer(
      "wordpiece",
      {{"lowercase", true}, {"added_tokens", Tokens{"lstrip,rstrip <drug>", "normalized café"}}});
  tokenizer->load(words);
  Numbers numbers;
  std::vector<ByteRange> ranges;
  tokenizer->encode("a  <drug> CAFÉ b", numbers, ranges);
  EXPECT_EQ(ranges, (std::vector<ByteRange>{{0, 1}, {3, 9}, {10, 15}, {16, 17}}));
}

TEST(AddedTokens, ThatAreSpecialAreNotText) {
  const auto tokenizer =
      make_tokenizer("wordpiece", {{"added_tokens", Tokens{"special [E9]", "plain <drug>"}}});
  tokenizer->load(words);
  EXPECT_EQ(tokenizer->decode({{15, 5, 10}}), "a <drug>");
}

TEST(AddedTokens, AreRefusedWhereTheyCannotBe) {
  EXPECT_EQ(message_of<Error>([] { cut("a", {"plain nowhere"}); }),
            "added_tokens names \"nowhere\", which is not in the vocabulary");
  const std::string expected =
      ": expected flags (plain, or some of lstrip, rstrip, single_word, normalized, special and outside with "
      "commas between them), a blank and the token, such as \"plain [E9]\"";
  EXPECT_EQ(message_of<Error>([] { cut("a", {"[E9]"}); }),
            "\"[E9]\" lacks a token behind a blank" + expected);
  EXPECT_EQ(message_of<Error>([] { cut("a", {"wide [E9]"}); }),
            "\"wide [E9]\" has the unknown flag \"wide\"" + expected);
  EXPECT_EQ(message_of<Error>([] {
              cut("a", {"plain a", "special a"});
            }),
            "\"special a\" names a token that another entry names" + expected);
}

TEST(AddedTokens, OfBytePairsTakeTheWhiteSpaceBesideThem) {
  Tokens vocabulary = {"<s>", "<pad>", "</s>", "<unk>", "<mask>"};
  const auto trained_one = trained("byte_bpe", {}, {{"ab", 3}});
  for (const std::string& token : vocabulary_behind(*trained_one, 4))
    if (token.size() < 3) vocabulary.push_back(token);
  vocabulary.push_back("ein wort");
  const auto tokenizer = make_tokenizer(
      "byte_bpe",
      {{"add_prefix_space", false}, {"added_tokens", Tokens{"special <s>", "lstrip,outside ein wort"}}});
  tokenizer->load(vocabulary);
  EXPECT_EQ(tokens(*tokenizer, "<s>x  ein wort<mask>"), (Tokens{"<s>", "x", "ein wort", "<mask>"}));
  Numbers numbers;
  tokenizer->encode("<s>x  ein wort", numbers);
  EXPECT_EQ(tokenizer->decode(numbers), "xein wort");
}

/// A run that was imported before the option existed reads text as before.
TEST(AddedTokens, AreTextForARunWithoutTheOption) {
  EXPECT_EQ(cut("a <drug> b", {}), (Tokens{"a", "[UNK]", "[UNK]", "[UNK]", "b"}));
  EXPECT_EQ(cut("a [MASK] b", {}), (Tokens{"a", "[MASK]", "b"})) << "which was always found";
  Tokens vocabulary = {"<s>", "<pad>", "</s>", "<unk>", "<mask>"};
  const auto trained_one = trained("byte_bpe", {}, {{"ab", 3}});
  for (const std::string& token : vocabulary_behind(*trained_one, 4))
    if (token.size() < 3) vocabulary.push_back(token);
  const auto tokenizer = make_tokenizer("byte_bpe", {{"add_prefix_space", false}});
  tokenizer->load(vocabulary);
  EXPECT_EQ(tokens(*tokenizer, "<s>x <mask>"), (Tokens{"<", "s", ">", "x", "<mask>"}));
}

TEST(WordPieceCleaning, KeepsAccentsAndChineseWordsOnRequest) {
  EXPECT_EQ(cut("CAFÉ cafe", {}, true), (Tokens{"cafe", "cafe"}));
  EXPECT_EQ(cut("CAFÉ cafe", {}, true, {{"strip_accents", false}}), (Tokens{"café", "cafe"}));
  EXPECT_EQ(cut("café Covid", {}, false, {{"strip_accents", true}}), (Tokens{"cafe", "Covid"}));
  EXPECT_EQ(cut("中国", {}), (Tokens{"中", "国"}));
  EXPECT_EQ(cut("中国", {}, false, {{"tokenize_chinese_chars", false}}), Tokens{"中国"});
}

/// Each "cafe" here has other letters: Cyrillic, fullwidth, mathematical, and one with a mark.
TEST(WordPieceCleaning, ReadsDisguisedLettersAsLatinOnesOnRequest) {
  const Tokens plain(4, "cafe");
  const std::string disguised =
      "\u0441\u0430f\u0435 \uFF43\uFF41\uFF46\uFF45 \U0001D41C\U0001D41A\U0001D41F\U0001D41E c\u0430f\u00E9";
  EXPECT_EQ(cut(disguised, {}, true, {{"fold_lookalikes", true}}), plain);
  EXPECT_EQ(cut("\u0421\u0410F\u0415", {}, true, {{"fold_lookalikes", true}}), Tokens{"cafe"});
  EXPECT_EQ(cut("\u0421ovid", {}, false, {{"fold_lookalikes", true}}), Tokens{"Covid"})
      << "a capital stays one";
  EXPECT_NE(cut(disguised, {}, true), plain);
  EXPECT_EQ(cut("中 café", {}, false, {{"fold_lookalikes", true}}), (Tokens{"中", "café"}))
      << "nothing else changes";
}

}  // namespace
}  // namespace encore::test
