// SPDX-License-Identifier: BSD-3-Clause
// ByteBpe: byte-level byte-pair encoding (Sennrich et al. 2016, Radford et al. 2019). Text is cut into words
// as in GPT-2, a word into its bytes, and neighbouring tokens are merged. A vocabulary defines the merges and
// their order in one of two ways. A vocabulary that is trained here is a list of tokens: neighbours are
// merged while the list holds their concatenation, the one with the lowest number first. An imported one
// (RoBERTa, GPT-2) lists the merges behind the tokens, in their order, and text is cut exactly as the package
// `tokenizers` cuts it. Any bytes can be encoded, none becomes [UNK], and the tokens of a text, concatenated,
// are the text. Of the special tokens only the mask is recognized in text, unless the option added_tokens
// names more. Trained models depend on the tokens of a text, so they must not change. Read next:
// merge_neighbours.hpp; bytes as text: byte_text.cpp; training: byte_bpe_trainer.cpp; plugin entry:
// byte_bpe_plugin.cpp.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <encore/plugin.hpp>

#include "added_tokens.hpp"
#include "pair_table.hpp"
#include "vocabulary.hpp"

namespace encore::byte_bpe {

/// The line that begins the merges (as in merges.txt).
inline constexpr std::string_view merges_header = "#version: 0.2";

class ByteBpe final : public Tokenizer {
 public:
  static constexpr const char* summary =
      "byte-level byte pair encoding: each of the 256 bytes is a token, so every text can be encoded without "
      "unknown tokens (Sennrich et al. 2016, Radford et al. 2019); vocab_size is at least 260";
  static Schema options();
  /// Throws OptionError unless exactly one of `vocab` and `vocab_size` is given, or if the size is below
  /// smallest_vocabulary.
  ByteBpe(const Options& options, const TokenizerContext& context);

  /// Reads the tokens; then perhaps `merges_header` and the merges, as in a merges.txt: "Ġt he".
  void load(std::vector<std::string> vocabulary) override;
  void train(const TextCounts& texts) override;
  std::span<const std::string> vocabulary() const override { return table_.tokens(); }
  std::optional<std::int32_t> find(Special role) const override { return table_.find(role); }
  /// Returns the bytes of the tokens; with add_prefix_space they include the blank in front.
  std::string decode(std::span<const std::int32_t> tokens) const override;

 private:
  void append_tokens(std::string_view text, std::vector<std::int32_t>& tokens,
                     std::vector<ByteRange>* ranges) const override;
  bool is_prefixed(std::string_view text) const {
    return add_prefix_space_ && !text.empty() && text.front() != ' ';
  }
  template <class Visit>
  void each_word(std::string_view text, const Visit& visit) const;
  /// Encodes the bytes [begin, end) of a text, which contain no added token.
  void append_plain(std::string_view text, std::size_t begin, std::size_t end,
                    std::vector<std::int32_t>& tokens, std::vector<ByteRange>* ranges) const;

  tokenizers::Training training_;
  bool add_prefix_space_;
  tokenizers::TokenTable table_;
  std::vector<std::string> bytes_;  ///< of each token; empty for special ones
  std::int32_t byte_numbers_[256] = {};
  PairTable merges_;
  std::vector<std::int32_t> made_;  ///< the token that a merge makes, by rank
  tokenizers::AddedTokens added_;
};

/// The special tokens and the bytes: every vocabulary has at least these.
inline constexpr std::int64_t smallest_vocabulary = 4 + 256;

/// Returns the special tokens, the bytes in the order of their characters, then merges, all printable. Each
/// merge takes the most frequent neighbours, of equally frequent ones those with the lowest numbers (left,
/// then right), until there are vocab_size tokens or no pair occurs min_frequency times. After each merge the
/// words are cut again with merge_neighbours, so the training text is cut as `encode` would cut it. `words`
/// are words of first_word with their counts.
std::vector<std::string> train_vocabulary(const TextCounts& words, const tokenizers::Training& training);

// --- bytes as text (byte_text.cpp): the printable alphabet in which vocabularies are stored, and the words
// of a text, both as in GPT-2. Vocabularies depend on both, so neither may change. ---

/// Returns each byte as a printable character: printable characters of Latin-1 stand for themselves; the
/// other bytes, in their order, become U+0100 onward.
std::string printable(std::string_view bytes);
/// Returns the bytes of a token, or nothing if one of its characters stands for no byte.
std::optional<std::string> bytes_of(std::string_view printable);
/// Returns all bytes in the order of their printable characters.
const std::array<unsigned char, 256>& alphabet();

/// Returns the length of the word that `text`, which is not empty, begins with, by the pattern
///   's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
/// Bytes that are not UTF-8 are not letters, numbers or white space.
std::size_t first_word(std::string_view text);

}  // namespace encore::byte_bpe
