// SPDX-License-Identifier: BSD-3-Clause
// Embedder computes the embedding of each input of a data set: the mean of the encoder's last states over the
// rows of the input, without the head. Engine::embed (engine.hpp) keeps one Embedder until memory is planned
// for larger batches, so that a pass allocates no memory. Rows are added in double and in their order, so
// that embeddings do not depend on how batches are formed. Both must stay. Read next: vectors.hpp.
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
  /// `largest`: the size of the batch for which the model was planned; no later batch may be larger. `width`:
  /// the width C of the encoder's states. The model must have an encoder and outlive this object.
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
