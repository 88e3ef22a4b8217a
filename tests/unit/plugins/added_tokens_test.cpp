// Tokens that are found in a text as they are written, with every flag; the right pieces are those of the
// Python package `tokenizers` (system/peers/compare_folders.py compares whole folders). And cleaning beyond
// lowercase.
#include "unit/plugins/trained_tokenizers.hpp"
#include "unit/record/temporary_folder.hpp"

namespace encore::test {
namespace {

using encore::testing::message_of;

const Pieces words = {"[PAD]", "[UNK]", "[CLS]",    "[SEP]",  "[MASK]", "a",     "b",
                      "covid", "##s",   "new york", "<drug>", "cafe",   "Covid", "new",
                      "york",  "[E9]",  "中",       "国",     "中国",   "café"};

/// Returns the pieces that a WordPiece tokenizer with these options makes of a text.
Pieces cut(const std::string& text, const Pieces& tokens, bool lowercase = false, const Settings& more = {}) {
  Settings options = more;
  options.emplace("lowercase", lowercase);
  options.emplace("added_tokens", tokens);
  const auto tokenizer = make_tokenizer("wordpiece", options);
  tokenizer->load(words);
  return pieces(*tokenizer, text);
}

TEST(AddedTokens, AreFoundAsTheyAreWritten) {
  EXPECT_EQ(cut("a<drug>b <drug>", {"plain <drug>"}), (Pieces{"a", "<drug>", "b", "<drug>"}));
  EXPECT_EQ(cut("[E9]a[E9][MASK]", {"special [E9]"}), (Pieces{"[E9]", "a", "[E9]", "[MASK]"}));
  EXPECT_EQ(cut("[e9]", {"special [E9]"}, true), (Pieces{"[UNK]", "[UNK]", "[UNK]"}));
  EXPECT_EQ(cut("a new york b", {"plain new york"}), (Pieces{"a", "new york", "b"}));
}

TEST(AddedTokens, OfTwoTheLongerIsTakenAndOfNoneTheTextIsCut) {
  EXPECT_EQ(cut("new york new", {"plain new", "plain new york"}), (Pieces{"new york", "new"}));
  EXPECT_EQ(cut("newyork", {"plain new york"}), Pieces{"[UNK]"});
}

TEST(AddedTokens, OutsideOfTheModelMakeNoWords) {
  EXPECT_EQ(cut("covids", {"single_word covid"}), (Pieces{"covid", "##s"}));
  EXPECT_EQ(cut("covids covid", {"single_word,outside covid"}), (Pieces{"[UNK]", "covid"}));
}

TEST(AddedTokens, AreSingleWordsWhereTheyMustBe) {
  EXPECT_EQ(cut("acovid covidb covid _covid covid.", {"single_word,outside covid"}),
            (Pieces{"[UNK]", "[UNK]", "covid", "[UNK]", "[UNK]", "covid", "[UNK]"}));
}

TEST(AddedTokens, AreNormalizedWhereTheyMustBe) {
  EXPECT_EQ(cut("COVID covid", {"plain Covid"}, true), (Pieces{"covid", "covid"}));
  EXPECT_EQ(cut("aCOVIDb", {"normalized Covid"}, true), (Pieces{"a", "Covid", "b"}));
  EXPECT_EQ(cut("aCAFÉb", {"normalized café"}, true), (Pieces{"a", "café", "b"}));
  EXPECT_EQ(cut("new\u00a0york", {"normalized new york"}), Pieces{"new york"});
}

TEST(AddedTokens, SayWhereTheyStand) {
  const auto tokenizer = make_tokenizer(
      "wordpiece",
      {{"lowercase", true}, {"added_tokens", Pieces{"lstrip,rstrip <drug>", "normalized café"}}});
  tokenizer->load(words);
  Numbers numbers;
  std::vector<ByteRange> ranges;
  tokenizer->encode("a  <drug> CAFÉ b", numbers, ranges);
  EXPECT_EQ(ranges, (std::vector<ByteRange>{{0, 1}, {3, 9}, {10, 15}, {16, 17}}));
}

TEST(AddedTokens, ThatAreSpecialAreNotText) {
  const auto tokenizer =
      make_tokenizer("wordpiece", {{"added_tokens", Pieces{"special [E9]", "plain <drug>"}}});
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
  Pieces vocabulary = {"<s>", "<pad>", "</s>", "<unk>", "<mask>"};
  const auto trained_one = trained("byte_bpe", {}, {{"ab", 3}});
  for (const std::string& piece : vocabulary_behind(*trained_one, 4))
    if (piece.size() < 3) vocabulary.push_back(piece);
  vocabulary.push_back("ein wort");
  const auto tokenizer = make_tokenizer(
      "byte_bpe",
      {{"add_prefix_space", false}, {"added_tokens", Pieces{"special <s>", "lstrip,outside ein wort"}}});
  tokenizer->load(vocabulary);
  EXPECT_EQ(pieces(*tokenizer, "<s>x  ein wort<mask>"), (Pieces{"<s>", "x", "ein wort", "<mask>"}));
  Numbers numbers;
  tokenizer->encode("<s>x  ein wort", numbers);
  EXPECT_EQ(tokenizer->decode(numbers), "xein wort");
}

/// A run that was imported before the option existed reads text as before.
TEST(AddedTokens, AreTextForARunWithoutTheOption) {
  EXPECT_EQ(cut("a <drug> b", {}), (Pieces{"a", "[UNK]", "[UNK]", "[UNK]", "b"}));
  EXPECT_EQ(cut("a [MASK] b", {}), (Pieces{"a", "[MASK]", "b"})) << "which was always found";
  Pieces vocabulary = {"<s>", "<pad>", "</s>", "<unk>", "<mask>"};
  const auto trained_one = trained("byte_bpe", {}, {{"ab", 3}});
  for (const std::string& piece : vocabulary_behind(*trained_one, 4))
    if (piece.size() < 3) vocabulary.push_back(piece);
  const auto tokenizer = make_tokenizer("byte_bpe", {{"add_prefix_space", false}});
  tokenizer->load(vocabulary);
  EXPECT_EQ(pieces(*tokenizer, "<s>x <mask>"), (Pieces{"<", "s", ">", "x", "<mask>"}));
}

TEST(WordPieceCleaning, KeepsAccentsAndChineseWordsOnRequest) {
  EXPECT_EQ(cut("CAFÉ cafe", {}, true), (Pieces{"cafe", "cafe"}));
  EXPECT_EQ(cut("CAFÉ cafe", {}, true, {{"strip_accents", false}}), (Pieces{"café", "cafe"}));
  EXPECT_EQ(cut("café Covid", {}, false, {{"strip_accents", true}}), (Pieces{"cafe", "Covid"}));
  EXPECT_EQ(cut("中国", {}), (Pieces{"中", "国"}));
  EXPECT_EQ(cut("中国", {}, false, {{"tokenize_chinese_chars", false}}), Pieces{"中国"});
}

}  // namespace
}  // namespace encore::test
