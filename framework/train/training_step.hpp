// SPDX-License-Identifier: BSD-3-Clause
// TrainingStep makes one update of the parameters, without the loop around it: gradients of a batch, their
// norm, the optimizer. With ranks, each computes its shards and updates its part (gradient_exchange.hpp);
// the bits are those of one process. The trainer decides between the two halves, `exp bench` measures
// both.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include <encore/optimizer.hpp>

#include "model/device_batch.hpp"
#include "model/model.hpp"
#include "train/gradient_exchange.hpp"

namespace encore {

class TrainingStep {
 public:
  struct Gradient {
    double loss = 0.0;  ///< of the whole batch: the sum of all losses, each divided by its weight
    double norm = 0.0;  ///< of all parameters together, before clipping
  };

  /// clip_norm: the largest norm of a gradient; 0 leaves it as it is. Model and optimizer must outlive the
  /// step. optimizer_owner: for the crash line (record/crash_line.hpp).
  TrainingStep(Model& model, Optimizer& optimizer, double clip_norm, const std::string& optimizer_owner = "");
  /// Does the same with other ranks, which divide the shards. Make it before the optimizer's states.
  TrainingStep(Model& model, Optimizer& optimizer, double clip_norm, const std::string& optimizer_owner,
               Communicator& ranks, std::int64_t shards);

  /// Uploads what this rank computes of a batch: all of it if there is one process.
  void upload(const PackedBatch& packed, DeviceBatch& batch);
  /// Leaves the gradients in model.parameters(); waits for the device. `meanwhile` is what the host does
  /// after everything is launched, before it waits.
  Gradient compute_gradient(const DeviceBatch& batch, StepRandom random,
                            const std::function<void()>& meanwhile = {});
  /// Updates the parameters with the clipped gradients, without waiting. `step` counts from 1.
  void update(double learning_rate, std::int64_t step);
  /// Returns the seconds since the last call in which this rank waited for others or moved bytes.
  double take_exchange_seconds() { return exchange_ ? exchange_->take_seconds() : 0.0; }

 private:
  /// Computes gradients and the sum of their squares with other ranks. Returns the loss, in device memory.
  const double* exchanged_gradient(const DeviceBatch& batch, StepRandom random);

  Model& model_;
  Optimizer& optimizer_;
  double clip_norm_;
  std::string update_text_;
  DeviceBuffer clipping_;  ///< two doubles: the gradient's sum of squares, the factor that clips it
  double* squares_;
  double* clip_;
  std::unique_ptr<GradientExchange> exchange_;  ///< null: one process
  std::int64_t rounds_ = 0;                     ///< shards of each rank
};

}  // namespace encore
