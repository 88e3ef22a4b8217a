// Evaluator: runs a model over a set without dropout and collects its outputs and the mean loss.
// Place in the flow: trainer.cpp scores dev and test with it, the worker's evaluate and predict too.
#pragma once

#include <vector>

#include "data/batches.hpp"
#include "model/device_batch.hpp"
#include "model/model.hpp"
#include "tasks/encoded_sets.hpp"

namespace encore {

struct Evaluation {
  Outputs outputs;
  double loss = 0.0;  ///< mean over all rows with a target
};

class Evaluator {
 public:
  /// largest: what the model was planned for, and a bound on every batch to come.
  Evaluator(Model& model, const BatchSize& largest, std::int64_t batch_size);

  /// Batches are formed by length; the result does not depend on how.
  Evaluation run(const EncodedSet& set);

 private:
  Model& model_;
  std::int64_t batch_size_;
  DeviceBatch batch_;
  PackedBatch packed_;
  DeviceBuffer predictions_;
  std::vector<std::int32_t> classes_;
};

}  // namespace encore
