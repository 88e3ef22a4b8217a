// SPDX-License-Identifier: BSD-3-Clause
// HeadMemory: the memory that one head needs for one batch: states, columns and outputs in the shapes that
// the head declares. Place in the flow: head_trial.cpp and onnx_check.cpp check heads in it, testing.cpp runs
// those of a plugin author's own tests. The memory may be no larger than declared, or writes outside are not
// found.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <encore/head.hpp>

#include "contract/test_memory.hpp"

namespace encore::contract {

/// The rows of a space, with the example and the position of each. The space `picked` has two rows of three.
struct SpaceRows {
  std::vector<std::int64_t> examples, positions;
  std::vector<std::int64_t> rows;   ///< the row of the batch for each; the first of a sequence
  std::vector<std::int64_t> first;  ///< (B + 1) by sequence

  std::int64_t count() const { return static_cast<std::int64_t>(examples.size()); }
};
SpaceRows rows_in(const OwnedBatch& batch, Space space);

class HeadMemory {
 public:
  /// Lets the head declare, and allocates its memory. The head must not have declared anything before.
  /// `noise` is as in OwnedPlan.
  HeadMemory(const Device& device, Head& head, std::int64_t width, const OwnedBatch& batch, DType type,
             std::uint64_t seed, double noise);

  const HeadPlan& plan() const { return plan_; }
  OwnedPlan& memory() { return *memory_; }
  const OwnedPlan& memory() const { return *memory_; }
  std::vector<OwnedTensor>& inputs() { return inputs_; }
  std::vector<OwnedTensor>& input_gradients() { return input_gradients_; }
  std::vector<OwnedTensor>& columns() { return columns_; }
  std::vector<OwnedTensor>& outputs() { return outputs_; }
  const std::vector<OwnedTensor>& outputs() const { return outputs_; }
  /// Returns the values of each loss.
  std::vector<OwnedTensor>& losses() { return losses_; }
  const std::vector<OwnedTensor>& losses() const { return losses_; }
  /// Returns the factors by which `backward` multiplies the losses.
  std::vector<double>& scales() { return scales_; }
  /// Returns the teacher's scores of a head that learns from one: (rows, K), zeros at first. Else it is
  /// empty.
  OwnedTensor& teacher_scores() { return teacher_scores_; }
  const std::vector<double>& scales() const { return scales_; }
  /// Returns OwnedTensor::overrun of all tensors outside of memory() and the states.
  std::string overrun() const;

  /// Returns a step of the head. Without `truth`, the columns that a task fills from the truth are empty:
  /// those that normalize losses, and those with bounded numbers.
  HeadStep step(bool training, bool truth) const { return step_with(training, truth, bound_outputs_); }
  /// Returns the step of a prediction without the outputs on request.
  HeadStep step_without_requested() const { return step_with(false, false, bound_usual_outputs_); }
  bool has_requested() const;

 private:
  HeadStep step_with(bool training, bool truth, const std::vector<Tensor>& outputs) const;
  bool is_truth(std::size_t column) const;

  const Device& device_;
  const OwnedBatch& batch_;
  HeadPlan plan_;
  std::unique_ptr<OwnedPlan> memory_;
  std::vector<OwnedTensor> inputs_, input_gradients_, columns_, outputs_, losses_;
  std::vector<double> scales_;
  OwnedTensor picked_, teacher_scores_;
  std::vector<Tensor> bound_inputs_, bound_gradients_, bound_columns_, bound_structure_, bound_outputs_,
      bound_usual_outputs_, bound_losses_;
};

}  // namespace encore::contract
