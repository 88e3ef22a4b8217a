// Evaluator: runs a model over a set without dropout and collects its outputs and the mean loss.
// Place in the flow: trainer.cpp scores dev and test with it, the worker's evaluate and predict too.
#pragma once

#include <vector>

#include "data/batch_plan.hpp"
#include "data/packing.hpp"
#include "model/device_batch.hpp"
#include "model/model.hpp"
#include "tasks/encoded_sets.hpp"

namespace encore {

struct Evaluation {
  Outputs outputs;
  double loss = 0.0;  ///< mean as the head's normalising column has it; NaN where the truth is not known
};

/// In what order a model's evaluation batches are formed.
EvaluationOrder evaluation_order(const Model& model);

class Evaluator {
 public:
  /// largest: what the model was planned for, and a bound on every batch to come.
  Evaluator(Model& model, const BatchSize& largest, const BatchOptions& options);

  /// Unless the head's loss is one between sequences, the result does not depend on how batches are formed.
  Evaluation run(const ExampleSet& set);

 private:
  void collect(const ExampleSet& set, Outputs& outputs);

  Model& model_;
  BatchOptions options_;
  DeviceBatch batch_;
  PackedBatch packed_;
  std::vector<DeviceBuffer> memory_;  ///< of the outputs of one batch
  std::vector<Tensor> outputs_;
  std::vector<std::byte> host_;
};

}  // namespace encore
