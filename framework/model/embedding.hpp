// SPDX-License-Identifier: BSD-3-Clause
// Embedding: output (N, C) = dropout(scale * tokens[id] + positions[position] + segments[segment]), the layer
// without inputs. network.cpp puts it first in a stack; a norm and the dropout follow if the model has
// `embedding_norm`. With `embedding_width` all of that is E channels wide, and a projection to the C channels
// of the blocks follows (Lan et al. 2020, ALBERT).
//
// With scale = sqrt(C) (Vaswani et al. 2017, section 3.4) token vectors start with deviation C^-0.5, so that
// after scaling their channels have the size of the sinusoids; without it all tables start with 0.02, as in
// BERT (Devlin et al. 2019). Without positions their table is zeros.
#pragma once

#include <cstdint>
#include <memory>

#include <encore/device.hpp>
#include <encore/layer.hpp>

#include "config/experiment.hpp"

namespace encore::model {

struct EmbeddingOptions {
  std::int64_t vocabulary = 0;     ///< V
  std::int64_t max_positions = 0;  ///< rows of the table of positions
  std::int64_t segments = 0;       ///< rows of the table of segments; 0: none
  config::Positions positions = config::Positions::sinusoidal;
  config::PositionLayout layout = config::PositionLayout::pairs;
  config::EmbeddingScale scale = config::EmbeddingScale::sqrt_width;
  double dropout = 0.0;              ///< 0 if a norm follows: then make_dropout() comes after the norm
  DType precision = DType::float32;  ///< of the output; the tables are in the type of sums
  std::string tied_to = {};  ///< path of another stack's token table that it shares; empty: it has its own
  std::string width_key = "model.width";  ///< the option that decides its width
};

/// Throws ConfigError for an odd width with sinusoidal positions. The device must outlive the layer.
std::unique_ptr<Layer> make_embedding(const Device& device, std::int64_t width,
                                      const EmbeddingOptions& options);

/// Makes output (N, C) = input (N, E) W^T + b, with C the width of its plan. It follows a factorized
/// embedding.
std::unique_ptr<Layer> make_projection(std::int64_t input_width);

/// Makes output = dropout(input), which overwrites its input. It follows the norm of an embedding
/// (`embedding_norm`), whose own dropout is then 0.
std::unique_ptr<Layer> make_dropout(double probability);

}  // namespace encore::model
