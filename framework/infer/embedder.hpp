// SPDX-License-Identifier: BSD-3-Clause
// Embedder computes the embedding of each input of a set: the mean of the encoder's last states over its
// rows, without the head. Place in the flow: Engine::embed keeps one, like the Evaluator, until memory is
// planned for larger batches; a pass then allocates nothing. Rows are added in double and in their order, so
// that vectors do not depend on batches; keep both. Read next: vectors.hpp.
#pragma once

#include "data/batch_plan.hpp"
#include "data/packing.hpp"
#include "infer/vectors.hpp"
#include "model/device_batch.hpp"
#include "model/floats.hpp"
#include "model/model.hpp"

namespace encore::infer {

class Embedder {
 public:
  /// `largest`: the batch that the model was planned for; no later batch may be larger. The model must
  /// outlive it and have an encoder, whose states are `width` numbers wide (C).
  Embedder(model::Model& model, const BatchSize& largest, const data::BatchOptions& options,
           std::size_t width);

  /// Returns vectors in the order of the set; the result does not depend on how batches are formed.
  Vectors run(const ExampleSet& texts);

 private:
  void add_means(Tensor states, Vectors& found);

  model::Model& model_;
  std::size_t width_;
  data::BatchOptions options_;
  data::BatchNeeds needs_;
  model::DeviceBatch batch_;
  data::PackedBatch packed_;
  model::FloatReader states_;
  MeanVector mean_;
};

}  // namespace encore::infer
