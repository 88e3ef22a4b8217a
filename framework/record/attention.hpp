// What a model's attention looks at, as it crosses between the programs and as a run's folder keeps it: the
// request of `exp attention` (JSON on the worker's standard input), and texts with the weights of each layer
// and head. Place in the flow: infer/attention.cpp fills one from a model; cli/attention_verb.cpp and
// report/attention.cpp draw it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace encore {

/// Which layers and heads; empty: all.
struct AttentionChoice {
  /// Each the number of a block, of whatever stack ("3"), or the path of a layer or the beginning of one
  /// ("decoder", "encoder.0", "decoder.1.cross").
  std::vector<std::string> layers = {};
  std::vector<std::int64_t> heads = {};

  /// Whether one of the words means this layer.
  bool means(const std::string& layer, std::int64_t block) const;
};

struct AttentionRequest {
  std::string text;
  std::optional<std::string> target = {};  ///< what the decoder reads; none: what the model writes greedily
  AttentionChoice choice = {};

  std::string json() const;
  /// Throws Error when it is none.
  static AttentionRequest parse(const std::string& text);
};

/// One row of a stack.
struct AttentionPiece {
  std::string text;      ///< as a vocabulary writes it, white space made visible
  bool special = false;  ///< a piece that stands for no text: [CLS], </s>
};

/// The weights of one layer.
struct AttentionLayer {
  std::string layer, type;       ///< "encoder.0.attention", "self_attention"
  bool rows_of_decoder = false;  ///< whose pieces ask: those of `target`, else of `tokens`
  bool columns_of_decoder = false;
  std::vector<std::int64_t> heads;          ///< numbers of those that follow
  std::vector<std::vector<float>> weights;  ///< of each head (rows, columns), row by row
};

/// One sequence that a model has read. Of a model without encoder or with one stack only `tokens` has pieces.
struct AttentionText {
  std::string name = {};  ///< which it is among several: "window 2 of 3", "example 7 of dev"
  std::vector<AttentionPiece> tokens, target = {};
  std::vector<AttentionLayer> layers = {};
  std::vector<std::pair<std::string, std::string>> hidden =
      {};  ///< layers that have no weights, with their types

  const std::vector<AttentionPiece>& rows(const AttentionLayer& layer) const {
    return layer.rows_of_decoder ? target : tokens;
  }
  const std::vector<AttentionPiece>& columns(const AttentionLayer& layer) const {
    return layer.columns_of_decoder ? target : tokens;
  }
};

struct AttentionTexts {
  std::int64_t step = 0;     ///< after which the parameters were taken
  std::string written = {};  ///< the text that the decoder reads, where the model has one
  bool forced = false;       ///< it was given, not written by the model
  std::vector<AttentionText> texts = {};

  /// Weights with as many digits as float32 tells apart.
  std::string json() const;
  /// Throws Error when it is none, or when weights and pieces do not fit.
  static AttentionTexts parse(const std::string& text);
};

/// Of a run's folder, and the artifact: examples of the development set as the chosen model sees them
/// (train.show_attention).
inline constexpr const char *attention_file = "attention.json", *attention_artifact = "attention";

}  // namespace encore
