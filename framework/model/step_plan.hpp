// SPDX-License-Identifier: BSD-3-Clause
// StepPlan is the resolved list of what a step does: nodes in the order of the forward pass, their tensors
// with shape, lifetime and place in the arena, random streams, and where gradients of a tensor with several
// readers are summed. Model and Generation make one from a Network (plan_step), Pass runs it, model_cost.cpp
// and bench/ count with it. A tensor must be alive in every tick that reads it, or another tensor overwrites
// it. Read next: pass.hpp.
//
// Time is counted in ticks: of n nodes, node i runs forward at tick i; the head is the last node. From tick n
// on each call of the backward pass takes one. A tensor occupies memory from its first tick to its last, both
// included; one that the backward pass computes again (train.recompute) leaves it to others in between.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <encore/layer.hpp>

#include "memory/memory_plan.hpp"

namespace encore::model {

class Network;

/// A tensor of the step and its place in the arena.
struct PlanTensor {
  std::string path;  ///< "encoder.0.attention.output", "encoder.0.attention.qkv",
                     ///< "encoder.0.attention.input_gradient.0"
  Shape shape;
  DType dtype = DType::float32;
  int first = 0;  ///< tick
  int last = 0;
  memory::Ticks idle = {};      ///< when it holds nothing
  Space space = Space::tokens;  ///< the space of the extents' rows: target in a decoder
  std::size_t bytes = 0;        ///< of the planned size
  std::size_t offset = 0;       ///< within the arena

  Tensor in(const BatchSize& size, std::byte* arena) const;
};

/// A sum of gradients: `from` is added to `to` after the node's backward pass. With `copy` the node did not
/// write `to`, which first becomes a copy of the node's output gradient.
struct GradientSum {
  int from = -1;
  int to = -1;
  bool copy = false;
};

/// Says what a pass is for.
enum class PassMode : std::uint8_t {
  train,     ///< forward and backward
  score,     ///< forward only: evaluation and prediction
  generate,  ///< forward only, and persistent buffers keep their content from pass to pass (generation.hpp)
};

/// The tensors of one node. All numbers are indices into StepPlan::tensors, -1 for none.
struct NodePlan {
  std::string path;
  bool first_pass_only =
      false;  ///< of a generation: the encoder, whose rows later passes do not compute again
  std::vector<int> inputs;
  int output = -1;          ///< -1 for the head
  std::vector<int> losses;  ///< of the head
  std::vector<int> buffers;
  int output_gradient = -1;
  bool backward = false;  ///< false if neither the node nor one before it trains
  std::vector<int> input_gradients;
  std::vector<GradientSum> sums;
};

/// A call of the backward pass.
struct BackwardCall {
  enum class Work : std::uint8_t {
    backward,
    forward,         ///< again, from the node's inputs
    forward_of_sum,  ///< again, from the sum that the node's first forward call has left in inputs[0]
  };
  std::size_t node = 0;
  Work work = Work::backward;
};

struct StepPlan {
  PassMode mode = PassMode::score;
  std::vector<NodePlan> nodes;         ///< in the order of the forward pass; the head is the last
  std::vector<BackwardCall> backward;  ///< in their order; the head's is the first
  std::vector<PlanTensor> tensors;
  BatchSize largest;  ///< the size for which the offsets were made
  std::size_t arena_bytes = 0;

  /// Gives every tensor its place for batches up to `size`.
  void place(const BatchSize& size);
  /// Returns whether a batch fits the size of place().
  bool holds(const BatchSize& size) const;
};

/// Returns a batch as a layer over this space sees it: its own row set first, then the rows that it may read.
BatchSize seen_over(Space space, const BatchSize& batch);

/// Returns the tensors and calls of a pass over the network, without places yet.
StepPlan plan_step(const Network& network, PassMode mode);

}  // namespace encore::model
