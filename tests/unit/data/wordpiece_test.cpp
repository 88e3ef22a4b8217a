// SPDX-License-Identifier: BSD-3-Clause
// Tests WordPiece, the tokenizer of BERT (plugins/tokenizers/wordpiece.hpp), and the training of its
// vocabularies (plugins/tokenizers/wordpiece_trainer.cpp). The expected tokens are those of the Python
// package `tokenizers` with the same vocabulary and must not change, because trained models depend on them.
// tests/system/peers/compare_wordpiece.py compares far more text where that package is installed.
#include "wordpiece.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "unit/record/temporary_folder.hpp"

namespace {

using encore::Error;
using encore::OptionError;
using encore::Options;
using encore::Special;
using encore::testing::message_of;
using encore::wordpiece::WordPiece;

const std::vector<std::string> vocabulary = {
    "[PAD]", "[UNK]",    "[CLS]", "[SEP]", "[MASK]", "the",    "quick",  "quiet",     "##ly",     "##er",
    "un",    "##affect", "##ed",  "walk",  "##ing",  "Zürich", "zurich", "Z",         "##ürich",  "e",
    "é",     "##é",      "##e",   "caf",   "##s",    "!",      "?",      ",",         ".",        "'",
    "-",     "$",        "^",     "`",     "#",      "[",      "]",      "«",         "»",        "—",
    "日",    "本",       "東",    "京",    "##語",   "İ",      "i",      "##stanbul", "Istanbul", "istanbul",
    "σ",     "##α",      "##ς",   "Σ",     "##Α",    "##Σ",    "##σ",    "한",        "##국",     "ᄒ",
    "##ᅡ",  "##ᆫ",     "a",     "##b",   "ab",     "CLS",    "cls",    "x",         "##x",      "ﬁ",
    "##ne",  "😀",        "5",     "##0",   "##°",    "€",      "naive",  "##ï",       "na",       "##ve"};

Options options(bool lowercase, const std::string& key = "vocab",
                encore::OptionValue value = std::string("vocab.txt")) {
  Options values;
  const encore::Schema schema = WordPiece::options();
  for (const encore::Option& option : schema.options())
    if (option.fallback) values.set_default(option.name, *option.fallback);
  values.set(key, std::move(value));
  values.set("lowercase", lowercase);
  return values;
}

/// Returns a tokenizer with the vocabulary above.
WordPiece make(bool lowercase) {
  WordPiece tokenizer(options(lowercase), {});
  tokenizer.load(vocabulary);
  return tokenizer;
}

/// Returns the tokens of the text, with blanks between them.
std::string tokens(const WordPiece& tokenizer, std::string_view text) {
  std::vector<std::int32_t> numbers;
  tokenizer.encode(text, numbers);
  std::string joined;
  for (const std::int32_t number : numbers)
    joined += (joined.empty() ? "" : " ") + tokenizer.vocabulary()[static_cast<std::size_t>(number)];
  return joined;
}

/// A text with its tokens, as they are and in lower case.
struct Case {
  std::string text;
  std::string cased;
  std::string uncased;
};

TEST(WordPiece, CutsTextAsTheReferenceDoes) {
  using namespace std::string_literals;
  const std::vector<Case> cases = {
      {"The quickly walking, unaffected!", "[UNK] quick ##ly walk ##ing , un ##affect ##ed !",
       "the quick ##ly walk ##ing , un ##affect ##ed !"},
      {"ZÜRICH Zürich zürich Zu\u0308rich", "[UNK] Zürich [UNK] [UNK]", "zurich zurich zurich zurich"},
      {"cafés café cafe\u0301s", "caf ##é ##s caf ##é [UNK]", "caf ##e ##s caf ##e caf ##e ##s"},
      {"a\u200bb a\u00adb a\u00a0b", "ab ab a [UNK]", "ab ab a [UNK]"},
      {"«the»—the", "« the » — the", "« the » — the"},
      {"日本語東京", "日 本 [UNK] 東 京", "日 本 [UNK] 東 京"},
      {"İstanbul Istanbul", "İ ##stanbul Istanbul", "istanbul istanbul"},
      {"ΣΑΣ σας", "Σ ##Α ##Σ σ ##α ##ς", "σ ##α ##σ σ ##α ##ς"},
      {"한국 한", "한 ##국 한", "[UNK] ᄒ ##ᅡ ##ᆫ"},
      {"[CLS]the[SEP] [cls] [MASK][PAD]", "[CLS] the [SEP] [ cls ] [MASK] [PAD]",
       "[CLS] the [SEP] [ cls ] [MASK] [PAD]"},
      {"a[UNK]b [[SEP]]", "a [UNK] [UNK] [ [SEP] ]", "a [UNK] [UNK] [ [SEP] ]"},
      {"\ufeffthe\tquick\r\nquiet\0ly"s, "the quick quiet ##ly", "the quick quiet ##ly"},
      {"50° $5 €5 ^`#", "5 ##0 ##° $ 5 [UNK] ^ ` #", "5 ##0 ##° $ 5 [UNK] ^ ` #"},
      {"ﬁne na\u0308ive naïve", "ﬁ ##ne [UNK] na ##ï ##ve", "ﬁ ##ne naive naive"},
      {"😀 the😀", "😀 [UNK]", "😀 [UNK]"},
      {"the\u2028quick\u3000quiet", "the quick quiet", "the quick quiet"},
      {"don't - [the]", "[UNK] ' [UNK] - [ the ]", "[UNK] ' [UNK] - [ the ]"},
      {"", "", ""},
      {"  \t ", "", ""},
      {"\u200b", "", ""},
  };
  const WordPiece cased = make(false), uncased = make(true);
  for (const Case& each : cases) {
    EXPECT_EQ(tokens(cased, each.text), each.cased) << each.text;
    EXPECT_EQ(tokens(uncased, each.text), each.uncased) << each.text;
  }
}

TEST(WordPiece, LeavesWordsOfMoreThanAHundredCharactersUncut) {
  const WordPiece tokenizer = make(false);
  std::vector<std::int32_t> numbers;
  tokenizer.encode(std::string(100, 'x'), numbers);
  EXPECT_EQ(numbers.size(), 100u);
  numbers.clear();
  tokenizer.encode(std::string(101, 'x'), numbers);
  EXPECT_EQ(numbers, std::vector<std::int32_t>{1});
  // Characters count, not bytes.
  std::string accents;
  for (int i = 0; i < 100; ++i) accents += "é";
  numbers.clear();
  tokenizer.encode(accents, numbers);
  EXPECT_EQ(numbers.size(), 100u);
}

TEST(WordPiece, DropsBytesThatAreNotUtf8) {
  EXPECT_EQ(tokens(make(false), "the\xFF quick\xC3"), "the quick");
  EXPECT_EQ(tokens(make(true), "\xE9the"), "the");
}

TEST(WordPiece, EncodesFromSeveralThreads) {
  const WordPiece tokenizer = make(true);
  const std::string text = "The quickly walking Zürich cafés, unaffected!";
  std::vector<std::int32_t> expected;
  tokenizer.encode(text, expected);
  std::vector<int> wrong(4, 0);
  std::vector<std::thread> threads;
  for (int& count : wrong)
    threads.emplace_back([&] {
      for (int i = 0; i < 2000; ++i) {
        std::vector<std::int32_t> numbers;
        tokenizer.encode(text, numbers);
        count += numbers != expected;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<int>(4, 0));
}

TEST(WordPiece, KnowsItsSpecialTokens) {
  const WordPiece tokenizer = make(false);
  EXPECT_EQ(tokenizer.special(Special::padding), 0);
  EXPECT_EQ(tokenizer.special(Special::unknown), 1);
  EXPECT_EQ(tokenizer.special(Special::start), 2);
  EXPECT_EQ(tokenizer.special(Special::end), 3);
  EXPECT_EQ(tokenizer.special(Special::separator), 3);
  EXPECT_EQ(tokenizer.special(Special::mask), 4);
}

/// Returns the bytes of the text from which each token comes, with bars between them.
std::string sources(const WordPiece& tokenizer, std::string_view text) {
  std::vector<std::int32_t> numbers;
  std::vector<encore::ByteRange> ranges;
  tokenizer.encode(text, numbers, ranges);
  EXPECT_EQ(numbers.size(), ranges.size()) << text;
  std::string joined;
  for (std::size_t i = 0; i < ranges.size(); ++i)
    joined +=
        (i == 0 ? "" : "|") + std::string(text.substr(ranges[i].begin, ranges[i].end - ranges[i].begin));
  return joined;
}

TEST(WordPiece, SaysWhereInTheOriginalTextTokensComeFrom) {
  const std::vector<Case> cases = {
      {"The quickly walking, unaffected!", "The|quick|ly|walk|ing|,|un|affect|ed|!",
       "The|quick|ly|walk|ing|,|un|affect|ed|!"},
      {"ZÜRICH Zu\u0308rich", "ZÜRICH|Zu\u0308rich", "ZÜRICH|Zu\u0308rich"},
      {"cafés cafe\u0301s", "caf|é|s|cafe\u0301s", "caf|é|s|caf|e\u0301|s"},
      {"a\u200bb a\u00a0b", "a\u200bb|a|b", "a\u200bb|a|b"},
      {"日本語東京", "日|本|語|東|京", "日|本|語|東|京"},
      {"İstanbul ΣΑΣ", "İ|stanbul|Σ|Α|Σ", "İstanbul|Σ|Α|Σ"},
      {"한국 한", "한|국|한", "한국|한|한|한"},
      {"a[UNK]b [[SEP]] é[CLS]é", "a|[UNK]|b|[|[SEP]|]|é|[CLS]|é", "a|[UNK]|b|[|[SEP]|]|é|[CLS]|é"},
      {"the\xFF quick\xC3", "the|quick", "the|quick"},
      {" \u0301the", "\u0301the", "the"},
      {"\t", "", ""},
  };
  const WordPiece cased = make(false), uncased = make(true);
  for (const Case& each : cases) {
    EXPECT_EQ(sources(cased, each.text), each.cased) << each.text;
    EXPECT_EQ(sources(uncased, each.text), each.uncased) << each.text;
  }
}

TEST(WordPiece, DecodesToWordsWithABlankBetweenThem) {
  const WordPiece tokenizer = make(true);
  std::vector<std::int32_t> numbers;
  tokenizer.encode("[CLS] The quickly-walking  cat [UNK], unaffected [SEP][PAD]", numbers);
  EXPECT_EQ(tokenizer.decode(numbers), "the quickly - walking , unaffected") << "the cat is unknown";
  EXPECT_EQ(tokenizer.decode(std::vector<std::int32_t>{2, 8, 9}), "lyer") << "it begins within a word";
  EXPECT_EQ(tokenizer.decode({}), "");
  EXPECT_THROW(tokenizer.decode(std::vector<std::int32_t>{-1}), std::logic_error);
  EXPECT_THROW(tokenizer.decode(std::vector<std::int32_t>{100000}), std::logic_error);
}

TEST(WordPiece, RejectsAnInvalidVocabulary) {
  WordPiece tokenizer(options(false), {});
  EXPECT_EQ(message_of<Error>([&] {
              tokenizer.load({"[PAD]", "[CLS]", "[SEP]", "a"});
            }),
            "the vocabulary has no [UNK]; a WordPiece vocabulary needs [PAD], [UNK], [CLS] and [SEP]");
  EXPECT_EQ(message_of<Error>([&] {
              tokenizer.load({"[PAD]", "[UNK]", "[CLS]", "[SEP]", "a", "a"});
            }),
            "the vocabulary holds the token \"a\" twice");
  EXPECT_EQ(message_of<Error>([&] { tokenizer.load({"[PAD]", ""}); }), "token 1 of the vocabulary is empty");
}

TEST(WordPiece, WantsEitherAFileOrASize) {
  Options neither, both = options(false);
  neither.set("min_frequency", std::int64_t{2});
  neither.set("lowercase", false);
  both.set("vocab_size", std::int64_t{100});
  EXPECT_EQ(message_of<OptionError>([&] { WordPiece(neither, {}); }),
            "a vocabulary is missing: give vocab = \"FILE\", or vocab_size to train one");
  EXPECT_EQ(message_of<OptionError>([&] { WordPiece(both, {}); }),
            "vocab and vocab_size exclude each other: a vocabulary is read or trained");
  WordPiece reader(options(false), {});
  EXPECT_EQ(message_of<Error>([&] {
              reader.train({{"a", 1}});
            }),
            "this tokenizer reads its vocabulary from a file: give vocab_size to train one");
}

TEST(WordPieceTrainer, MergesTheMostFrequentPairsFirst) {
  // "lo" occurs 7 times; after it is merged, "low" occurs 7 times as well; "er" occurs 3 times.
  const std::vector<std::string> trained =
      encore::wordpiece::train_vocabulary({{"low", 4}, {"lower", 3}}, {22, 2});
  const std::vector<std::string> expected = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "e",   "l",
                                             "o",     "r",     "w",     "##e",   "##l",    "##o", "##r",
                                             "##w",   "lo",    "low",   "##er",  "lower"};
  EXPECT_EQ(trained, expected);
}

TEST(WordPieceTrainer, StopsAtTheSizeAndAtRarePairs) {
  const encore::TextCounts words = {{"low", 4}, {"lower", 3}};
  EXPECT_EQ(encore::wordpiece::train_vocabulary(words, {17, 2}).size(), 17u);
  const std::vector<std::string> frequent = encore::wordpiece::train_vocabulary(words, {100, 4});
  EXPECT_EQ(frequent.back(), "low");
}

TEST(WordPieceTrainer, MergesRunsOfOneCharacter) {
  const std::vector<std::string> trained = encore::wordpiece::train_vocabulary({{"aaaaa", 2}}, {100, 2});
  const std::vector<std::string> expected = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]",
                                             "a",     "##a",   "##aa",  "aaa",   "aaaaa"};
  EXPECT_EQ(trained, expected);
}

