// SPDX-License-Identifier: BSD-3-Clause
// Unigram: tokens of SentencePiece (Kudo 2018), cut by its own library. White space becomes the mark "▁" of
// the token behind it, a text is normalized by its model, and of all ways to cut it the most probable one is
// taken; text without a token becomes the unknown token, or with byte fallback a token for each byte. A
// vocabulary has one model for all inputs, which numbers the tokens; or one for sources and one for targets
// (Marian), whose tokens are numbered by their text. Then ">>de<<" in front of a text is a token of its own,
// which gives the model the language to write. Behind the tokens of a single model there may be gaps (T5),
// "<extra_id_0>" and so on, which are tokens of their own anywhere in a text, as are the tokens of
// `added_tokens`. Read next: unigram_trainer.hpp; plugin entry: unigram_plugin.cpp.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <encore/plugin.hpp>
#include <encore/target_tokenizer.hpp>
#include <encore/vocabulary_lines.hpp>

#include "added_tokens.hpp"
#include "unigram_trainer.hpp"
#include "vocabulary.hpp"

namespace sentencepiece {
class SentencePieceProcessor;
}

namespace encore::unigram {

/// The line between tokens and models. The lines behind it are "NAME BASE64", one for "model", or for
/// "source" and "target".
inline constexpr std::string_view models_header = "#sentencepiece";

class Unigram final : public Tokenizer, public HasVocabularyLines, public HasTargetTokenizer {
 public:
  static constexpr const char* summary =
      "the unigram model of SentencePiece: each word, with a mark for the blank before it, is cut into its "
      "most probable tokens (Kudo 2018); the model is read from a file or trained";
  static Schema options();
  /// Throws OptionError unless exactly one of `vocab` and `vocab_size` is given.
  Unigram(const Options& options, const TokenizerContext& context);
  ~Unigram() override;

  /// Reads the tokens, `models_header`, and the models. The first tokens are those of a single model in its
  /// order; more may follow, of which a text can contain only gaps and those that `added_tokens` names.
  void load(std::vector<std::string> vocabulary) override;
  void train(const TextCounts& texts) override;
  std::span<const std::string> vocabulary() const override { return table_.tokens(); }
  std::vector<std::string> vocabulary_lines() const override;
  std::optional<std::int32_t> find(Special role) const override { return table_.find(role); }
  /// Decodes by the model of targets; a token of byte fallback gives its byte.
  std::string decode(std::span<const std::int32_t> tokens) const override;
  const Tokenizer& target_tokenizer() const override;

 private:
  class Targets;
  /// A SentencePiece model, which splits text into tokens.
  struct Model {
    std::string name, file;
    std::unique_ptr<sentencepiece::SentencePieceProcessor> processor;
    std::vector<std::int32_t> numbers;  ///< of its tokens in the vocabulary
  };

  static std::vector<Model> models_in(std::span<const std::string> lines);
  void append_tokens(std::string_view text, std::vector<std::int32_t>& tokens,
                     std::vector<ByteRange>* ranges) const override;
  void append(const Model& model, std::string_view text, std::vector<std::int32_t>& tokens,
              std::vector<ByteRange>* ranges) const;
  /// Encodes a part without added tokens that begins `offset` bytes after the beginning of its text.
  void append_between_tokens(const Model& model, std::string_view part, std::size_t offset,
                             std::vector<std::int32_t>& tokens, std::vector<ByteRange>* ranges) const;
  /// Encodes a part without language code and gaps.
  void append_part(const Model& model, std::string_view part, std::size_t offset,
                   std::vector<std::int32_t>& tokens, std::vector<ByteRange>* ranges) const;
  /// Whether the token is a gap.
  bool is_gap(std::int32_t number) const;
  std::int32_t number_of_unknown(const std::string& text) const;
  std::optional<char> byte_of(const std::string& token) const;
  std::string with_bytes(const std::vector<std::string>& tokens) const;
  bool has_sides() const { return models_.size() > 1; }

  Training training_;
  tokenizers::AddedTokens added_;
  tokenizers::TokenTable table_;
  std::vector<Model> models_;  ///< of sources, and of targets if they have their own
  std::unique_ptr<Targets> targets_;
};

}  // namespace encore::unigram
