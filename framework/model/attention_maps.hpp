// What the attention of a model looks at in one sequence: the weights of every layer that can show them.
// Place in the flow: Model::attention -> Engine::attention -> the worker's attention verb and the artifact of
// a run. Read next: encore/attention_weights.hpp, what a layer answers with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <encore/shape.hpp>

namespace encore {

/// The weights of one layer over one sequence.
struct AttentionMap {
  std::string layer;              ///< path of the layer: "encoder.0.attention"
  std::string type;               ///< as an experiment names it: "self_attention"
  std::int64_t block = -1;        ///< of its stack
  Space rows = Space::tokens;     ///< whose rows ask
  Space columns = Space::tokens;  ///< whose rows are looked at
  std::size_t heads = 0, height = 0, width = 0;
  std::vector<float> weights = {};  ///< (H, height, width)

  /// (height, width)
  std::span<const float> head(std::size_t h) const {
    return std::span(weights).subspan(h * height * width, height * width);
  }
};

/// A layer that mixes rows and has no such weights, such as linear_attention.
struct HiddenAttention {
  std::string layer, type;

  friend bool operator==(const HiddenAttention&, const HiddenAttention&) = default;
};

struct SequenceAttention {
  std::vector<AttentionMap> maps;  ///< in the order of the forward pass
  std::vector<HiddenAttention> hidden;
};

}  // namespace encore
