// SPDX-License-Identifier: BSD-3-Clause
// Helpers of the tests of the shipped tokenizers (tokenizers_test.cpp, token_ranges_test.cpp,
// added_tokens_test.cpp): they make tokenizers, train them from a few words, and return tokens as text.
// Expected tokens depend on the training words here, so append tests rather than words.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "unit/plugins/built_in.hpp"

namespace encore::test {

using Numbers = std::vector<std::int32_t>;
using Tokens = std::vector<std::string>;

/// A size of a vocabulary that no test's text reaches.
inline constexpr std::int64_t large = 100000;
inline const Tokens specials = {"[PAD]", "[UNK]", "[CLS]", "[SEP]"};

/// Makes a tokenizer. It reads its vocabulary from a file unless the settings have vocab_size.
inline std::unique_ptr<Tokenizer> make_tokenizer(const std::string& name, Settings settings) {
  const bool is_alone = name == "byte_bpe" || name == "wordpiece";
  const std::string plugin = is_alone ? name : name + "_tokenizer";
  if (!settings.contains("vocab_size")) settings.emplace("vocab", std::string("vocab.txt"));
  return make_built_in<Kind::tokenizer>(plugin, name, settings, {});
}

inline std::unique_ptr<Tokenizer> trained(const std::string& name, Settings settings,
                                          const TextCounts& words) {
  settings.emplace("vocab_size", large);
  auto tokenizer = make_tokenizer(name, settings);
  tokenizer->train(words);
  return tokenizer;
}

inline Numbers encoded(const Tokenizer& tokenizer, std::string_view text) {
  Numbers numbers;
  tokenizer.encode(text, numbers);
  return numbers;
}

inline Tokens tokens(const Tokenizer& tokenizer, std::string_view text) {
  Tokens result;
  for (const std::int32_t number : encoded(tokenizer, text))
    result.push_back(tokenizer.vocabulary()[static_cast<std::size_t>(number)]);
  return result;
}

/// Returns the vocabulary from the token with number `first` on.
inline Tokens vocabulary_behind(const Tokenizer& tokenizer, std::size_t first) {
  return {tokenizer.vocabulary().begin() + static_cast<std::ptrdiff_t>(first), tokenizer.vocabulary().end()};
}

}  // namespace encore::test
