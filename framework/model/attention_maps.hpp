// SPDX-License-Identifier: BSD-3-Clause
// AttentionMap and SequenceAttention hold the attention weights of a model over one sequence, for every layer
// that has them. The flow is: Model::attention -> infer/attention.hpp -> the worker's attention verb and the
// artifact of a run. Read next: encore/attention_weights.hpp, which a layer implements. They are in memory
// only: the stored form is record/attention.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <encore/shape.hpp>

namespace encore::model {

/// The weights of one layer over one sequence.
struct AttentionMap {
  std::string layer;                             ///< path of the layer: "encoder.0.attention"
  std::string type;                              ///< in the words of an experiment: "self_attention"
  std::int64_t block = -1;                       ///< number of the block in its stack; -1: outside of blocks
  Space rows = Space::tokens;                    ///< whose rows attend
  Space columns = Space::tokens;                 ///< the rows that they attend to
  std::size_t heads = 0, height = 0, width = 0;  ///< H, the rows that attend, the rows attended to
  std::vector<float> weights = {};               ///< (H, height, width)

  /// Returns the weights of head `h`, (height, width).
  std::span<const float> head(std::size_t h) const {
    return std::span(weights).subspan(h * height * width, height * width);
  }
};

/// A layer that mixes rows without attention weights, such as linear_attention.
struct HiddenAttention {
  std::string layer, type;

  friend bool operator==(const HiddenAttention&, const HiddenAttention&) = default;
};

/// The attention of a model over one sequence.
struct SequenceAttention {
  std::vector<AttentionMap> maps;       ///< in the order of the forward pass
  std::vector<HiddenAttention> hidden;  ///< the layers without weights
};

}  // namespace encore::model
