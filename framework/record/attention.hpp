// SPDX-License-Identifier: BSD-3-Clause
// AttentionRequest and AttentionTexts: the request of `exp attention` (JSON on the worker's standard input),
// and its answer: inputs with the attention weights of each layer and head, which a run's folder may keep
// too. Place in the flow: infer/attention.cpp fills AttentionTexts from a model; cli/attention_verb.cpp and
// report/attention.cpp draw it. Stored files attention.json have this form, so members keep their names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace encore::record {

/// Selects layers and heads; empty: all.
struct AttentionChoice {
  /// Each word is the number of a block of any stack ("3"), or the path of a layer or its beginning
  /// ("decoder", "encoder.0", "decoder.1.cross").
  std::vector<std::string> layers = {};
  std::vector<std::int64_t> heads = {};

  /// Returns whether one of the words means this layer.
  bool means(const std::string& layer, std::int64_t block) const;
};

struct AttentionRequest {
  std::string text;                        ///< the input
  std::optional<std::string> target = {};  ///< what the decoder reads; none: what the model writes greedily
  AttentionChoice choice = {};

  std::string json() const;
  /// Throws Error when the JSON is not a request.
  static AttentionRequest parse(const std::string& text);
};

/// One row of a stack.
struct AttentionToken {
  std::string text;      ///< as a vocabulary writes it, white space made visible
  bool special = false;  ///< a token without text: [CLS], </s>
};

/// The weights of one layer.
struct AttentionLayer {
  std::string layer, type;       ///< "encoder.0.attention", "self_attention"
  bool rows_of_decoder = false;  ///< whether the rows are tokens of `target`, else of `tokens`
  bool columns_of_decoder = false;
  std::vector<std::int64_t> heads;          ///< numbers of those that follow
  std::vector<std::vector<float>> weights;  ///< of each head (rows, columns), row by row
};

/// One sequence that a model has read. Without encoder, or with one stack, only `tokens` is filled.
struct AttentionText {
  std::string name = {};  ///< its name among several: "window 2 of 3", "example 7 of dev"
  std::vector<AttentionToken> tokens, target = {};
  std::vector<AttentionLayer> layers = {};
  std::vector<std::pair<std::string, std::string>> hidden =
      {};  ///< layers that have no weights, with their types

  const std::vector<AttentionToken>& rows(const AttentionLayer& layer) const {
    return layer.rows_of_decoder ? target : tokens;
  }
  const std::vector<AttentionToken>& columns(const AttentionLayer& layer) const {
    return layer.columns_of_decoder ? target : tokens;
  }
};

struct AttentionTexts {
  std::int64_t step = 0;     ///< after which the parameters were taken
  std::string written = {};  ///< the text that the decoder reads, where the model has one
  bool forced = false;       ///< it was given, not written by the model
  std::vector<AttentionText> texts = {};

  /// Writes weights with as many digits as float32 distinguishes.
  std::string json() const;
  /// Throws Error when the JSON is invalid, or when weights and tokens do not fit.
  static AttentionTexts parse(const std::string& text);
};

/// The file in a run's folder, and the name of its artifact, with examples of the development set as the best
/// checkpoint sees them (train.show_attention).
inline constexpr const char *attention_file = "attention.json", *attention_artifact = "attention";

}  // namespace encore::record
