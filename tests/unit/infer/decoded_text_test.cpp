// SPDX-License-Identifier: BSD-3-Clause
// Tests infer/decoded_text.hpp, Utf8Decoder and TextStreamer: the streamed parts of a generated text, put
// together, must equal the text that is stored and measured, whatever bytes the tokens stand for and wherever
// they cut a character or a stop string. Random token lists of three tokenizers are tried: byte_bpe with its
// own and with GPT-2's form of vocabulary, and unigram with byte fallback.
#include "infer/decoded_text.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>

#include <encore/testing.hpp>
#include <nlohmann/json.hpp>

#include "base/utf8.hpp"
#include "byte_bpe.hpp"
#ifdef ENCORE_HAS_UNIGRAM
#include "unigram.hpp"
#endif

namespace encore::infer {
namespace {

using Numbers = std::vector<std::int32_t>;
using Texts = std::vector<std::string>;

constexpr int drawn_strings = 10000;

/// Returns the bytes as nlohmann's JSON stores them, which is how predictions, answers and spools are
/// written: invalid bytes become U+FFFD.
std::string stored(const std::string& bytes) {
  return nlohmann::json::parse(
             nlohmann::json(bytes).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace))
      .get<std::string>();
}

/// Returns random characters of one to four bytes, parts of some, and bytes that no valid text has.
std::string drawn_bytes(std::mt19937& random) {
  static const Texts parts = {"a",        " ",    ".",    "\n",   "ë",        "\xC3",
                              "\xAB",     "日",   "\xE6", "\x97", "\xE6\x97", "\xA5",
                              "🙂",     "\xF0", "\x9F", "\x99", "\x82",     "\xF0\x9F\x99",
                              "\xED\xA0", "\xC0", "\xF5", "\xFF", "\xE0\x80", "\uFFFD"};
  std::string bytes;
  for (std::size_t left = random() % 12; left > 0; --left)
    bytes += random() % 8 == 0 ? std::string(1, static_cast<char>(random() % 256))
                               : parts[random() % parts.size()];
  return bytes;
}

TEST(Utf8Decoder, SaysTheSameWhereverBytesAreCut) {
  std::mt19937 random(1);
  for (int i = 0; i < drawn_strings; ++i) {
    const std::string bytes = drawn_bytes(random), whole = valid_utf8(bytes);
    ASSERT_EQ(whole, stored(bytes)) << "an independent implementation of the same rule";
    ASSERT_FALSE(find_invalid_utf8(whole));
    Utf8Decoder one_by_one;
    std::string joined;
    for (std::size_t cut = 0; cut < bytes.size(); ++cut) {
      joined += one_by_one.add(bytes.substr(cut, 1));
      Utf8Decoder decoder;
      std::string two = decoder.add(bytes.substr(0, cut));
      ASSERT_FALSE(find_invalid_utf8(two));
      two += decoder.add(bytes.substr(cut));
      ASSERT_EQ(two += decoder.finish(), whole) << cut;
    }
    ASSERT_EQ(joined += one_by_one.finish(), whole);
  }
}

TEST(Utf8Decoder, ReplacesMaximalSubparts) {
  const std::string mark = "\uFFFD";
  EXPECT_EQ(valid_utf8("\x61\xF1\x80\x80\xE1\x80\xC2\x62\x80\x63\x80\xBF\x64"),
            "a" + mark + mark + mark + "b" + mark + "c" + mark + mark + "d")
      << "Table 3-11 of the Unicode standard";
  EXPECT_EQ(valid_utf8("\xED\xA0\x80"), mark + mark + mark)
      << "a surrogate has no maximal subpart of 2 bytes";
  EXPECT_EQ(valid_utf8("\xF0\x9F\x99"), mark) << "cut off";
  Utf8Decoder decoder;
  EXPECT_EQ(decoder.add("a\xF0\x9F"), "a");
  EXPECT_EQ(decoder.add("\x99"), "");
  EXPECT_EQ(decoder.add("\x82z"), "🙂z");
  EXPECT_EQ(decoder.finish(), "");
}

// --- tokenizers ---

template <class T>
std::unique_ptr<T> make(const std::string& option, OptionValue value) {
  Options options = default_options<T>();
  options.set("min_frequency", std::int64_t{1});
  options.set("add_prefix_space", false);
  options.set("character_coverage", 0.98);
  options.set("byte_fallback", true);
  options.set(option, std::move(value));
  return std::make_unique<T>(options, TokenizerContext());
}

/// The inputs on which the tokenizers of this file are trained, with their counts.
const TextCounts& training_texts() {
  static const TextCounts texts = {
      {"zoë saw the naïve zoo", 4}, {"日本 and 東京", 3}, {"the low lower lowest", 5}};
  return texts;
}

std::unique_ptr<Tokenizer> own_byte_bpe() {
  auto tokenizer = make<byte_bpe::ByteBpe>("vocab_size", std::int64_t{290});
  tokenizer->train(training_texts());
  return tokenizer;
}

/// Returns byte_bpe with GPT-2's form of a vocabulary: tokens, then merges. One token has the last byte of a
/// character and a blank, others end in the first byte of a character, as real vocabularies have them.
std::unique_ptr<Tokenizer> gpt2() {
  Texts lines = {"<|endoftext|>"};
  for (int byte = 0; byte < 256; ++byte)
    lines.push_back(byte_bpe::printable(std::string(1, static_cast<char>(byte))));
  const std::vector<std::pair<std::string, std::string>> merges = {
      {"\xAB", " "}, {"o", "\xC3"}, {"\xAB ", "s"}, {"\xE6", "\x97"}, {"\xA5", "\xE6"}, {"\x9F", "\x99"}};
  for (const auto& [left, right] : merges) lines.push_back(byte_bpe::printable(left + right));
  lines.emplace_back(byte_bpe::merges_header);
  for (const auto& [left, right] : merges)
    lines.push_back(byte_bpe::printable(left) + " " + byte_bpe::printable(right));
  auto tokenizer = make<byte_bpe::ByteBpe>("vocab", std::string("gpt2"));
  tokenizer->load(lines);
  return tokenizer;
}

#ifdef ENCORE_HAS_UNIGRAM
std::unique_ptr<Tokenizer> unigram_with_bytes() {
  auto tokenizer = make<unigram::Unigram>("vocab_size", std::int64_t{290});
  tokenizer->train(training_texts());
  return tokenizer;
}
#endif

/// Returns what a model might write: the tokens of a random text, one token for each byte of it, or any
/// tokens.
Numbers drawn_tokens(const Tokenizer& tokenizer, std::mt19937& random) {
  const std::span<const std::string> vocabulary = tokenizer.vocabulary();
  const auto token_of = [&](unsigned char byte) {
    constexpr const char* digits = "0123456789ABCDEF";
    const std::string of_unigram = std::string("<0x") + digits[byte >> 4] + digits[byte & 15] + ">";
    const auto found = std::ranges::find_if(vocabulary, [&](const std::string& token) {
      return token == of_unigram || token == byte_bpe::printable(std::string(1, static_cast<char>(byte)));
    });
    return static_cast<std::int32_t>(found - vocabulary.begin());
  };
  Numbers tokens;
  const std::string bytes = drawn_bytes(random);
  switch (random() % 3) {
    case 0:
      tokenizer.encode(bytes, tokens);
      break;
    case 1:
      for (const char byte : bytes) tokens.push_back(token_of(static_cast<unsigned char>(byte)));
      break;
    default:
      for (std::size_t left = random() % 12; left > 0; --left)
        tokens.push_back(static_cast<std::int32_t>(random() % vocabulary.size()));
  }
  std::erase_if(tokens, [&](std::int32_t token) { return token >= std::ssize(vocabulary); });
  return tokens;
}

/// Returns the streamed parts, as TextWriter, generate and serve make them.
Texts streamed(const Tokenizer& tokenizer, const Numbers& tokens, const Texts& stops) {
  TextStreamer streamer(stops);
  Texts parts;
  for (std::size_t count = 1; count <= tokens.size(); ++count) {
    const DecodedText said = decoded_so_far(tokenizer, std::span(tokens).first(count), stops);
    parts.emplace_back(streamer.next_of(said.text));
    if (said.stopped) break;
  }
  parts.emplace_back(streamer.rest_of(decoded_whole(tokenizer, tokens, stops).text));
  return parts;
}

/// Checks 10000 random outputs with and without stop strings, and that enough of them had characters of
/// several bytes, invalid bytes and stops.
void expect_streams(const Tokenizer& tokenizer, unsigned int seed) {
  std::mt19937 random(seed);
  int multi_byte = 0, invalid = 0, stopped = 0;
  const Texts stops = {" s", "ë ", "日a", "\uFFFD."};
  for (int i = 0; i < drawn_strings; ++i) {
    const Numbers tokens = drawn_tokens(tokenizer, random);
    const std::string bytes = tokenizer.decode(tokens);
    for (const Texts& ends : {Texts(), stops}) {
      const DecodedText whole = decoded_whole(tokenizer, tokens, ends);
      ASSERT_EQ(stored(whole.text), whole.text) << "the stored and the measured text are equal";
      if (ends.empty()) {
        ASSERT_EQ(whole.text, stored(bytes));
      }
      for (const std::string& stop : ends) ASSERT_EQ(whole.text.find(stop), std::string::npos);
      ASSERT_TRUE(stored(bytes).starts_with(whole.text));
      std::string joined;
      for (const std::string& part : streamed(tokenizer, tokens, ends)) {
        ASSERT_FALSE(find_invalid_utf8(part)) << "half a character";
        joined += part;
      }
      ASSERT_EQ(joined, whole.text);
      stopped += whole.stopped;
    }
    multi_byte +=
        !find_invalid_utf8(bytes) && std::ranges::any_of(bytes, [](char c) { return (c & 0x80) != 0; });
    invalid += find_invalid_utf8(bytes).has_value();
  }
  EXPECT_GT(multi_byte, drawn_strings / 100);
  EXPECT_GT(invalid, drawn_strings / 10);
  EXPECT_GT(stopped, drawn_strings / 100);
}

TEST(DecodedText, OfByteBpeIsStreamedAsItIsStored) {
  expect_streams(*own_byte_bpe(), 2);
}

TEST(DecodedText, OfVocabulariesOfGpt2IsStreamedAsItIsStored) {
  expect_streams(*gpt2(), 3);
}

TEST(DecodedText, AStopBeginsWithinATokenThatEndsACharacter) {
  const auto tokenizer = gpt2();
  Numbers tokens;
  tokenizer->encode("zoë saw", tokens);
  const Texts stops = {" s"};
  EXPECT_TRUE(decoded_so_far(*tokenizer, tokens, stops).stopped);
  EXPECT_EQ(decoded_whole(*tokenizer, tokens, stops).text, "zoë");
  std::string joined;
  for (const std::string& part : streamed(*tokenizer, tokens, stops)) joined += part;
  EXPECT_EQ(joined, "zoë");
}

#ifdef ENCORE_HAS_UNIGRAM
TEST(DecodedText, OfUnigramWithByteFallbackIsStreamedAsItIsStored) {
  expect_streams(*unigram_with_bytes(), 4);
}
#endif

}  // namespace
}  // namespace encore::infer
