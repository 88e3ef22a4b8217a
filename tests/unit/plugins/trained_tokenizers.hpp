// What tests of the shipped tokenizers share: tokenizers trained from a few words, and their tokens as text.
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

/// More tokens than any text of a test has.
inline constexpr std::int64_t large = 100000;
inline const Tokens specials = {"[PAD]", "[UNK]", "[CLS]", "[SEP]"};

/// One that reads its vocabulary unless the settings say otherwise.
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

/// The vocabulary from the token with number `first` on.
inline Tokens vocabulary_behind(const Tokenizer& tokenizer, std::size_t first) {
  return {tokenizer.vocabulary().begin() + static_cast<std::ptrdiff_t>(first), tokenizer.vocabulary().end()};
}

}  // namespace encore::test
