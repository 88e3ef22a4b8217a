// WordPiece: BERT's tokenizer, equal to the Python package `tokenizers` (BertWordPieceTokenizer) on any text.
// Place in the flow: text -> special and added tokens -> BertText -> longest tokens first (TokenTrie). Plugin
// entry: plugin.cpp.
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
      "BERT's tokenizer: words cut into the longest tokens of a vocabulary that is given or trained (Devlin "
      "et al. 2019)";
  static Schema options();
  /// Throws OptionError unless exactly one of `vocab` and `vocab_size` is given.
  WordPiece(const Options& options, const TokenizerContext& context);

  void load(std::vector<std::string> vocabulary) override;
  void train(const TextCounts& texts) override;
  std::span<const std::string> vocabulary() const override { return table_.tokens(); }
  std::optional<std::int32_t> find(Special role) const override { return table_.find(role); }
  /// Words with a blank between them; punctuation marks are words.
  std::string decode(std::span<const std::int32_t> tokens) const override;

 private:
  /// Where tokens go: their numbers, and their ranges in the text where `ranges` is not null.
  struct Output {
    std::vector<std::int32_t>& tokens;
    std::vector<ByteRange>* ranges;
  };
  /// A special token written out in the text, such as "[SEP]", becomes that token, as in `tokenizers`; so do
  /// those of the option added_tokens.
  void append_tokens(std::string_view text, std::vector<std::int32_t>& tokens,
                     std::vector<ByteRange>* ranges) const override;
  /// The bytes [begin, end) of a text, which holds no token that is found in it as it stands.
  void append_part(std::string_view text, std::size_t begin, std::size_t end, Output out) const;
  /// The same where tokens are to be found in the normalized text.
  void append_normalized(std::string_view text, std::size_t begin, std::size_t end, Output out) const;
  void append_word(const SplitText& split, std::size_t word, std::size_t begin, Output out) const;

  tokenizers::Training training_;
  BertText text_;
  tokenizers::TokenTable table_;
  tokenizers::AddedTokens added_;
  TokenTrie starts_;         // tokens a word can begin with
  TokenTrie continuations_;  // "##" tokens, without the "##"
};

}  // namespace encore::wordpiece
