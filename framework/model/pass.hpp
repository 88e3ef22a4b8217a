// SPDX-License-Identifier: BSD-3-Clause
// Pass runs a network over one batch, forward and backward, with the tensors of a placed step plan. Model
// owns one for training and one for evaluation, Generation a third one. All tables are sized when it is made,
// so a step allocates nothing. Read next: model.cpp, generation.cpp.
//
//   pass.start(shard.batch, seed, step);
//   pass.forward();
//   std::span<const Tensor> losses = pass.losses();
//   pass.backward(scale);
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <encore/device.hpp>
#include <encore/layer.hpp>
#include <encore/relations.hpp>

#include "memory/parameter_block.hpp"
#include "model/device_batch.hpp"
#include "model/network.hpp"
#include "model/step_plan.hpp"

namespace encore::kernels {
class WeightLayouts;
}

namespace encore::model {

/// The gradients that a backward pass adds when rows learn from a teacher's rows (relation_distillation.hpp).
struct TaughtPass {
  ValueIndex states = no_value;  ///< the node whose output learns; no_value: no states are learned
  TaughtRows of_states;
  ValueIndex attention = no_value;  ///< the layer whose queries, keys and values learn
  TaughtAttention of_attention;
  double scale = 0.0;  ///< on the sum of all rows' losses
};

class Pass {
 public:
  /// All arguments must outlive the pass. `arena` holds plan.arena_bytes of device memory.
  Pass(const Network& network, const StepPlan& plan, const memory::ParameterBlock& parameters,
       const Device& device, std::byte* arena);

  /// Makes the bits of a sequence independent of the sequences beside it, as they always are with a causal
  /// stack.
  void make_batch_invariant() { batch_invariant_ = true; }
  /// Sets the weights that its products read, until another call; null: the matrices.
  void use(const kernels::WeightLayouts* layouts) { layouts_ = layouts; }
  /// Sets the weights that its products read as integers, until another call; null: none.
  void use_quantized(const kernels::WeightLayouts* weights) { quantized_ = weights; }

  /// Binds every tensor to the extents of this batch, which must outlive the pass over it, and every random
  /// stream to this step.
  void start(const Batch& batch, std::uint64_t seed, std::uint64_t step);
  /// Sets what the head learns from a teacher in this pass (HeadStep::teacher_scores). Call it after start.
  void use_teacher_scores(Tensor scores) { teacher_scores_ = scores; }
  /// Sets what rows learn from a teacher's in backward(). `taught` must outlive it. Call it after start().
  void use_taught(const TaughtPass& taught) { taught_ = &taught; }

  /// Runs from the ids to the result of the head (Head::score). In a later pass of a generation it leaves out
  /// nodes that run in the first one only.
  void forward();
  /// Runs like forward(), without the head.
  void forward_states();
  /// Runs like forward(), and calls `seen` with each node's path and output (rows, C) after it has run.
  void forward(const std::function<void(const std::string& path, Tensor output)>& seen);
  /// Runs the nodes up to the head and calls `seen` with each layer, its step and its output right after it
  /// has run, while its buffers still hold their content.
  void forward_layers(const std::function<void(const Node& node, const Step& step, Tensor output)>& seen);
  /// Runs the head, after forward_states() or forward_layers().
  void score();
  /// Runs only the nodes up to `last` and returns its output (rows, C), without the head and its columns.
  Tensor forward_to(ValueIndex last);
  /// Returns for each loss of the head a value for each row of HeadPlan::loss_space, in the type of sums,
  /// valid until the next pass. Call it after forward(); the truth must be known.
  std::span<const Tensor> losses();
  /// Adds the gradients of the losses' sums times these factors to the parameter gradients. Call it after
  /// losses() on the same batch. Calls `seen` with the number of each node after its own: the gradients of
  /// parameters that no earlier node has are then final (Network::first_users).
  void backward(std::span<const double> scales, const std::function<void(std::size_t node)>& seen = {});
  /// Fills, after forward(), one tensor per HeadPlan::outputs; an output on request that is not wanted has an
  /// empty one.
  void decode(std::span<const Tensor> outputs);
  /// Returns a buffer of the head with the extents of the current batch.
  Tensor head_buffer(Buffer buffer) const {
    return bound_.back().buffers.at(static_cast<std::size_t>(buffer.index));
  }
  /// Returns a tensor of the plan with the extents of the batch. Throws std::logic_error for an unknown path.
  Tensor tensor(const std::string& path) const;
  /// Returns what a node wrote, in the current batch.
  Tensor output(ValueIndex node) const { return bound_[static_cast<std::size_t>(node)].output; }
  /// Calls its argument with a layer and its step. Call it after losses().
  void visit_layer(ValueIndex node, const std::function<void(const Node& node, const Step& step)>& look);
  /// Returns the rows of the first text.
  const RowSet& rows() const { return batch_->tokens; }

