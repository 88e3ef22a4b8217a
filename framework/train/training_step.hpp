// SPDX-License-Identifier: BSD-3-Clause
// TrainingStep makes one update of the parameters: the gradients of a batch, their norm, and the optimizer's
// update. With ranks, each rank computes its shards and updates its part of the parameters; the results must
// have the bits of one process. Trainer (trainer.hpp) calls compute_gradient(), decides whether to update,
// and calls update(). bench/step_case.hpp measures both. Read next: gradient_exchange.hpp.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include <encore/optimizer.hpp>

#include "model/device_batch.hpp"
#include "model/model.hpp"
#include "train/gradient_exchange.hpp"

namespace encore::train {

class TrainingStep {
 public:
  struct Gradient {
    /// The loss of the whole batch. A model may have several losses: each is summed over its rows and divided
    /// by its weight (DeviceBatch::weights()), and the results are added.
    double loss = 0.0;
    double norm = 0.0;  ///< norm of the gradient of all parameters together, before clipping
  };

  /// `clip_norm`: the largest norm of a gradient; 0: no clipping. Model and optimizer must outlive the step.
  /// `optimizer_owner`: the name for the crash line (record/crash_line.hpp).
  TrainingStep(model::Model& model, Optimizer& optimizer, double clip_norm,
               const std::string& optimizer_owner = "");
  /// Makes a step for several ranks, which divide the shards. Call this constructor before the states of the
  /// optimizer are made.
  TrainingStep(model::Model& model, Optimizer& optimizer, double clip_norm,
               const std::string& optimizer_owner, distributed::Communicator& ranks, std::int64_t shards);

  /// Uploads the part of a batch that this rank computes: all of it if there is one process.
  void upload(const data::PackedBatch& packed, model::DeviceBatch& batch);
  /// Computes the gradients, which are then in model.parameters(), and waits for the device. The host calls
  /// `meanwhile` after all kernels are launched, before it waits.
  Gradient compute_gradient(const model::DeviceBatch& batch, model::StepRandom random,
                            const std::function<void()>& meanwhile = {});
  /// Updates the parameters with the clipped gradients, without waiting. `step` counts from 1.
  void update(double learning_rate, std::int64_t step);
  /// Returns the seconds since the last call that this rank spent waiting for others or moving bytes.
  double take_exchange_seconds() { return exchange_ ? exchange_->take_seconds() : 0.0; }

 private:
  /// Computes gradients and the sum of their squares together with other ranks. Returns the loss, in device
  /// memory.
  const double* exchanged_gradient(const model::DeviceBatch& batch, model::StepRandom random);

  model::Model& model_;
  Optimizer& optimizer_;
  double clip_norm_;
  std::string update_text_;
  memory::DeviceBuffer
      clipping_;  ///< two doubles: sum of squares of the gradient, and the factor that clips it
  double* squares_;
  double* clip_;
  std::unique_ptr<GradientExchange> exchange_;  ///< null: one process
  std::int64_t rounds_ = 0;                     ///< number of shards of each rank
};

}  // namespace encore::train
