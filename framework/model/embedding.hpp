// Embedding: output = dropout(sqrt(C) * tokens[id] + positions[position]), the layer without inputs.
// Token vectors start with deviation C^-0.5, so that after scaling their channels have the size of the
// sinusoids.
#pragma once

#include <cstdint>
#include <memory>

#include <encore/device.hpp>
#include <encore/layer.hpp>

#include "config/experiment.hpp"

namespace encore {

struct EmbeddingOptions {
  std::int64_t vocabulary = 0;  ///< V
  std::int64_t max_length = 0;
  Positions positions = Positions::sinusoidal;
  double dropout = 0.0;
  DType precision = DType::float32;  ///< of the output; both tables are in the type of sums
  std::string tied_to = {};          ///< path of the table of tokens that it shares; empty: it has its own
};

/// Throws ConfigError for an odd width with sinusoidal positions. The device must outlive the layer.
std::unique_ptr<Layer> make_embedding(const Device& device, std::int64_t width,
                                      const EmbeddingOptions& options);

}  // namespace encore
