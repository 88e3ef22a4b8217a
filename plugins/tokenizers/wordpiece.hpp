// WordPiece: BERT's tokenizer, equal to the Python package `tokenizers` (BertWordPieceTokenizer) on any text.
// Place in the flow: text -> special pieces -> BertText -> longest pieces first (PieceTrie). Plugin entry:
// plugin.cpp.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <encore/plugin.hpp>

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
  void train(const std::map<std::string, std::int64_t>& words) override;
  std::span<const std::string> vocabulary() const override { return table_.pieces(); }
  SpecialPieces special() const override { return table_.special(); }
  /// A special piece written out in the text, such as "[SEP]", becomes that piece, as in `tokenizers`.
  void encode(std::string_view text, std::vector<std::int32_t>& pieces) const override;

 private:
  struct NamedPiece {
    std::string text;
    std::int32_t number = 0;
  };
  void encode_plain(std::string_view text, std::vector<std::int32_t>& pieces) const;
  void encode_word(std::string_view word, std::vector<std::int32_t>& pieces) const;
  const NamedPiece* special_at(std::string_view text) const;

  tokenizers::Training training_;
  BertText text_;
  tokenizers::PieceTable table_;
  std::vector<NamedPiece> specials_;  // those the vocabulary holds
  PieceTrie starts_;                  // pieces a word can begin with
  PieceTrie continuations_;           // "##" pieces, without the "##"
};

}  // namespace encore::wordpiece
