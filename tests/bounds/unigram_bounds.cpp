// SPDX-License-Identifier: BSD-3-Clause
// Bounds the work of the tokenizer "unigram" (plugins/tokenizers/unigram.hpp), which calls the library
// SentencePiece, with expect_linear() of linear.hpp. The library is not compiled with the counter: only its
// copies, comparisons and memory are counted.
#include "bounds/inputs.hpp"
#include "bounds/linear.hpp"
#include "bounds/options.hpp"
#include "unigram.hpp"

namespace encore::bounds {
namespace {

std::unique_ptr<unigram::Unigram> trained_unigram(const TextCounts& texts, std::int64_t tokens) {
  auto tokenizer = std::make_unique<unigram::Unigram>(
      options_of(unigram::Unigram::options(), {{"vocab_size", tokens}}), TokenizerContext{});
  tokenizer->train(texts);
  return tokenizer;
}

const unigram::Unigram& small_unigram() {
  static const auto tokenizer =
      trained_unigram({{"a little text of little words with little in them", 3}}, 40);
  return *tokenizer;
}

void cut_by_unigram(const std::string& text) {
  std::vector<std::int32_t> tokens;
  std::vector<ByteRange> ranges;
  small_unigram().encode(text, tokens);
  tokens.clear();
  small_unigram().encode(text, tokens, ranges);
  small_unigram().decode(tokens);
}

/// The lattice of the library has nodes for the tokens that begin at each byte.
constexpr double unigram_memory = 2000.0, unigram_steps = 4000.0;

TEST(UnigramBounds, OneLongWord) {
  expect_linear(
      {20000, unigram_steps, unigram_memory}, [](std::size_t n) { return repeated(n, "litle"); },
      cut_by_unigram);
}
TEST(UnigramBounds, Blanks) {
  expect_linear(
      {20000, unigram_steps, unigram_memory}, [](std::size_t n) { return repeated(n, " "); }, cut_by_unigram);
}
TEST(UnigramBounds, UnknownLetters) {
  expect_linear(
      {20000, unigram_steps, unigram_memory}, [](std::size_t n) { return repeated(n, "\u4e2d"); },
      cut_by_unigram);
}
TEST(UnigramBounds, Marks) {
  expect_linear(
      {20000, unigram_steps, unigram_memory},
      [](std::size_t n) { return "a" + repeated(n, "\u0301") + repeated(n, "\u0327"); }, cut_by_unigram);
}
/// The model drops the control characters between the letters, so the whole text becomes one token.
TEST(UnigramBounds, UnknownLettersWithControlCharacters) {
  expect_linear(
      {20000, unigram_steps, unigram_memory}, [](std::size_t n) { return repeated(n, "\u4e2d\x01"); },
      cut_by_unigram);
}
TEST(UnigramBounds, BeginningsOfGaps) {
  expect_linear(
      {4000, unigram_steps, unigram_memory}, [](std::size_t n) { return repeated(n, "<extra_id_"); },
      cut_by_unigram);
}

TEST(UnigramBounds, TrainingOfOneLongWord) {
  expect_linear(
      {20000, 20000.0, 4000.0},
      [](std::size_t n) {
        return repeated(n, [](std::size_t i) { return std::string(1, "abcde"[i * i % 5]); });
      },
      [](const std::string& text) {
        trained_unigram({{text, 1}}, 40);
      });
}

}  // namespace
}  // namespace encore::bounds
