// Pass: runs a network over one batch, forward and backward, with the tensors of a placed step plan.
// Place in the flow: Model owns one for training and one for evaluation. All tables are sized when it is
// made, so that a step allocates nothing. Read next: model.cpp.
//
//   pass.start(shard.batch, seed, step);
//   pass.forward();
//   Tensor losses = pass.loss(shard.targets);
//   pass.backward(shard.targets, scale);
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <encore/device.hpp>
#include <encore/layer.hpp>

#include "memory/parameter_block.hpp"
#include "model/network.hpp"
#include "model/step_plan.hpp"

namespace encore {

class Pass {
 public:
  /// All must outlive the pass. `arena` holds plan.arena_bytes of device memory.
  Pass(const Network& network, const StepPlan& plan, const ParameterBlock& parameters, const Device& device,
       std::byte* arena);

  /// Binds every tensor to the extents of this batch and every random stream to this step. `training`
  /// switches dropout.
  void start(const Batch& batch, std::uint64_t seed, std::uint64_t step);

  /// From the ids to the states the head reads.
  void forward();
  /// As forward, and calls `seen` with each node's path and output (N, C) after it has run.
  void forward(const std::function<void(const std::string& path, Tensor output)>& seen);
  /// losses (N), in the type of sums. After forward.
  Tensor loss(Tensor targets);
  /// Adds to the parameter gradients. After loss on the same batch.
  void backward(Tensor targets, double scale);
  /// After forward.
  void decode(Tensor mask, Tensor predictions);
  /// A tensor of the plan with the extents of the current batch. Throws std::logic_error for an unknown path.
  Tensor tensor(const std::string& path) const;

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
    /// What stands in the crash line while each call runs (record/crash_line.hpp).
    std::array<std::string, 4> works;
  };
  /// The calls of a node, by their names in messages.
  enum Call : std::uint8_t { forward_call, loss_call, backward_call, decode_call };
  static constexpr std::array<const char*, 4> call_names = {"forward", "loss", "backward", "decode"};

  Tensor resolve(int tensor) const;
  /// Calls `run(node, bound, step)` and puts the node's path in front of what goes wrong in it.
  void visit(std::size_t node, Call call, const auto& run);
  void add_gradients(const NodePlan& plan, Tensor output_gradient) const;

  const Network& network_;
  const StepPlan& plan_;
  const Device& device_;
  std::byte* arena_;
  Batch batch_;
  std::vector<Bound> bound_;
};

}  // namespace encore
