// SPDX-License-Identifier: BSD-3-Clause
// Bounds the work of the tokenizers that ship (plugins/tokenizers) on text, and of training vocabularies from
// text, with expect_linear() of linear.hpp. Both the text of a request and a vocabulary may be hostile; each
// test measures one of the two and keeps the other ordinary.
#include <encore/plugin.hpp>

#include "bounds/inputs.hpp"
#include "bounds/linear.hpp"
#include "bounds/options.hpp"
#include "byte_bpe.hpp"
#include "wordpiece.hpp"

// The entry points of two plugins, which CMakeLists.txt gives these names.
extern "C" {
const char* encore_register_word(encore::Registrar* to);
const char* encore_register_character(encore::Registrar* to);
}

namespace encore::bounds {
namespace {

using Strings = std::vector<std::string>;

std::unique_ptr<Tokenizer> made_by(const char* (*enter)(Registrar*), const Settings& settings) {
  Registrar registrar;
  if (const char* failure = enter(&registrar)) throw Error(failure);
  const Offer& offer = registrar.offers().front();
  return make<Kind::tokenizer>(offer, options_of(offer.options, settings), {});
}

template <class T>
T made(const Schema& schema, Settings settings) {
  if (!settings.contains("vocab_size")) settings.emplace("vocab", std::string("vocab.txt"));
  return T(options_of(schema, settings), {});
}

/// Encodes as training and serving do, and decodes.
void cut(const Tokenizer& tokenizer, const std::string& text) {
  std::vector<std::int32_t> tokens;
  std::vector<ByteRange> ranges;
  tokenizer.encode(text, tokens);
  tokens.clear();
  tokenizer.encode(text, tokens, ranges);
  tokenizer.decode(tokens);
}

/// A token takes four bytes, and its range sixteen; normalized text has a range for each byte.
constexpr double cut_memory = 160.0, cut_steps = 3000.0;

struct Text {
  const char* name;
  std::string (*make)(std::size_t n);
};

/// Returns n combining marks, in turn of a class that is written above and one that is written below, so that
/// they have to be sorted.
std::string marks(std::size_t n) {
  return "a" + repeated(n, "\u0301") + repeated(n, "\u0327");
}
std::string added_tokens(std::size_t n) {
  return repeated(n, "[E] [E]a");
}

const Text hostile_texts[] = {
    {"OneLongWord", [](std::size_t n) { return repeated(n, "a"); }},
    {"OneLongWordOfManyLetters", [](std::size_t n) { return repeated(n, "abcdefg"); }},
    {"ManyShortWords", [](std::size_t n) { return repeated(n, "a "); }},
    {"Blanks", [](std::size_t n) { return repeated(n, " "); }},
    {"BlanksOfUnicode", [](std::size_t n) { return repeated(n, "\u00a0\u2003"); }},
    {"Marks", marks},
    {"ManyMarkedLetters", [](std::size_t n) { return repeated(n, "e\u0301\u0327"); }},
    {"LettersThatBecomeMany", [](std::size_t n) { return repeated(n, "\ufdfa"); }},
    {"Syllables", [](std::size_t n) { return repeated(n, "\u1112\u1161\u11ab"); }},
    {"Punctuation", [](std::size_t n) { return repeated(n, "'"); }},
    {"Apostrophes", [](std::size_t n) { return repeated(n, "'l"); }},
    {"ChineseCharacters", [](std::size_t n) { return repeated(n, "\u4e2d"); }},
    {"Digits", [](std::size_t n) { return repeated(n, "1"); }},
    {"ControlCharacters", [](std::size_t n) { return repeated(n, "\x01\u200b"); }},
    {"AddedTokens", added_tokens},
    {"BeginningsOfAddedTokens", [](std::size_t n) { return repeated(n, "[E"); }},
    {"LongBeginningsOfAddedTokens", [](std::size_t n) { return repeated(n, "[["); }},
};

const Strings added = {"plain [E]", "lstrip,rstrip,normalized [F]", "single_word a[",
                       "plain " + std::string(60, '[') + "]", "lstrip,rstrip \u2003"};

/// Returns the tokens with the flag "outside", for tokenizers whose vocabulary does not contain them.
Strings outside(Strings list) {
  for (std::string& token : list) {
    const std::size_t blank = token.find(' ');
    const std::string flags = token.substr(0, blank);
    token = (flags == "plain" ? "" : flags + ",") + "outside" + token.substr(blank);
  }
  return list;
}

Strings with_tokens(Strings vocabulary) {
  for (const std::string& token : added) vocabulary.push_back(token.substr(token.find(' ') + 1));
  return vocabulary;
}

const wordpiece::WordPiece& word_piece() {
  static const auto tokenizer = [] {
    auto made_one = std::make_unique<wordpiece::WordPiece>(
        options_of(wordpiece::WordPiece::options(),
                   {{"vocab", std::string("vocab.txt")}, {"added_tokens", added}}),
        TokenizerContext{});
    made_one->load(
        with_tokens({"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "##a", "##aa", "'", "1", "##1"}));
    return made_one;
  }();
  return *tokenizer;
}

const byte_bpe::ByteBpe& byte_pairs() {
  static const auto tokenizer = [] {
    Strings vocabulary = {"[PAD]", "[UNK]", "[CLS]", "[SEP]"};
    for (int byte = 0; byte < 256; ++byte)
      vocabulary.push_back(byte_bpe::printable(std::string(1, static_cast<char>(byte))));
    for (const char* token : {"aa", "aaa", "aaaa", "ab", "abc", "ll", "11", "111"})
      vocabulary.emplace_back(token);
    auto made_one = std::make_unique<byte_bpe::ByteBpe>(
        options_of(byte_bpe::ByteBpe::options(),
                   {{"vocab", std::string("vocab.txt")}, {"added_tokens", outside(added)}}),
        TokenizerContext{});
    made_one->load(with_tokens(std::move(vocabulary)));
    return made_one;
  }();
  return *tokenizer;
}

const Tokenizer& words() {
  static const auto tokenizer = [] {
    auto made_one = made_by(encore_register_word, {{"vocab", std::string("vocab.txt")}, {"lowercase", true}});
    made_one->load({"[PAD]", "[UNK]", "[CLS]", "[SEP]", "a", "'", "1", "abcdefg"});
    return made_one;
  }();
  return *tokenizer;
}

const Tokenizer& characters() {
  static const auto tokenizer = [] {
    auto made_one =
        made_by(encore_register_character,
                {{"vocab", std::string("vocab.txt")}, {"lowercase", true}, {"white_space", true}});
    made_one->load({"[PAD]", "[UNK]", "[CLS]", "[SEP]", "a", "'", "1", "[", "\u2420"});
    return made_one;
  }();
  return *tokenizer;
}

class TextBounds : public ::testing::TestWithParam<Text> {};

TEST_P(TextBounds, WordPiece) {
  word_piece();
  expect_linear({20000, cut_steps, cut_memory}, GetParam().make,
                [](const std::string& text) { cut(word_piece(), text); });
}

TEST_P(TextBounds, ByteBpe) {
  byte_pairs();
  expect_linear({20000, cut_steps, cut_memory}, GetParam().make,
                [](const std::string& text) { cut(byte_pairs(), text); });
}

TEST_P(TextBounds, Word) {
  words();
  expect_linear({20000, cut_steps, cut_memory}, GetParam().make,
                [](const std::string& text) { cut(words(), text); });
}

TEST_P(TextBounds, Character) {
  characters();
  expect_linear({20000, cut_steps, cut_memory}, GetParam().make,
                [](const std::string& text) { cut(characters(), text); });
}

INSTANTIATE_TEST_SUITE_P(Hostile, TextBounds, ::testing::ValuesIn(hostile_texts),
                         [](const auto& text) { return std::string(text.param.name); });

// --- vocabularies ---

void load_word_pieces(const Strings& tokens) {
  Strings vocabulary = {"[PAD]", "[UNK]", "[CLS]", "[SEP]"};
  vocabulary.insert(vocabulary.end(), tokens.begin(), tokens.end());
  made<wordpiece::WordPiece>(wordpiece::WordPiece::options(), {}).load(std::move(vocabulary));
}

void load_byte_pairs(const Strings& tokens) {
  Strings vocabulary = {"[PAD]", "[UNK]", "[CLS]", "[SEP]"};
  for (int byte = 0; byte < 256; ++byte)
    vocabulary.push_back(byte_bpe::printable(std::string(1, static_cast<char>(byte))));
  vocabulary.insert(vocabulary.end(), tokens.begin(), tokens.end());
  made<byte_bpe::ByteBpe>(byte_bpe::ByteBpe::options(), {}).load(std::move(vocabulary));
}

Strings numbered_tokens(std::size_t n) {
  Strings tokens;
  for (std::size_t i = 0; i < n; ++i) tokens.push_back(numbered("ab", i));
  return tokens;
}

/// The limits are wide because tables double their size at different numbers of tokens.
constexpr double table_memory = 250.0, table_steps = 4000.0;

TEST(VocabularyBounds, ManyWordPieces) {
  expect_linear({8000, table_steps, table_memory}, numbered_tokens, load_word_pieces);
}

TEST(VocabularyBounds, OneLongWordPiece) {
  expect_linear(
      {50000, table_steps, table_memory}, [](std::size_t n) { return Strings{repeated(n, "a")}; },
      load_word_pieces);
}

TEST(VocabularyBounds, ManyBytePairs) {
  expect_linear({8000, table_steps, table_memory}, numbered_tokens, load_byte_pairs);
}

TEST(VocabularyBounds, OneLongBytePair) {
  expect_linear(
      {20000, table_steps, table_memory},
      [](std::size_t n) {
        return Strings{repeated(n, "a"), repeated(n + 1, "a")};
      },
      load_byte_pairs);
}

TEST(VocabularyBounds, TokensWithinEachOther) {
  expect_linear(
      {50000, table_steps, table_memory},
      [](std::size_t n) {
        Strings tokens;
        for (std::size_t length = 2, bytes = 0; bytes < n; bytes += length++)
          tokens.emplace_back(length, 'a');
        return tokens;
      },
      load_byte_pairs);
}

TEST(VocabularyBounds, ManyMerges) {
  expect_linear(
      {4000, table_steps, table_memory},
      [](std::size_t n) {
        Strings tokens, merges = {std::string(byte_bpe::merges_header)};
        for (std::size_t i = 0; i < n; ++i) {
          tokens.push_back(numbered("b", i));
          if (i >= 10) merges.push_back(numbered("b", i / 10) + " " + std::to_string(i % 10));
        }
        tokens.insert(tokens.end(), merges.begin(), merges.end());
        return tokens;
      },
      load_byte_pairs);
}

void load_words(const Strings& tokens) {
  Strings vocabulary = {"[PAD]", "[UNK]", "[CLS]", "[SEP]"};
  vocabulary.insert(vocabulary.end(), tokens.begin(), tokens.end());
  made_by(encore_register_word, {{"vocab", std::string("vocab.txt")}})->load(std::move(vocabulary));
}

TEST(VocabularyBounds, ManyWords) {
  expect_linear({8000, table_steps, table_memory}, numbered_tokens, load_words);
}

TEST(VocabularyBounds, OneLongWord) {
  expect_linear(
      {50000, table_steps, table_memory}, [](std::size_t n) { return Strings{repeated(n, "a")}; },
      load_words);
}

TEST(VocabularyBounds, ManyCharacters) {
  expect_linear(
      {8000, table_steps, 400.0},
      [](std::size_t n) {
        Strings tokens = {"[PAD]", "[UNK]", "[CLS]", "[SEP]"};
        for (std::size_t i = 0; i < n; ++i) {  // from U+4E00
          const std::size_t point = 0x4E00 + i;
          tokens.push_back({static_cast<char>(0xE0 | point >> 12),
                            static_cast<char>(0x80 | (point >> 6 & 63)),
                            static_cast<char>(0x80 | (point & 63))});
        }
        return tokens;
      },
      [](const Strings& tokens) {
        made_by(encore_register_character, {{"vocab", std::string("vocab.txt")}})->load(tokens);
      });
}

/// The text is one in which each of the added tokens may begin at every character.
TEST(VocabularyBounds, ManyAddedTokens) {
  expect_linear({1000, table_steps, 1200.0}, numbered_tokens, [](const Strings& tokens) {
    Strings named;
    for (const std::string& token : tokens) named.push_back("plain " + token);
    wordpiece::WordPiece tokenizer(options_of(wordpiece::WordPiece::options(),
                                              {{"vocab", std::string("vocab.txt")}, {"added_tokens", named}}),
                                   {});
    Strings vocabulary = {"[PAD]", "[UNK]", "[CLS]", "[SEP]"};
    vocabulary.insert(vocabulary.end(), tokens.begin(), tokens.end());
    tokenizer.load(vocabulary);
    cut(tokenizer, repeated(tokens.size(), "ab9"));
  });
}

// --- training ---

template <class T>
void train(const Schema& schema, const std::string& text, std::int64_t tokens) {
  made<T>(schema, {{"vocab_size", tokens}, {"min_frequency", std::int64_t{1}}}).train({{text, 1}});
}

void train_word_pieces(const std::string& text) {
  train<wordpiece::WordPiece>(wordpiece::WordPiece::options(), text, 2000);
}
void train_byte_pairs(const std::string& text) {
  train<byte_bpe::ByteBpe>(byte_bpe::ByteBpe::options(), text, 2000);
}

/// Returns n letters from a Lehmer generator, which repeat only after a long period.
std::string letters(std::size_t n) {
  std::string text;
  std::uint64_t state = 1;
  for (std::size_t i = 0; i < n; ++i) {
    state = state * 48271 % 2147483647;
    text += static_cast<char>('a' + state % 26);
  }
  return text;
}

/// The limits are high because a word of the greatest length from which training learns is read again with
/// each of its merges.
constexpr double train_memory = 400.0, train_steps = 60000.0;

std::string long_words(std::size_t n) {
  const std::string text = letters(999 * n);
  return repeated(n, [&](std::size_t i) { return text.substr(999 * i, 999) + " "; });
}

TEST(TrainerBounds, WordPieceOfOneLongWord) {
  expect_linear(
      {20000, train_steps, train_memory}, [](std::size_t n) { return letters(n); }, train_word_pieces);
}
TEST(TrainerBounds, WordPieceOfLongWords) {
  expect_linear({20, train_steps, train_memory}, long_words, train_word_pieces);
}
TEST(TrainerBounds, WordPieceOfManyWords) {
  expect_linear(
      {10000, train_steps, train_memory},
      [](std::size_t n) { return repeated(n, [](std::size_t i) { return numbered("a", i) + " "; }); },
      train_word_pieces);
}
TEST(TrainerBounds, ByteBpeOfOneLongWord) {
  expect_linear(
      {20000, train_steps, train_memory}, [](std::size_t n) { return letters(n); }, train_byte_pairs);
}
TEST(TrainerBounds, ByteBpeOfOneLetter) {
  expect_linear(
      {20000, train_steps, train_memory}, [](std::size_t n) { return repeated(n, "a"); }, train_byte_pairs);
}
TEST(TrainerBounds, ByteBpeOfLongWords) {
  expect_linear({20, train_steps, train_memory}, long_words, train_byte_pairs);
}
TEST(TrainerBounds, ByteBpeOfManyWords) {
  expect_linear(
      {10000, train_steps, train_memory},
      [](std::size_t n) { return repeated(n, [](std::size_t i) { return numbered("a", i) + " "; }); },
      train_byte_pairs);
}

void train_by(const char* (*enter)(Registrar*), const std::string& text) {
  made_by(enter, {{"vocab_size", std::int64_t{2000}}, {"min_frequency", std::int64_t{1}}})
      ->train({{text, 1}});
}

TEST(TrainerBounds, WordOfOneLongWord) {
  expect_linear(
      {20000, train_steps, train_memory}, [](std::size_t n) { return letters(n); },
      [](const std::string& text) { train_by(encore_register_word, text); });
}
TEST(TrainerBounds, WordOfManyWords) {
  expect_linear(
      {10000, train_steps, train_memory},
      [](std::size_t n) { return repeated(n, [](std::size_t i) { return numbered("a", i) + " "; }); },
      [](const std::string& text) { train_by(encore_register_word, text); });
}
TEST(TrainerBounds, CharacterOfMarks) {
  expect_linear({20000, train_steps, train_memory}, marks,
                [](const std::string& text) { train_by(encore_register_character, text); });
}

}  // namespace
}  // namespace encore::bounds
