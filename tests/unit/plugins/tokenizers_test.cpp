// SPDX-License-Identifier: BSD-3-Clause
// Tests the tokenizers byte_bpe, word and character (plugins/tokenizers): their tokens, how their
// vocabularies are trained, and what they refuse. byte_bpe is compared with the definition of byte-pair
// encoding, merge by merge. Trained models depend on these tokens, so a change breaks runs that exist.
#include <functional>
#include <random>
#include <thread>

#include "unit/plugins/trained_tokenizers.hpp"
#include "unit/record/temporary_folder.hpp"

namespace encore::test {
namespace {

using encore::testing::message_of;

Tokens with_specials(const Tokens& more) {
  Tokens all = specials;
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

/// Returns the bytes of a token that is written in GPT-2's alphabet, in which each byte is a printable
/// character.
std::string bytes_of(const std::string& token) {
  std::string bytes;
  for (std::size_t i = 0; i < token.size();) {
    const auto first = static_cast<unsigned char>(token[i]);
    int c = first;
    if (first >= 0xC0) c = ((first & 0x1F) << 6) | (static_cast<unsigned char>(token[i + 1]) & 0x3F);
    i += first >= 0xC0 ? 2 : 1;
    if (c >= 0x100 && c <= 0x120)
      c -= 0x100;  // 0x00 .. 0x20
    else if (c > 0x120 && c <= 0x142)
      c -= 0x121 - 0x7F;  // 0x7F .. 0xA0
    else if (c == 0x143)
      c = 0xAD;
    bytes += static_cast<char>(c);
  }
  return bytes;
}

std::string decoded(const Tokenizer& tokenizer, const Numbers& numbers) {
  std::string bytes;
  for (const std::int32_t number : numbers)
    bytes += bytes_of(tokenizer.vocabulary()[static_cast<std::size_t>(number)]);
  return bytes;
}

const TextCounts some_words = {{"low", 5},     {"lower", 2},  {"newest", 6}, {"widest", 3},
                               {"aaaaaaa", 4}, {"Zürich", 3}, {"don't", 2}};

TEST(ByteBpe, MergesTheMostFrequentNeighboursFirst) {
  const auto tokenizer = trained("byte_bpe", {{"min_frequency", std::int64_t{3}}}, some_words);
  // "aa" 24 times; "es" and "st" 9 times, "e" before "s"; "est" 9; "aaaa" 8 (aa aa aa a); "lo", "ow", "Ġl" 7
  // times.
  const Tokens merges = vocabulary_behind(*tokenizer, 260);
  ASSERT_GE(merges.size(), 7U);
  EXPECT_EQ(Tokens(merges.begin(), merges.begin() + 7),
            (Tokens{"aa", "es", "est", "aaaa", "lo", "Ġlo", "Ġlow"}));
  EXPECT_EQ(tokens(*tokenizer, "newest"), Tokens{"Ġnewest"});
  EXPECT_EQ(tokens(*tokenizer, "west"), (Tokens{"Ġ", "w", "est"}));
  EXPECT_EQ(tokenizer->vocabulary()[4], "!");
  EXPECT_EQ(tokenizer->vocabulary()[259], "Ń") << "the last of the alphabet, byte 0xAD";
}

TEST(ByteBpe, StopsAtTheSizeAndAtRarePairs) {
  EXPECT_EQ(trained("byte_bpe", {{"vocab_size", std::int64_t{263}}}, some_words)->vocabulary().size(), 263U);
  EXPECT_EQ(trained("byte_bpe", {{"vocab_size", std::int64_t{260}}}, some_words)->vocabulary().size(), 260U);
  EXPECT_EQ(vocabulary_behind(*trained("byte_bpe", {{"min_frequency", std::int64_t{8}}}, some_words), 260),
            (Tokens{"aa", "es", "est", "aaaa"}));
}

/// Returns the tokens of a word by the definition of byte-pair encoding: of all neighbouring pairs, merge the
/// first one whose token has the lowest number, and repeat.
Tokens cut_by_definition(std::map<std::string, std::int32_t>& numbers, Tokens word) {
  while (true) {
    std::size_t best = 0;
    std::int32_t lowest = -1;
    for (std::size_t i = 1; i < word.size(); ++i) {
      const auto found = numbers.find(word[i - 1] + word[i]);
      if (found == numbers.end() || (lowest >= 0 && found->second >= lowest)) continue;
      best = i;
      lowest = found->second;
    }
    if (lowest < 0) return word;
    word[best - 1] += word[best];
    word.erase(word.begin() + static_cast<std::ptrdiff_t>(best));
  }
}

/// Returns a random word over three letters, so that tokens overlap and contain one another in every way.
std::string random_word(std::mt19937& random, int longest) {
  std::string word;
  for (int length = 1 + static_cast<int>(random() % static_cast<unsigned>(longest)); length > 0; --length)
    word += "abc"[random() % 3];
  return word;
}

TEST(ByteBpe, CutsByTheDefinition) {
  std::mt19937 random(3);
  TextCounts words;
  for (int i = 0; i < 300; ++i) words[random_word(random, 12)] += 1 + random() % 4;
  const auto tokenizer = trained("byte_bpe", {{"vocab_size", std::int64_t{400}}}, words);
  std::map<std::string, std::int32_t> numbers;
  for (std::size_t i = 4; i < tokenizer->vocabulary().size(); ++i)
    numbers[tokenizer->vocabulary()[i]] = static_cast<std::int32_t>(i);
  for (int i = 0; i < 3000; ++i) {
    const std::string word = random_word(random, 40);
    Tokens bytes{"Ġ"};
    for (const char c : word) bytes.emplace_back(1, c);
    ASSERT_EQ(tokens(*tokenizer, word), cut_by_definition(numbers, bytes)) << word;
  }
}

/// A vocabulary need not have grown by merges: only the numbers of the tokens count.
TEST(ByteBpe, TheVocabularyAloneDecidesHowWordsAreCut) {
  const auto grown = trained("byte_bpe", {{"vocab_size", std::int64_t{260}}}, some_words);
  const auto with = [&](const Tokens& more) {
    Tokens vocabulary(grown->vocabulary().begin(), grown->vocabulary().end());
    vocabulary.insert(vocabulary.end(), more.begin(), more.end());
    auto tokenizer = make_tokenizer("byte_bpe", {{"add_prefix_space", false}});
    tokenizer->load(vocabulary);
    return tokenizer;
  };
  EXPECT_EQ(tokens(*with({"bc", "ab"}), "abc"), (Tokens{"a", "bc"}));
  EXPECT_EQ(tokens(*with({"ab", "bc"}), "abc"), (Tokens{"ab", "c"}));
  EXPECT_EQ(tokens(*with({"ab", "bc", "abc"}), "abc"), Tokens{"abc"});
  EXPECT_EQ(tokens(*with({"bc", "ab", "abc"}), "abc"), Tokens{"abc"});
  EXPECT_EQ(tokens(*with({"abc"}), "abc"), (Tokens{"a", "b", "c"})) << "there is no way to build it";
  EXPECT_EQ(tokens(*with({"aa"}), "aaaaa"), (Tokens{"aa", "aa", "a"})) << "of equal ones the leftmost";
}

TEST(ByteBpe, CutsTextIntoWordsAsGpt2Does) {
  const auto words = [](const std::string& text, bool prefix) {
    const auto tokenizer =
        trained("byte_bpe", {{"min_frequency", std::int64_t{1}}, {"add_prefix_space", prefix}}, {{text, 1}});
    return tokens(*tokenizer, text);  // every word has grown into one token
  };
  EXPECT_EQ(words("They'll say it's 42nd,  don't you?!", true),
            (Tokens{"ĠThey", "'ll", "Ġsay", "Ġit", "'s", "Ġ42", "nd", ",", "Ġ", "Ġdon", "'t", "Ġyou", "?!"}));
  EXPECT_EQ(words("a \n\n b  ", false), (Tokens{"a", "ĠĊĊ", "Ġb", "ĠĠ"}));
  EXPECT_EQ(words("Élan vital日本 ²½", false), (Tokens{"Ãīlan", "ĠvitalæĹ¥æľ¬", "ĠÂ²Â½"}));
  EXPECT_EQ(words(" x", true), (Tokens{"Ġx"})) << "a blank in front is there already";
  EXPECT_EQ(words("'sx 'tis", false), (Tokens{"'s", "x", "Ġ'", "tis"}));
}

TEST(ByteBpe, AnyBytesComeBackWithoutAnUnknownToken) {
  const auto tokenizer = trained("byte_bpe", {{"add_prefix_space", false}}, some_words);
  std::mt19937 random(1);
  std::string every;
  for (int byte = 0; byte < 256; ++byte) every += static_cast<char>(byte);
  Tokens texts = {"",        " ", "\n", every, "[CLS] [UNK][SEP]", "日本語 \xF0\x9F\x98\x80\xFF low lower",
                  "\xE6\x97"};
  for (int i = 0; i < 200; ++i) {
    texts.emplace_back();
    for (unsigned length = random() % 60; length > 0; --length)
      texts.back() += static_cast<char>(random() % 256);
  }
  for (const std::string& text : texts) {
    const Numbers numbers = encoded(*tokenizer, text);
    EXPECT_EQ(decoded(*tokenizer, numbers), text);
    EXPECT_EQ(tokenizer->decode(numbers), text);
    for (const std::int32_t number : numbers) EXPECT_GE(number, 4) << "no special token comes from text";
  }
  const auto prefixing = trained("byte_bpe", {}, some_words);
  EXPECT_EQ(prefixing->decode(encoded(*prefixing, "low")), " low");
  EXPECT_EQ(prefixing->decode({{2, 1, 3, 0}}), "") << "special tokens are left out";
  EXPECT_TRUE(encoded(*prefixing, "").empty());
}

/// "[P" and "AD]" together spell a special token with a low number, which must not attract them.
TEST(ByteBpe, SpecialTokensAreNeverMergedFromText) {
  const auto tokenizer =
      trained("byte_bpe", {{"add_prefix_space", false}}, {{"[PAD]", 50}, {"[UNK]", 50}, {"[CLS]", 9}});
  for (const char* text : {"[PAD]", "[UNK]", "[CLS]", "[SEP]"})
    for (const std::int32_t number : encoded(*tokenizer, text)) EXPECT_GE(number, 4) << text;
}

TEST(ByteBpe, LongWordsTakeLittleTime) {
  const auto tokenizer = trained("byte_bpe", {}, some_words);
  const std::string text(200000, 'a');
  EXPECT_EQ(decoded(*tokenizer, encoded(*tokenizer, text)), " " + text);
}

TEST(ByteBpe, EncodesFromSeveralThreads) {
  const auto tokenizer = trained("byte_bpe", {}, some_words);
  const std::string text = "The lowest, widest Zürich don't aaaa lower";
  const Numbers expected = encoded(*tokenizer, text);
  std::vector<int> wrong(4, 0);
  std::vector<std::thread> threads;
  for (int& count : wrong)
    threads.emplace_back([&] {
      for (int i = 0; i < 2000; ++i) count += encoded(*tokenizer, text) != expected;
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<int>(4, 0));
}

TEST(ByteBpe, RefusesAnInvalidVocabulary) {
  const auto tokenizer = trained("byte_bpe", {}, some_words);
  const Tokens good(tokenizer->vocabulary().begin(), tokenizer->vocabulary().end());
  const auto refusal = [&](const std::function<void(Tokens&)>& spoil) {
    Tokens vocabulary = good;
    spoil(vocabulary);
    return message_of<Error>([&] { make_tokenizer("byte_bpe", {})->load(vocabulary); });
  };
  EXPECT_EQ(refusal([](Tokens&) {}), "no error");
  EXPECT_EQ(refusal([](Tokens& v) { v[1] = "unknown"; }),
            "the vocabulary has no [UNK]; a byte_bpe vocabulary needs [PAD], [UNK], [CLS] and [SEP]");
  EXPECT_EQ(refusal([](Tokens& v) { v.push_back("es"); }), "the vocabulary holds the token \"es\" twice");
  EXPECT_EQ(refusal([](Tokens& v) { v.push_back(""); }),
            "token " + std::to_string(good.size()) + " of the vocabulary is empty");
  EXPECT_EQ(refusal([](Tokens& v) { std::erase(v, "Ġ"); }),
            "the vocabulary has no token \"Ġ\" for the byte 32; a byte_bpe vocabulary needs a token for each "
            "of the "
            "256 bytes");
  EXPECT_EQ(refusal([](Tokens& v) { v.push_back("日"); }),
            "invalid token \"日\": a character stands for no byte; a byte_bpe vocabulary is written in the "
            "alphabet of GPT-2");
}

/// Returns a vocabulary of RoBERTa's special tokens, the bytes and `more`, followed by the merges.
Tokens vocabulary_with_merges(const Tokens& more, const Tokens& merges) {
  const auto bytes = trained("byte_bpe", {{"vocab_size", std::int64_t{260}}}, some_words);
  Tokens lines = {"<s>", "<pad>", "</s>", "<unk>", "<mask>"};
  lines.insert(lines.end(), bytes->vocabulary().begin() + 4, bytes->vocabulary().end());
  lines.insert(lines.end(), more.begin(), more.end());
  lines.push_back("#version: 0.2");
  lines.insert(lines.end(), merges.begin(), merges.end());
  return lines;
}

TEST(ByteBpe, MergesInTheOrderThatIsGiven) {
  // The first merge makes "bc" of "abc", and no merge joins "a" and "bc".
  const Tokens lines = vocabulary_with_merges({"ab", "bc", "abc"}, {"b c", "a b", "ab c"});
  const auto tokenizer = make_tokenizer("byte_bpe", {{"add_prefix_space", false}});
  tokenizer->load(lines);
  EXPECT_EQ(tokenizer->vocabulary().size(), 264U);
  const auto first = static_cast<std::int32_t>(261);
  const std::int32_t a = encoded(*tokenizer, "a").at(0);
  EXPECT_EQ(encoded(*tokenizer, "abc"), (std::vector<std::int32_t>{a, first + 1}));
  EXPECT_EQ(encoded(*tokenizer, "ab"), std::vector<std::int32_t>{first});
  EXPECT_EQ(tokenizer->find(Special::padding), 1);
  EXPECT_EQ(tokenizer->find(Special::separator), 2);
}

TEST(ByteBpe, FindsTheMaskWithTheWhiteSpaceInFront) {
  const auto tokenizer = make_tokenizer("byte_bpe", {{"add_prefix_space", true}});
  tokenizer->load(vocabulary_with_merges({}, {}));
  const std::string text = "a \t<mask><mask>b</s>";
  std::vector<std::int32_t> tokens;
  std::vector<ByteRange> ranges;
  tokenizer->encode(text, tokens, ranges);
  EXPECT_EQ(tokens, encoded(*tokenizer, text));
  ASSERT_EQ(tokens.size(), 10U);  // a blank and a letter, twice a mask, a blank and a letter, four bytes
  EXPECT_EQ(tokens[2], 4);
  EXPECT_EQ(tokens[3], 4);
  EXPECT_EQ(ranges[2], (ByteRange{3, 9}));
  EXPECT_EQ(ranges[4], (ByteRange{15, 15}));
  EXPECT_EQ(ranges[5], (ByteRange{15, 16}));
  EXPECT_EQ(tokenizer->decode(tokens), " a b</s>");
}

TEST(ByteBpe, RefusesInvalidMerges) {
  const auto refusal = [&](const Tokens& merges) {
    return message_of<Error>(
        [&] { make_tokenizer("byte_bpe", {})->load(vocabulary_with_merges({"ab"}, merges)); });
  };
  const std::string begin = "merge 2 of the vocabulary, ";
  EXPECT_EQ(refusal({"a b"}), "no error");
  EXPECT_EQ(refusal({"a b", "a"}), begin + "\"a\": expected two tokens with a blank between them");
  EXPECT_EQ(refusal({"a b", "a b c"}), begin + "\"a b c\": expected two tokens with a blank between them");
  EXPECT_EQ(refusal({"a b", "b c"}), begin + "\"b c\": the vocabulary has no token \"bc\"");
  EXPECT_EQ(refusal({"a b", "xy b"}), begin + "\"xy b\": the vocabulary has no token \"xy\"");
  EXPECT_EQ(refusal({"a b", "a b"}), begin + "\"a b\": the same merge comes before it");
}

TEST(ByteBpe, RefusesASizeBelowTheBytes) {
  try {
    make_tokenizer("byte_bpe", {{"vocab_size", std::int64_t{259}}});
    ADD_FAILURE() << "not refused";
  } catch (const OptionError& error) {
    EXPECT_EQ(error.option(), "vocab_size");
    EXPECT_STREQ(error.what(),
                 "vocab_size = 259 is too small: 256 bytes and 4 special tokens already need 260");
  }
}

TEST(WordTokenizer, AWordIsAToken) {
  const auto tokenizer =
      trained("word", {}, {{"the", 5}, {"cat", 2}, {"The", 2}, {"[UNK]", 9}, {"Ärger", 1}});
  EXPECT_EQ(vocabulary_behind(*tokenizer, 0), with_specials({"the", "The", "cat", "Ärger"}))
      << "by falling count, then by bytes; a special token stands once";
  EXPECT_EQ(tokens(*tokenizer, "the cat The dog"), (Tokens{"the", "cat", "The", "[UNK]"}));
  EXPECT_EQ(tokens(*tokenizer, "[SEP]"), Tokens{"[UNK]"});
  EXPECT_EQ(tokens(*tokenizer, "\t the\u3000cat\n"), (Tokens{"the", "cat"}));
  EXPECT_EQ(tokens(*tokenizer, " \u200b\n"), Tokens{});
  EXPECT_EQ(tokens(*tokenizer, "the\xFF"), Tokens{"[UNK]"});
}

TEST(WordTokenizer, LowersLettersAndLeavesOutWhatIsRare) {
  const auto tokenizer = trained("word", {{"lowercase", true}, {"min_frequency", std::int64_t{2}}},
                                 {{"the", 1}, {"The", 1}, {"Ärger", 2}, {"rare", 1}});
  EXPECT_EQ(vocabulary_behind(*tokenizer, 0), with_specials({"the", "ärger"}));
  EXPECT_EQ(tokens(*tokenizer, "THE ÄRGER rare"), (Tokens{"the", "ärger", "[UNK]"}));
}

TEST(WordTokenizer, KeepsToItsSize) {
  EXPECT_EQ(vocabulary_behind(
                *trained("word", {{"vocab_size", std::int64_t{6}}}, {{"a", 1}, {"b", 3}, {"c", 2}}), 4),
            (Tokens{"b", "c"}));
}

TEST(CharacterTokenizer, ACodePointIsAToken) {
  const auto tokenizer = trained("character", {}, {{"abba", 2}, {"日b", 1}, {"e\u0301", 1}});
  EXPECT_EQ(vocabulary_behind(*tokenizer, 0), with_specials({"b", "a", "é", "日"}));
  EXPECT_EQ(tokens(*tokenizer, "ab 日c"), (Tokens{"a", "b", "日", "[UNK]"}));
  EXPECT_EQ(tokens(*tokenizer, "\u00e9 e\u0301"), (Tokens{"é", "é"}));
  EXPECT_EQ(tokens(*tokenizer,
                   "a\xFF"
                   "b"),
            (Tokens{"a", "[UNK]", "b"}));
  EXPECT_EQ(tokens(*tokenizer, " \t\r\n"), Tokens{});
}

TEST(CharacterTokenizer, LeavesMarksAloneIfAskedAndLowersLetters) {
  const auto plain = trained("character", {{"compose", false}}, {{"e\u0301", 1}});
  EXPECT_EQ(vocabulary_behind(*plain, 0), with_specials({"e", "\u0301"}));
  const auto lowered = trained("character", {{"lowercase", true}}, {{"AÄ", 1}});
  EXPECT_EQ(vocabulary_behind(*lowered, 0), with_specials({"a", "ä"}));
  EXPECT_EQ(tokens(*lowered, "aAä"), (Tokens{"a", "a", "ä"}));
}

TEST(CharacterTokenizer, KeepsWhiteSpaceIfAsked) {
  const Settings settings = {{"white_space", true}};
  const auto tokenizer = trained("character", settings, {{"a b\n", 2}, {"\tb\x7F", 1}});
  EXPECT_EQ(vocabulary_behind(*tokenizer, 4), (Tokens{"b", "a", "␊", "␠", "␉", "␡"})) << "one line each";
  const std::string text = "b a\n\n\tab\x7F ";
  EXPECT_EQ(tokenizer->decode(encoded(*tokenizer, text)), text);
  EXPECT_EQ(tokens(*tokenizer, "a\u00A0b\u200Ba\r"), (Tokens{"a", "␠", "b", "a", "[UNK]"}))
      << "other white space is a blank, format characters are nothing";
  const auto loaded = make_tokenizer("character", settings);
  loaded->load(Tokens(tokenizer->vocabulary().begin(), tokenizer->vocabulary().end()));
  EXPECT_EQ(encoded(*loaded, text), encoded(*tokenizer, text));
  EXPECT_EQ(trained("character", {}, {{"␠", 1}})->decode({{4}}), "␠") << "without it a sign like any other";
}

TEST(CharacterTokenizer, RefusesATokenOfTwoCharacters) {
  EXPECT_EQ(message_of<Error>([] {
              make_tokenizer("character", {})->load(with_specials({"a", "ab"}));
            }),
            "invalid token \"ab\": expected a single character; a vocabulary of type \"word\" may hold it");
}

TEST(Tokenizers, RefuseInvalidVocabulariesAlike) {
  for (const std::string name : {"word", "character"}) {
    EXPECT_EQ(message_of<Error>([&] {
                make_tokenizer(name, {})->load({"[PAD]", "[CLS]", "[SEP]", "a"});
              }),
              "the vocabulary has no [UNK]; a " + name + " vocabulary needs [PAD], [UNK], [CLS] and [SEP]");
    EXPECT_EQ(message_of<Error>([&] {
                make_tokenizer(name, {})->load(with_specials({"a", "a"}));
              }),
              "the vocabulary holds the token \"a\" twice");
    EXPECT_EQ(message_of<Error>([&] {
                trained(name, {{"min_frequency", std::int64_t{7}}}, {{"a", 6}});
              }),
              "no " + name + " of the training text occurs min_frequency = 7 times: lower min_frequency");
  }
}

TEST(Tokenizers, WantEitherAFileOrASize) {
  const std::vector<std::pair<std::string, std::string>> tokenizers = {
      {"byte_bpe", "byte_bpe"}, {"word_tokenizer", "word"}, {"character_tokenizer", "character"}};
  for (const auto& [plugin, name] : tokenizers) {
    const auto made = [&, p = plugin, n = name](const Settings& settings) {
      return message_of<OptionError>([&] { make_built_in<Kind::tokenizer>(p, n, settings, {}); });
    };
    EXPECT_EQ(made({}), "a vocabulary is missing: give vocab = \"FILE\", or vocab_size to train one");
    EXPECT_EQ(made({{"vocab", std::string("f")}, {"vocab_size", std::int64_t{300}}}),
              "vocab and vocab_size exclude each other: a vocabulary is read or trained");
    EXPECT_EQ(message_of<Error>([&, n = name] {
                make_tokenizer(n, {})->train({{"a", 1}});
              }),
              "this tokenizer reads its vocabulary from a file: give vocab_size to train one");
  }
}

/// A trained vocabulary, saved and loaded again, cuts text in the same way.
TEST(Tokenizers, TrainEqualVocabulariesFromEqualWords) {
  for (const std::string name : {"byte_bpe", "word", "character"}) {
    const auto first = trained(name, {}, some_words), second = trained(name, {}, some_words);
    EXPECT_EQ(vocabulary_behind(*first, 0), vocabulary_behind(*second, 0));
    const auto loaded = make_tokenizer(name, {});
    loaded->load(vocabulary_behind(*first, 0));
    for (const auto& [word, count] : some_words)
      EXPECT_EQ(encoded(*loaded, word), encoded(*first, word)) << word;
  }
}

}  // namespace
}  // namespace encore::test
