// SPDX-License-Identifier: BSD-3-Clause
// Tests shown_tokens() (infer/attention.hpp): the text under which `exp attention` shows each token in its
// pictures. Special tokens have their names, a continuation keeps its mark, white space is visible, and a
// part of a character is shown as the vocabulary writes it. Only pictures depend on it.
#include <gtest/gtest.h>

#include <encore/testing.hpp>

#include "byte_bpe.hpp"
#include "infer/attention.hpp"
#include "wordpiece.hpp"

namespace encore::infer {
namespace {

using Names = std::vector<std::string>;

/// Returns options of byte_bpe for a vocabulary of this size, trained on text.
Options from_texts(std::int64_t tokens) {
  Options options = options_with<byte_bpe::ByteBpe>("vocab_size", tokens);
  options.set("min_frequency", std::int64_t{1});
  options.set("add_prefix_space", false);
  return options;
}

/// Returns how the tokens of the text are shown; none of them is special.
Names names(const Tokenizer& tokenizer, const std::string& text) {
  std::vector<std::int32_t> tokens;
  tokenizer.encode(text, tokens);
  Names all;
  for (const record::AttentionToken& token : shown_tokens(tokenizer, tokens)) {
    EXPECT_FALSE(token.special) << token.text;
    all.push_back(token.text);
  }
  return all;
}

TEST(ShownTokens, KeepTheMarkOfAContinuation) {
  wordpiece::WordPiece tokenizer(options_with<wordpiece::WordPiece>("vocab", std::string("none")), {});
  tokenizer.load({"[PAD]", "[UNK]", "[CLS]", "[SEP]", "live", "##s", "#"});
  EXPECT_EQ(names(tokenizer, "lives #"), (Names{"live", "##s", "#"}));
}

TEST(ShownTokens, SpecialOnesHaveTheirNames) {
  wordpiece::WordPiece tokenizer(options_with<wordpiece::WordPiece>("vocab", std::string("none")), {});
  tokenizer.load({"[PAD]", "[UNK]", "[CLS]", "[SEP]", "a"});
  const std::vector<std::int32_t> tokens = {2, 4, 1, 3};
  const std::vector<record::AttentionToken> shown = shown_tokens(tokenizer, tokens);
  const Names texts = {"[CLS]", "a", "[UNK]", "[SEP]"};
  const std::vector<bool> special = {true, false, true, true};
  ASSERT_EQ(shown.size(), 4U);
  for (std::size_t i = 0; i < shown.size(); ++i) {
    EXPECT_EQ(shown[i].text, texts[i]);
    EXPECT_EQ(shown[i].special, special[i]) << texts[i];
  }
}

TEST(ShownTokens, WhiteSpaceAndPartsOfCharactersAreVisible) {
  byte_bpe::ByteBpe tokenizer(from_texts(4 + 256), {});
  tokenizer.train({{"a", 1}});
  EXPECT_EQ(names(tokenizer, "a b"), (Names{"a", "␣", "b"}));
  EXPECT_EQ(names(tokenizer, "a\n\tb"), (Names{"a", "↵", "⇥", "b"}));
  // These are two bytes of one character. Neither is a text by itself, so each is shown as the vocabulary
  // writes it.
  EXPECT_EQ(names(tokenizer, "ä"), (Names{"Ã", "¤"}));
}

}  // namespace
}  // namespace encore::infer
