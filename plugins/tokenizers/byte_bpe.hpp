// ByteBpe: byte-level byte-pair encoding (Sennrich et al. 2016, Radford et al. 2019). Text is cut into words
// as GPT-2 cuts it, a word into its bytes, and neighbouring pieces are merged while the vocabulary holds what
// they make together, that with the lowest number first. So the vocabulary alone says how text is cut; any
// bytes can be encoded, none becomes [UNK], and the pieces of a text, put together, are the text. Special
// pieces are never made of text. Read next: merge_neighbours.hpp; training: byte_bpe_trainer.hpp; plugin
// entry: byte_bpe_plugin.cpp.
#pragma once

#include <encore/plugin.hpp>

#include "pair_table.hpp"
#include "vocabulary.hpp"

namespace encore::byte_bpe {

class ByteBpe final : public Tokenizer {
 public:
  static constexpr const char* summary =
      "byte-level byte pair encoding: no text is unknown (Sennrich et al. 2016, Radford et al. 2019)";
  static Schema options();
  /// Throws OptionError unless exactly one of `vocab` and `vocab_size` is given, and for a size below
  /// smallest_vocabulary.
  ByteBpe(const Options& options, const TokenizerContext& context);

  void load(std::vector<std::string> vocabulary) override;
  void train(const std::map<std::string, std::int64_t>& words) override;
  std::span<const std::string> vocabulary() const override { return table_.pieces(); }
  SpecialPieces special() const override { return table_.special(); }
  void encode(std::string_view text, std::vector<std::int32_t>& pieces) const override;

 private:
  template <class Visit>
  void each_word(std::string_view text, const Visit& visit) const;

  tokenizers::Training training_;
  bool add_prefix_space_;
  tokenizers::PieceTable table_;
  std::int32_t byte_numbers_[256] = {};
  PairTable merges_;
};

}  // namespace encore::byte_bpe