TEST(WordPieceTrainer, RefusesASizeBelowTheCharacters) {
  EXPECT_EQ(
      message_of<Error>([] {
        encore::wordpiece::train_vocabulary({{"abc", 1}}, {10, 2});
      }),
      "vocab_size = 10 is too small for this text: its 3 characters and the special tokens already need 11");
}

TEST(WordPieceTrainer, TakesLinesWithSeveralWords) {
  WordPiece words(options(true, "vocab_size", std::int64_t{40}), {});
  WordPiece texts(options(true, "vocab_size", std::int64_t{40}), {});
  words.train({{"Lower", 3}, {"lower", 2}, {"slow,", 5}, {"wolves", 2}});
  texts.train({{"Lower wolves", 2}, {" lower\tLower", 1}, {"lower", 1}, {"slow,\nslow,", 2}, {"slow,", 1}});
  EXPECT_TRUE(std::equal(words.vocabulary().begin(), words.vocabulary().end(), texts.vocabulary().begin(),
                         texts.vocabulary().end()));
}

TEST(WordPieceTrainer, WordsOfTheTextAreEncodableAfterTraining) {
  WordPiece tokenizer(options(true, "vocab_size", std::int64_t{40}), {});
  tokenizer.train({{"Lower", 3}, {"lower", 2}, {"slow,", 5}, {"wolves", 1}});
  EXPECT_EQ(tokens(tokenizer, "slow LOWER"), "slow lower");
  std::vector<std::int32_t> numbers;
  tokenizer.encode("wolves , solve rower", numbers);
  EXPECT_EQ(std::count(numbers.begin(), numbers.end(), tokenizer.special(Special::unknown)), 0);
}

}  // namespace
