// WordPiece: BERT's tokenizer, equal to the Python package `tokenizers` (BertWordPieceTokenizer) on any text.
// Place in the flow: text -> special and added pieces -> BertText -> longest pieces first (PieceTrie). Plugin
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
#include "piece_trie.hpp"
#include "vocabulary.hpp"

namespace encore::wordpiece {

class WordPiece : public Tokenizer {
 public:
  static constexpr const char* summary =
      "BERT's tokenizer: words cut into the longest pieces of a vocabulary that is given or trained (Devlin "
      "et al. 2019)";
  static Schema options();
  /// Throws OptionError unless exactly one of `vocab` and `vocab_size` is given.
  WordPiece(const Options& options, const TokenizerContext& context);

  void load(std::vector<std::string> vocabulary) override;
  void train(const TextCounts& texts) override;
  std::span<const std::string> vocabulary() const override { return table_.pieces(); }
  std::optional<std::int32_t> find(Special role) const override { return table_.find(role); }
  /// Returns the words with a blank between them; punctuation marks are words.
  std::string decode(std::span<const std::int32_t> pieces) const override;

 private:
  /// Where pieces go: their numbers, and their ranges in the text where `ranges` is not null.
  struct Output {
    std::vector<std::int32_t>& pieces;
    std::vector<ByteRange>* ranges;
  };
  /// A special piece written out in the text, such as "[SEP]", becomes that piece, as in `tokenizers`; so do
  /// those of the option added_tokens.
  void append_pieces(std::string_view text, std::vector<std::int32_t>& pieces,
                     std::vector<ByteRange>* ranges) const override;
  /// Encodes the bytes [begin, end) of a text, which has no token of the unnormalized text.
  void append_part(std::string_view text, std::size_t begin, std::size_t end, Output out) const;
  /// Does the same if tokens of the normalized text exist.
  void append_normalized(std::string_view text, std::size_t begin, std::size_t end, Output out) const;
  void append_word(const SplitText& split, std::size_t word, std::size_t begin, Output out) const;

  tokenizers::Training training_;
  BertText text_;
  tokenizers::PieceTable table_;
  tokenizers::AddedTokens added_;
  PieceTrie starts_;         // pieces a word can begin with
  PieceTrie continuations_;  // "##" pieces, without the "##"
};

}  // namespace encore::wordpiece
