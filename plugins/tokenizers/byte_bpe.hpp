// ByteBpe: byte-level byte-pair encoding (Sennrich et al. 2016, Radford et al. 2019). Text is cut into words
// as GPT-2 cuts it, a word into its bytes, and neighbouring pieces are merged while the vocabulary holds what
// they make together, that with the lowest number first. So the vocabulary alone says how text is cut; any
// bytes can be encoded, none becomes [UNK], and the pieces of a text, put together, are the text. Special
// pieces are never made of text. Read next: merge_neighbours.hpp; training: byte_bpe_trainer.hpp; plugin
// entry: byte_bpe_plugin.cpp.
#pragma once

#include <string>
#include <vector>

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
  void train(const TextCounts& texts) override;
  std::span<const std::string> vocabulary() const override { return table_.pieces(); }
  std::optional<std::int32_t> find(Special role) const override { return table_.find(role); }
  /// The very bytes of the pieces; with add_prefix_space the blank in front is one of them.
  std::string decode(std::span<const std::int32_t> pieces) const override;

 private:
  void append_pieces(std::string_view text, std::vector<std::int32_t>& pieces,
                     std::vector<ByteRange>* ranges) const override;
  bool is_prefixed(std::string_view text) const {
    return add_prefix_space_ && !text.empty() && text.front() != ' ';
  }
  template <class Visit>
  void each_word(std::string_view text, const Visit& visit) const;

  tokenizers::Training training_;
  bool add_prefix_space_;
  tokenizers::PieceTable table_;
  std::vector<std::string> bytes_;  ///< of each piece; empty for the special ones
  std::int32_t byte_numbers_[256] = {};
  PairTable merges_;
};

}  // namespace encore::byte_bpe
