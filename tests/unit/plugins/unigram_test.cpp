// SPDX-License-Identifier: BSD-3-Clause
// Tests the tokenizer "unigram" (plugins/tokenizers/unigram.hpp): tokens equal those of the package
// `sentencepiece` (unigram_cases.json, which make_unigram_cases.py writes and which is never edited by hand);
// its vocabulary as lines and as files; models of two sides (source and target); training; and what is
// refused.
#include "unigram.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include <sentencepiece_processor.h>
#include <nlohmann/json.hpp>

#include <encore/base64.hpp>

#include "base/sha256.hpp"
#include "data/vocabulary.hpp"
#include "support/places.hpp"
#include "unit/record/temporary_folder.hpp"

namespace encore::unigram {
namespace {

using encore::testing::message_of;
using encore::testing::TemporaryFolder;
using Json = nlohmann::json;
using Numbers = std::vector<std::int32_t>;
using Texts = std::vector<std::string>;

const Json& fixture() {
  static const Json json =
      Json::parse(std::ifstream(ENCORE_SOURCE_DIR "/tests/unit/plugins/unigram_cases.json"));
  return json;
}

Options options_with(const std::string& option, OptionValue value) {
  Options options;
  options.set("character_coverage", 1.0);
  options.set("byte_fallback", false);
  options.set(option, std::move(value));
  return options;
}

std::unique_ptr<Unigram> empty_tokenizer() {
  return std::make_unique<Unigram>(options_with("vocab", std::string("a.model")), TokenizerContext());
}

std::unique_ptr<Unigram> loaded(Texts lines) {
  auto tokenizer = empty_tokenizer();
  tokenizer->load(std::move(lines));
  return tokenizer;
}

std::unique_ptr<Unigram> trained(const TextCounts& texts, std::int64_t size, bool byte_fallback = false) {
  Options options = options_with("vocab_size", size);
  options.set("byte_fallback", byte_fallback);
  auto tokenizer = std::make_unique<Unigram>(options, TokenizerContext());
  tokenizer->train(texts);
  return tokenizer;
}

/// Returns the vocabulary lines of a stored model.
Texts lines_of(const std::string& name) {
  Texts lines = fixture().at(name).at("pieces");
  lines.emplace_back(models_header);
  lines.push_back("model " + fixture().at(name).at("model").get<std::string>());
  return lines;
}

void write(const std::filesystem::path& file, const std::string& bytes) {
  std::ofstream(file, std::ios::binary) << bytes;
}

Texts tokens(const Tokenizer& tokenizer, const std::string& text) {
  Numbers numbers;
  tokenizer.encode(text, numbers);
  Texts all;
  for (const std::int32_t number : numbers)
    all.push_back(tokenizer.vocabulary()[static_cast<std::size_t>(number)]);
  return all;
}

TEST(Unigram, CutsAsThePackage) {
  for (const auto& [name, model] : fixture().items()) {
    const auto tokenizer = loaded(lines_of(name));
    for (const Json& of : model.at("cases")) {
      const std::string text = of.at("text");
      Numbers numbers, begins, ends;
      std::vector<ByteRange> ranges;
      tokenizer->encode(text, numbers, ranges);
      for (const ByteRange& range : ranges) {
        begins.push_back(static_cast<std::int32_t>(range.begin));
        ends.push_back(static_cast<std::int32_t>(range.end));
      }
      EXPECT_EQ(numbers, of.at("ids").get<Numbers>()) << name << ": " << text;
      EXPECT_EQ(begins, of.at("begins").get<Numbers>()) << name << ": " << text;
      EXPECT_EQ(ends, of.at("ends").get<Numbers>()) << name << ": " << text;
      EXPECT_EQ(tokenizer->decode(of.at("known").get<Numbers>()), of.at("decoded").get<std::string>())
          << name << ": " << text;
    }
  }
}

TEST(Unigram, ItsModelIsReadWithoutTheLibraryToo) {
  const TemporaryFolder folder;
  for (const auto& [name, model] : fixture().items())
    for (const char* extension : {".model", ".spm"}) {
      const std::filesystem::path file = folder / (name + extension);
      write(file, from_base64(model.at("model").get<std::string>()));
      const Texts lines = data::load_vocabulary(file);
      EXPECT_EQ(lines, lines_of(name));
      EXPECT_EQ(data::token_count(lines), model.at("pieces").size());
      write(folder / "vocab.txt", data::vocabulary_text(lines));
      EXPECT_EQ(data::load_vocabulary(folder / "vocab.txt"), lines);
    }
}

TEST(Unigram, KnowsItsSpecialTokensByRole) {
  const auto tokenizer = loaded(lines_of("plain"));
  EXPECT_EQ(tokenizer->special(Special::padding), 0);
  EXPECT_EQ(tokenizer->special(Special::unknown), 1);
  EXPECT_EQ(tokenizer->special(Special::start), 2);
  EXPECT_EQ(tokenizer->special(Special::end), 3);
  EXPECT_EQ(tokenizer->find(Special::mask), std::nullopt);
  EXPECT_EQ(tokenizer->decode({{0, 1, 2, 13, 3}}), "low");
}

/// Returns a vocabulary with the tokens of two models and two special ones of its own, followed by the
/// models.
Texts two_sides() {
  const Texts source = fixture().at("plain").at("pieces"), target = fixture().at("no_mark").at("pieces");
  Texts lines = {"</s>", "<unk>", ">>de<<", "日"};
  for (const Texts& side : {target, source})
    for (const std::string& token : side)
      if (token != "<s>" && token != "<pad>" && std::ranges::find(lines, token) == lines.end())
        lines.push_back(token);
  lines.emplace_back("<pad>");
  lines.emplace_back(models_header);
  for (const auto& [name, model] : {std::pair("source", "plain"), std::pair("target", "no_mark")})
    lines.push_back(std::string(name) + " " + fixture().at(model).at("model").get<std::string>());
  return lines;
}

TEST(Unigram, OfTwoModelsCutsSourcesAndTargetsApart) {
  const Texts lines = two_sides();
  const auto tokenizer = loaded(lines);
  EXPECT_EQ(tokenizer->vocabulary_lines(), lines);
  const Tokenizer& targets = target_tokenizer_of(*tokenizer);
  EXPECT_EQ(tokens(*tokenizer, "the low"), tokens(*loaded(lines_of("plain")), "the low"));
  EXPECT_EQ(tokens(targets, "the low"), tokens(*loaded(lines_of("no_mark")), "the low"));
  EXPECT_NE(tokens(*tokenizer, "the low"), tokens(targets, "the low"));
  EXPECT_TRUE(std::ranges::equal(targets.vocabulary(), tokenizer->vocabulary()));
  EXPECT_EQ(targets.special(Special::end), 0);
  EXPECT_EQ(tokenizer->special(Special::start), tokenizer->special(Special::padding))
      << "where there is no <s>";
  EXPECT_EQ(tokens(*tokenizer, "日"), (Texts{"▁", "日"})) << "which no model has, and the vocabulary has";
  EXPECT_EQ(tokens(*tokenizer, "本"), (Texts{"▁", "<unk>"}));
  const std::int32_t high = static_cast<std::int32_t>(std::ranges::find(lines, "▁high") - lines.begin());
  EXPECT_EQ(targets.decode({{high, high}}), " high high");
}

TEST(Unigram, ACodeInFrontOfATextIsAToken) {
  const auto tokenizer = loaded(two_sides());
  for (const std::string text : {">>de<< new", ">>de<<new"}) {
    Numbers numbers;
    std::vector<ByteRange> ranges;
    tokenizer->encode(text, numbers, ranges);
    EXPECT_EQ(tokens(*tokenizer, text), (Texts{">>de<<", "▁new"}));
    EXPECT_EQ(ranges.front(), (ByteRange{0, 6}));
    EXPECT_EQ(ranges.back(), (ByteRange{text.size() == 10 ? 7U : 6U, text.size()}));
  }
  EXPECT_EQ(tokens(*tokenizer, ">>fr<<").front(), "<unk>");
  EXPECT_EQ(tokens(*tokenizer, "new >>de<<").front(), "▁new");
  EXPECT_EQ(tokens(*tokenizer, ">>de").front(), "▁") << "which is text";
  EXPECT_EQ(tokens(*loaded(lines_of("plain")), ">>de<<").front(), "▁") << "one model has no codes";
}

/// Returns the tokens of the model "plain", then the gaps (T5's sentinel tokens) 1 and 0, and an unused row.
Texts with_gaps() {
  Texts lines = lines_of("plain");
  lines.insert(std::ranges::find(lines, std::string(models_header)),
               {"<extra_id_1>", "<extra_id_0>", "[unused0]"});
  return lines;
}

TEST(Unigram, AGapIsATokenWhereverItStands) {
  const auto tokenizer = loaded(with_gaps());
  const std::string text = "the <extra_id_0> low<extra_id_1>new";
  EXPECT_EQ(tokens(*tokenizer, text), (Texts{"▁th", "e", "<extra_id_0>", "▁low", "<extra_id_1>", "▁new"}));
  Numbers numbers;
  std::vector<ByteRange> ranges;
  tokenizer->encode(text, numbers, ranges);
  EXPECT_EQ(ranges, (std::vector<ByteRange>{{0, 2}, {2, 3}, {4, 16}, {17, 20}, {20, 32}, {32, 35}}));
  EXPECT_EQ(tokenizer->decode(numbers), "the low new") << "they stand for no text";
  EXPECT_EQ(tokens(*tokenizer, "<extra_id_0>"), Texts{"<extra_id_0>"});
  EXPECT_EQ(tokens(*tokenizer, "<extra_id_0><extra_id_0>"), (Texts{"<extra_id_0>", "<extra_id_0>"}));
  const auto plain = loaded(lines_of("plain"));
  for (const std::string part : {"<extra_id_2>", "the <extra_id_", "[unused0]", "<extra_id_ <extra_id_9>"})
    EXPECT_EQ(tokens(*tokenizer, part), tokens(*plain, part)) << part << " is text";
  EXPECT_EQ(tokens(*plain, "<extra_id_0>").front(), "▁") << "which this vocabulary does not have";
}

std::unique_ptr<Unigram> with_tokens(Texts lines, const Texts& added) {
  Options options = options_with("vocab", std::string("a.model"));
  options.set("added_tokens", added);
  auto tokenizer = std::make_unique<Unigram>(options, TokenizerContext());
  tokenizer->load(std::move(lines));
  return tokenizer;
}

TEST(Unigram, AnAddedTokenIsATokenWhereverItStands) {
  const auto tokenizer = with_tokens(with_gaps(), {"special </s>", "special <unk>"});
  const std::string text = "the</s> low <extra_id_0><unk>";
  EXPECT_EQ(tokens(*tokenizer, text), (Texts{"▁th", "e", "</s>", "▁low", "<extra_id_0>", "<unk>"}));
  Numbers numbers;
  std::vector<ByteRange> ranges;
  tokenizer->encode(text, numbers, ranges);
  EXPECT_EQ(ranges, (std::vector<ByteRange>{{0, 2}, {2, 3}, {3, 7}, {8, 11}, {12, 24}, {24, 29}}));
  EXPECT_EQ(tokenizer->decode(numbers), "the low");
  EXPECT_NE(tokens(*loaded(with_gaps()), "the</s>"), tokens(*tokenizer, "the</s>"))
      << "which is text for runs without the option";
  EXPECT_EQ(message_of<Error>([] { with_tokens(with_gaps(), {"special <drug>"}); }),
            "added_tokens names \"<drug>\", which is not in the vocabulary");
}

TEST(Unigram, OfTwoModelsAnAddedTokenStandsInFrontOfACode) {
  const Texts lines = two_sides();
  const auto tokenizer = with_tokens(lines, {"special </s>"});
  EXPECT_EQ(tokens(*tokenizer, "</s>>>de<< new"), (Texts{"</s>", ">>de<<", "▁new"}));
  EXPECT_EQ(tokens(tokenizer->target_tokenizer(), "</s>").front(), "</s>");
  const std::int32_t high = static_cast<std::int32_t>(std::ranges::find(lines, "▁high") - lines.begin());
  EXPECT_EQ(tokenizer->target_tokenizer().decode({{high, high}}), "high high")
      << "runs without the option keep the blank";
}

const TextCounts some_words = {{"low", 50},    {"lower", 20}, {"newest", 60}, {"widest", 30},
                               {"Zürich", 30}, {"don't", 20}, {"the", 100},   {"tower\tof\n", 9},
                               {"new low", 7}, {"hoch", 5}};

// The tokenizer does not pass the middle of a long run of unknown characters to the library; tokens and
// ranges must still be those of the whole text.
TEST(Unigram, CutsLongRunsOfUnknownCharactersAsTheLibrary) {
  const auto tokenizer = trained({{"a text of few words", 3}}, 30);
  sentencepiece::SentencePieceProcessor library;
  const Texts lines = tokenizer->vocabulary_lines();
  ASSERT_TRUE(
      library.LoadFromSerializedProto(from_base64(lines.back().substr(lines.back().find(' ') + 1))).ok());
  const auto times = [](std::size_t count, const std::string& part) {
    std::string text;
    for (std::size_t i = 0; i < count; ++i) text += part;
    return text;
  };
  for (const std::string& text :
       {times(3000, "\u4e2d"),
        "a " + times(3000, "\u4e2d\u6587") + " text" + times(2000, "\u00df") + "of words",
        times(2000, "\u4e2d\x01"), times(1500, "\u4e2d a"), times(900, "\u4e2d") + "a" + times(900, "\u6587"),
        "a" + times(3000, "\u0301"), times(1000, "\u3000\u4e2d"), times(2000, "\xff")}) {
    Numbers tokens;
    std::vector<ByteRange> ranges;
    tokenizer->encode(text, tokens, ranges);
    const auto cut = library.EncodeAsImmutableProto(text);
    ASSERT_EQ(tokens.size(), cut.pieces_size()) << text.substr(0, 20);
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      const auto token = cut.pieces(static_cast<int>(i));
      EXPECT_EQ(tokens[i], static_cast<std::int32_t>(token.id())) << text.substr(0, 20) << i;
      EXPECT_EQ(ranges[i], (ByteRange{token.begin(), token.end()})) << text.substr(0, 20) << i;
    }
  }
}

TEST(Unigram, TrainsWordsWithMarks) {
  const auto tokenizer = trained(some_words, 60);
  EXPECT_EQ(Texts(tokenizer->vocabulary().begin(), tokenizer->vocabulary().begin() + 5),
            (Texts{"<pad>", "<unk>", "<s>", "</s>", "<mask>"}));
  EXPECT_EQ(tokens(*tokenizer, "low"), Texts{"▁low"});
  EXPECT_EQ(tokens(*tokenizer, "the\tlow").back(), "▁low");
  Numbers numbers;
  tokenizer->encode("lowest Zürich tower", numbers);
  EXPECT_EQ(tokenizer->decode(numbers), "lowest Zürich tower");
  EXPECT_EQ(tokens(*tokenizer, "日").back(), "<unk>");
  EXPECT_EQ(tokens(*trained(some_words, 320, true), "日"), (Texts{"▁", "<0xE6>", "<0x97>", "<0xA5>"}));
}

TEST(Unigram, LoadsTheLinesOfWhatWasTrained) {
  const auto first = trained(some_words, 60);
  const Texts lines = vocabulary_lines_of(*first);
  EXPECT_EQ(data::token_count(lines), first->vocabulary().size());
  EXPECT_EQ(data::sentencepiece_tokens(data::sentencepiece_model(lines, "model")),
            Texts(first->vocabulary().begin(), first->vocabulary().end()));
  const data::SentencepieceContents contents =
      data::sentencepiece_contents(data::sentencepiece_model(lines, "model"));
  ASSERT_EQ(contents.tokens.size(), first->vocabulary().size());
  EXPECT_EQ(contents.tokens.back().first, first->vocabulary().back());
  EXPECT_LT(contents.tokens.back().second, 0.0F) << "the logarithm of a share";
  EXPECT_GT(contents.charsmap.size(), 1000U);
  const auto second = loaded(lines);
  EXPECT_EQ(second->vocabulary_lines(), lines);
  EXPECT_EQ(tokens(*first, "lowest Zürich"), tokens(*second, "lowest Zürich"));
}

/// Returns words of syllables, distributed as in real text: a few are frequent, most are rare.
TextCounts many_words() {
  TextCounts words;
  std::uint32_t state = 7;
  const auto draw = [&](std::uint32_t below) {
    state = state * 1664525U + 1013904223U;
    return (state >> 8) % below;
  };
  const Texts syllables = {"ka", "lo", "mi", "sten", "ver", "un", "ing", "er", "ba", "ro", "ti", "gen"};
  for (int i = 0; i < 4000; ++i) {
    std::string word;
    for (std::uint32_t k = draw(4) + 1; k > 0; --k)
      word += syllables[draw(static_cast<std::uint32_t>(syllables.size()))];
    words[word] += 1 + 4000 / (i + 1);
  }
  return words;
}

/// The library adds numbers in an order that depends on its number of threads, so the tokenizer trains with
/// one thread; with two the scores would differ.
TEST(Unigram, EqualInputGivesEqualBytes) {
  const Texts lines = trained(many_words(), 400)->vocabulary_lines();
  EXPECT_EQ(trained(many_words(), 400)->vocabulary_lines(), lines);
  EXPECT_EQ(sha256(data::vocabulary_text(std::span(lines).first(data::token_count(lines)))),
            "c7f12d19839588540313ed0bffca783eec5952c3985793b0dfd5a6cef55dd78e");
  if (std::string(ENCORE_SENTENCEPIECE_VERSION) != "0.1.97")
    GTEST_SKIP() << "the stored model is that of SentencePiece 0.1.97";
  EXPECT_EQ(sha256(lines.back()), "9473ec5fd5dd79224baa847d91d1dabb0d9b992f539a135f94c10627ba0a68fb");
}

TEST(Unigram, RefusesAForeignVocabulary) {
  const Texts lines = lines_of("plain");
  const auto refusal = [](Texts of) {
    return message_of<Error>([&] { empty_tokenizer()->load(std::move(of)); });
  };
  const auto without = [&](const std::string& token) {
    Texts fewer = lines;
    std::erase(fewer, token);
    return fewer;
  };
  EXPECT_EQ(refusal({lines.begin(), lines.end() - 2}),
            "the vocabulary holds only tokens, but a unigram vocabulary needs a SentencePiece model, which "
            "decides how text is cut: give vocab = \"FILE.model\", or vocab_size to train one");
  EXPECT_EQ(refusal({lines.begin(), lines.end() - 1}),
            "invalid unigram vocabulary: expected one \"model\" behind the tokens, or a \"source\" and a "
            "\"target\"");
  EXPECT_EQ(refusal(without("<unk>")),
            "the vocabulary has no <unk>; a unigram vocabulary needs <pad>, <unk>, <s> and </s>");
  EXPECT_EQ(refusal(without("▁wide")),
            "token 10 of the model is \"▁wide\", but the vocabulary has another one there: they belong to "
            "different files");
  Texts broken = lines;
  broken.back() = "model " + to_base64("no model");
  EXPECT_EQ(refusal(broken).find("the model of the vocabulary is not a SentencePiece model: "), 0U)
      << refusal(broken);
  broken.back() = "model =abc";
  EXPECT_EQ(refusal(broken), "a base64 text has an unknown letter at place 0");
  Texts twice = lines;
  twice.push_back(lines.back());
  EXPECT_EQ(refusal(twice), refusal({lines.begin(), lines.end() - 1}));
}

TEST(Unigram, RefusesWhatItCannotTrain) {
  EXPECT_EQ(
      message_of<Error>([] { trained(some_words, 16); }),
      "vocab_size = 16 is too small for this text: its characters and the special tokens already need 22");
  EXPECT_EQ(message_of<Error>([] { trained({}, 60); }), "no text to train a model of SentencePiece from");
  EXPECT_EQ(message_of<Error>([] { empty_tokenizer()->train(some_words); }),
            "this tokenizer reads its model from a file: give vocab_size to train one");
  EXPECT_EQ(message_of<OptionError>([] { Unigram(options_with("byte_fallback", true), {}); }),
            "a model is missing; give vocab = \"FILE.model\", or vocab_size to train one");
  Options both = options_with("vocab", std::string("a.model"));
  both.set("vocab_size", std::int64_t{60});
  EXPECT_EQ(message_of<OptionError>([&] { Unigram(both, {}); }),
            "vocab and vocab_size exclude each other: a model is read or trained");
  // No text can have fewer tokens: known before any text is read.
  Options bytes = options_with("byte_fallback", true);
  bytes.set("vocab_size", std::int64_t{260});
  EXPECT_EQ(message_of<OptionError>([&] { Unigram(bytes, {}); }),
            "vocab_size = 260 is too small with byte_fallback: 256 bytes and 5 special tokens already need "
            "261");
  bytes.set("vocab_size", std::int64_t{261});
  EXPECT_NO_THROW(Unigram(bytes, {}));
}

}  // namespace
}  // namespace encore::unigram