 private:
  /// The tensors of one node for the current batch.
  struct Bound {
    std::vector<Tensor> inputs;
    Tensor output;
    std::vector<Tensor> buffers;
    Tensor output_gradient;
    std::vector<Tensor> input_gradients;
    std::vector<Tensor> parameters;
    std::vector<Tensor> gradients;
    std::vector<RandomKey> keys;
    DropoutDraw branch_dropout;
    /// Set if the layer takes a sum: its inputs are without the trunk.
    bool takes_sum = false;
    /// The text of the crash line while each call runs (record/crash_line.hpp).
    std::array<std::string, 4> works;
  };
  /// The calls of a node, by their names in messages.
  enum Call : std::uint8_t { forward_call, loss_call, backward_call, decode_call };
  static constexpr std::array<const char*, 4> call_names = {"forward", "loss", "backward", "decode"};

  /// Returns a node's inputs, or their gradients, as the layer sees them: the trunk of a sum is in the Step.
  static std::span<const Tensor> seen_by_layer(const Bound& bound, const std::vector<Tensor>& all) {
    return bound.takes_sum && !all.empty() ? std::span(all).first(1) : std::span(all);
  }

  bool training() const { return plan_.mode == PassMode::train; }
  /// Returns the node from which input k of node i comes.
  const NodePlan& source_of(std::size_t i, std::size_t k) const {
    return plan_.nodes[static_cast<std::size_t>(network_.nodes()[i].inputs[k])];
  }
  Tensor resolve(int tensor) const;
  void forward_states(const std::function<void(const std::string& path, Tensor output)>& seen);
  /// Runs the forward pass of a node that is not the head. of_sum: it runs again, from the sum that it took
  /// the first time.
  void forward_node(std::size_t node, bool of_sum = false);
  /// Calls `run(node, bound, step)` and puts the node's path before the message of an error in it.
  void visit(std::size_t node, Call call, const auto& run);
  /// Runs a call of the head as visit() does; `columns`, `outputs` and `scales` are those of HeadStep::Found.
  void visit_head(Call call, std::span<const Tensor> columns, std::span<const Tensor> outputs,
                  std::span<const double> scales, const auto& run);
  Step::Bound step_bound(const Node& node, const Bound& bound) const;
  bool learns_attention(const Node& node) const;
  /// Returns the rows on which a node works.
  const RowSet& rows_of(const Node& node) const {
    return node.space == Space::target ? batch_->target : batch_->tokens;
  }
  /// Returns the rows of the states that a node without a layer picks.
  Tensor picked_rows(const Node& node) const;
  void add_gradients(const NodePlan& plan, Tensor output_gradient) const;

  const Network& network_;
  const StepPlan& plan_;
  const kernels::WeightLayouts* layouts_ = nullptr;
  const kernels::WeightLayouts* quantized_ = nullptr;
  bool batch_invariant_;  ///< its products give rows of a generation the bits of the whole text
  const Device& device_;
  std::byte* arena_;
  const Batch* batch_ = nullptr;
  BatchSize size_;
  Tensor teacher_scores_;
  const TaughtPass* taught_ = nullptr;
  std::vector<Tensor> losses_;     ///< of the head
  std::vector<Tensor> structure_;  ///< the batch's columns without those that hold the truth
  std::vector<Bound> bound_;
};

}  // namespace encore::model
