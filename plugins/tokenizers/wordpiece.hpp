// SPDX-License-Identifier: BSD-3-Clause
// WordPiece: BERT's tokenizer. It must give the same tokens as the Python package `tokenizers`
// (BertWordPieceTokenizer) on any text. The flow is: text -> special and added tokens -> BertText (words) ->
// TokenTrie (longest tokens). plugin.cpp registers it; train_vocabulary() (wordpiece_trainer.cpp) trains a
// vocabulary.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <encore/plugin.hpp>

#include "added_tokens.hpp"
#include "bert_text.hpp"
#include "token_trie.hpp"
#include "vocabulary.hpp"

namespace encore::wordpiece {

class WordPiece : public Tokenizer {
 public:
  static constexpr const char* summary =
      "BERT's tokenizer: each word is cut into the longest tokens that the vocabulary has; the vocabulary is "
      "read from a file or trained (Devlin et al. 2019)";
  static Schema options();
  /// Throws OptionError unless exactly one of `vocab` and `vocab_size` is given.
  WordPiece(const Options& options, const TokenizerContext& context);

  void load(std::vector<std::string> vocabulary) override;
  void train(const TextCounts& texts) override;
  std::span<const std::string> vocabulary() const override { return table_.tokens(); }
  std::optional<std::int32_t> find(Special role) const override { return table_.find(role); }
  /// Returns the words with a blank between them; punctuation marks are words.
  std::string decode(std::span<const std::int32_t> tokens) const override;

 private:
  /// Where tokens are appended: their numbers and, if `ranges` is not null, their ranges in the text.
  struct Output {
    std::vector<std::int32_t>& tokens;
    std::vector<ByteRange>* ranges;
  };
  /// Encodes a text. A special token that is written in it, such as "[SEP]", becomes that token, as in
  /// `tokenizers`; so do tokens of the option added_tokens.
  void append_tokens(std::string_view text, std::vector<std::int32_t>& tokens,
                     std::vector<ByteRange>* ranges) const override;
  /// Encodes the bytes [begin, end) of a text, which contain no token that is searched in the original text.
  void append_part(std::string_view text, std::size_t begin, std::size_t end, Output out) const;
  /// Does the same as append_part(), for a model with tokens that are searched in the normalized text.
  void append_normalized(std::string_view text, std::size_t begin, std::size_t end, Output out) const;
  void append_word(const SplitText& split, std::size_t word, std::size_t begin, Output out) const;

  tokenizers::Training training_;
  BertText text_;
  tokenizers::TokenTable table_;
  tokenizers::AddedTokens added_;
  TokenTrie starts_;         // tokens with which a word can begin
  TokenTrie continuations_;  // "##" tokens, without the "##"
};

/// Returns the special tokens with which every vocabulary that is trained here begins.
const std::vector<std::string>& special_tokens();

/// Returns the special tokens, each character alone and as a continuation ("##e"), then merges by falling
/// count, equal counts in the order of the tokens' numbers. There are fewer than vocab_size if no pair is
/// frequent enough. `words` are words of BertText with their counts. Throws Error if vocab_size cannot hold
/// the characters.
std::vector<std::string> train_vocabulary(const TextCounts& words, const tokenizers::Training& training);

}  // namespace encore::wordpiece
