// SPDX-License-Identifier: BSD-3-Clause
// Implements plan_step(): turns what the nodes of a network declared into tensors with shape and lifetime,
// the calls of the backward pass, and (place) offsets in the arena. Model, Generation and model_cost.cpp call
// it. A tensor must be alive in every tick that reads it, or another one overwrites it. Read step_plan.hpp
// first.
#include "model/step_plan.hpp"

#include <algorithm>

#include "memory/device_memory.hpp"
#include "memory/memory_plan.hpp"
#include "model/network.hpp"
#include "model/relation_distillation.hpp"

namespace encore::model {
namespace {

using Work = BackwardCall::Work;

DType element_type(Element element, DType precision) {
  if (element == Element::index) return DType::int32;
  if (element == Element::accumulate) return precision == DType::float64 ? DType::float64 : DType::float32;
  return precision;
}

/// Walks over the nodes once forward and once backward, and records at which ticks each tensor is used.
class Planner {
 public:
  Planner(const Network& network, PassMode mode)
      : network_(network),
        training_(mode == PassMode::train),
        generates_(mode == PassMode::generate),
        count_(static_cast<int>(network.nodes().size())) {
    plan_.mode = mode;
    plan_.nodes.resize(network.nodes().size());
    storage_.assign(network.nodes().size(), -1);
    gradient_.assign(network.nodes().size(), -1);
    backward_ticks_.assign(network.nodes().size(), -1);
    again_.assign(network.nodes().size(), {});
    readers_.assign(network.nodes().size(), 0);
    for (int i = 0; i < count_; ++i) {
      bool backward = training_ && network.trains(node(i));
      for (const ValueIndex input : node(i).inputs) {
        ++readers_[index(input)];
        backward = backward || plan_.nodes[index(input)].backward;
      }
      plan_.nodes[index(i)].backward = backward;
    }
    if (training_) order_backward();
  }

  StepPlan run() {
    for (int i = 0; i < count_; ++i) plan_forward(i);
    if (training_)
      for (int i = count_ - 1; i >= 0; --i) plan_backward(i);
    for (std::size_t i = 0; i < uses_.size(); ++i) plan_.tensors[i].idle = uses_[i].idle();
    return std::move(plan_);
  }

 private:
  /// The use of a tensor between its first and last tick.
  struct Uses {
    int last_of_forward = -1;
    int first_of_backward = -1;
    bool written_again = false;  ///< by the first call of the backward pass that uses it

    memory::Ticks idle() const {
      return written_again ? memory::Ticks{last_of_forward + 1, first_of_backward - 1} : memory::Ticks();
    }
  };
  /// A second forward call of a node, in the backward pass (train.recompute).
  struct Again {
    int tick = -1;  ///< -1: there is none
    Work work = Work::forward;
  };

  static std::size_t index(int i) { return static_cast<std::size_t>(i); }
  const Node& node(int i) const { return network_.nodes()[index(i)]; }
  int backward_tick(int i) const { return backward_ticks_[index(i)]; }

  // --- the calls of the backward pass ---

  void order_backward() {
    std::vector<std::vector<int>> before(plan_.nodes.size());  // nodes that run forward again before a node
    for (int i = 0; i < count_; ++i)
      if (const int reader = recomputed_before(i); reader >= 0) before[index(reader)].push_back(i);
    for (int i = count_ - 1; i >= 0; --i) {
      for (const int again : before[index(i)]) {
        const bool of_sum = network_.recompute() == config::Recompute::cheap && node(again).sum;
        const Work work = of_sum ? Work::forward_of_sum : Work::forward;
        again_[index(again)] = {call(again, work), work};
      }
      if (plan_.nodes[index(i)].backward) backward_ticks_[index(i)] = call(i, Work::backward);
    }
  }

  /// Adds a call and returns its tick.
  int call(int i, Work work) {
    plan_.backward.push_back({index(i), work});
    return count_ + static_cast<int>(plan_.backward.size()) - 1;
  }

  /// Returns the node before whose backward call node i runs forward again, or -1.
  int recomputed_before(int i) const {
    if (network_.recompute() == config::Recompute::cheap) return first_reader_of_cheap(i);
    return network_.recompute() == config::Recompute::blocks ? end_of_block(i) : -1;
  }

  /// Returns the first node in the backward pass that reads the output of node i, if that may be dropped, or
  /// -1.
  int first_reader_of_cheap(int i) const {
    const LayerPlan& plan = node(i).plan;
    if (!node(i).layer || !plan.is_cheap() || !plan.reads_input() || !plan_.nodes[index(i)].backward ||
        keeps_states(i))
      return -1;
    for (int reader = count_ - 1; reader > i; --reader)
      for (std::size_t k = 0; k < node(reader).inputs.size(); ++k)
        if (node(reader).inputs[k] == i && reads_in_backward(reader, k))
          return node(reader).head ? -1 : reader;  // the backward call of the head comes first
    return -1;
  }

  /// Returns the last node of the block that holds node i, if it has a backward call.
  int end_of_block(int i) const {
    if (node(i).block < 0) return -1;
    int end = i;
    while (node(end + 1).block == node(i).block && node(end + 1).part == node(i).part) ++end;
    return plan_.nodes[index(end)].backward ? end : -1;
  }

  /// Returns whether the backward call of node i, if there is one, reads its input k. Of a sum it reads the
  /// sum, which stands in the branch.
  bool reads_in_backward(int i, std::size_t k) const {
    const Node& n = node(i);
    return plan_.nodes[index(i)].backward && (n.head || n.plan.reads_input()) && !(n.sum && k == 1);
  }

  // --- tensors ---

  int add(std::string path, Shape shape, Element element, int tick, Space space = Space::tokens) {
    plan_.tensors.push_back({.path = std::move(path),
                             .shape = std::move(shape),
                             .dtype = element_type(element, network_.precision()),
                             .first = tick,
                             .last = tick,
                             .space = space});
    uses_.emplace_back();
    use(static_cast<int>(plan_.tensors.size()) - 1, tick);
    return static_cast<int>(plan_.tensors.size()) - 1;
  }

  void use(int tensor, int tick) {
    PlanTensor& t = plan_.tensors[index(tensor)];
    t.first = std::min(t.first, tick);
    t.last = std::max(t.last, tick);
    Uses& uses = uses_[index(tensor)];
    if (tick < count_)
      uses.last_of_forward = std::max(uses.last_of_forward, tick);
    else if (uses.first_of_backward < 0 || tick < uses.first_of_backward) {
      uses.first_of_backward = tick;
      uses.written_again = false;
    }
  }

  /// Records that node i writes the tensor in its forward calls.
  void write(int tensor, int i) {
    use(tensor, i);
    const int tick = again_[index(i)].tick;
    if (tick < 0) return;
    use(tensor, tick);
    Uses& uses = uses_[index(tensor)];
    if (uses.first_of_backward == tick) uses.written_again = true;
  }

  /// Returns the shape of node i's output.
  Shape rows(int i) const { return {rows_of(node(i).space), node(i).plan.width()}; }

  /// Returns whether the loss and the backward pass of node i read what it wrote, to compare it with a
  /// teacher's.
  bool keeps_states(int i) const {
    return training_ && network_.relations().states > 0.0 && i == network_.states();
  }

  /// Returns whether they read the queries, keys and values of node i's attention for this comparison.
  bool keeps_attention(int i) const {
    return training_ && network_.relations().attention > 0.0 && i == last_with_relations(network_);
  }

  /// Returns whether node i may overwrite the input that it would like to work on in place.
  bool takes_over_input(int i) const {
    const Node& n = node(i);
    if (n.in_place_input < 0) return false;
    const ValueIndex input = n.inputs[index(n.in_place_input)];
    if (readers_[index(input)] > 1 || keeps_states(input)) return false;
    return !training_ || (!n.plan.reads_input() && !node(input).plan.reads_output());
  }

  void plan_forward(int i) {
    const Node& n = node(i);
    NodePlan& plan = plan_.nodes[index(i)];
    plan.path = n.path;
    plan.first_pass_only = generates_ && !n.head && n.space != network_.generated_space() &&
                           network_.generated_space() == Space::target;
    const Again& again = again_[index(i)];
    for (std::size_t k = 0; k < n.inputs.size(); ++k) {
      const int input = storage_[index(n.inputs[k])];
      plan.inputs.push_back(input);
      use(input, i);
      if (again.tick >= 0 && (again.work == Work::forward || k == 0)) use(input, again.tick);
      if (reads_in_backward(i, k)) use(input, backward_tick(i));
    }
    if (takes_over_input(i))
      plan.output = plan.inputs[index(n.in_place_input)];
    else if (n.head)
      plan_losses(i);
    else
      plan.output = add(n.path + ".output", rows(i), Element::activation, i);
    storage_[index(i)] = plan.output;
    if (!n.head) write(plan.output, i);
    if (plan.backward && n.layer && (n.plan.reads_output() || keeps_states(i)))
      use(plan.output, backward_tick(i));
    if (keeps_states(i)) use(plan.output, count_ - 1);
    for (const BufferSpec& buffer : n.plan.buffers()) plan.buffers.push_back(plan_buffer(n, buffer, i));
  }

  void plan_losses(int i) {
    const HeadPlan& head = network_.head();
    for (std::size_t k = 0; k < head.losses().size(); ++k)
      plan_.nodes[index(i)].losses.push_back(
          add(node(i).path + ".losses" + (k == 0 ? "" : "." + std::to_string(k)),
              {rows_of(head.loss_space(k))}, Element::accumulate, i));
  }

  int plan_buffer(const Node& n, const BufferSpec& buffer, int i) {
    const bool backward = plan_.nodes[index(i)].backward;
    if (buffer.lifetime == Lifetime::backward && !backward) return -1;
    const bool of_cache =
        std::ranges::find(buffer.shape, Extent::Of::cache, &Extent::of) != buffer.shape.end();
    if (of_cache && !generates_) return -1;
    const Space space = n.layer && n.space == Space::target ? Space::target : Space::tokens;
    const int tensor = add(n.path + "." + buffer.name, buffer.shape, buffer.element,
                           buffer.lifetime == Lifetime::backward ? backward_tick(i) : i, space);
    const bool persists = buffer.lifetime == Lifetime::persistent;
    if (buffer.lifetime != Lifetime::backward) {
      write(tensor, i);
      if (keeps_attention(i)) use(tensor, count_ - 1);
    }
    if ((buffer.lifetime == Lifetime::saved || persists) && backward) use(tensor, backward_tick(i));
    if (persists && generates_) {  // no other tensor may take its place in any pass
      use(tensor, 0);
      use(tensor, count_ - 1);
    }
    return tensor;
  }

  void plan_backward(int i) {
    const Node& n = node(i);
    NodePlan& plan = plan_.nodes[index(i)];
    if (!plan.backward) return;
    const int tick = backward_tick(i);
    if (!n.head) {
      ENCORE_REQUIRE(gradient_[index(i)] >= 0, n.path + " is read by no other node");
      plan.output_gradient = gradient_[index(i)];
      use(plan.output_gradient, tick);
    }
    for (int k = 0; k < static_cast<int>(n.inputs.size()); ++k)
      plan.input_gradients.push_back(plan_input_gradient(i, k));
  }

  /// Plans the gradient of input k of node i. Every reader of a value writes a copy of its own; the copies
  /// are added in the order of the backward pass.
  int plan_input_gradient(int i, int k) {
    const Node& n = node(i);
    NodePlan& plan = plan_.nodes[index(i)];
    const int tick = backward_tick(i);
    int& total = gradient_[index(n.inputs[index(k)])];
    const bool passed = std::count(n.passed_inputs.begin(), n.passed_inputs.end(), k) > 0;
    if (passed && total < 0) return total = plan.output_gradient;
    const bool equals_first = n.sum && n.sum->dropout == 0.0 && k == 1;  // equal to the branch's
    if (equals_first && total < 0) return total = plan.input_gradients[0];
    if (total >= 0 && !plan_.nodes[index(n.inputs[index(k)])].backward) {  // no node will read it
      use(total, tick);
      return total;
    }

    const int copy = add(n.path + ".input_gradient." + std::to_string(k), rows(n.inputs[index(k)]),
                         Element::activation, tick);
    if (total >= 0) {
      use(total, tick);
      plan.sums.push_back({total, copy, passed});
    }
    return total = copy;
  }

  const Network& network_;
  bool training_, generates_;
  int count_;
  StepPlan plan_;
  std::vector<int> storage_;   ///< tensor that holds a node's output
  std::vector<int> gradient_;  ///< tensor that holds the sum of its gradient's copies so far
  std::vector<int> readers_;
  std::vector<int> backward_ticks_;  ///< of each node, or -1
  std::vector<Again> again_;         ///< of each node
  std::vector<Uses> uses_;           ///< of each tensor
};

/// Returns the bytes of a tensor, in doubles: factors may be of any size, and squares are large.
double bytes_of(const PlanTensor& tensor, const BatchSize& batch) {
  const BatchSize size = seen_over(tensor.space, batch);
  auto bytes = static_cast<double>(size_of(tensor.dtype));
  for (const Extent& extent : tensor.shape)
    bytes *= static_cast<double>(extent.factor) * static_cast<double>(Extent(1, extent.of).in(size));
  return bytes;
}

}  // namespace

BatchSize seen_over(Space space, const BatchSize& batch) {
  if (space != Space::target) return batch;
  BatchSize seen = batch;
  static_cast<RowSetSize&>(seen) = batch.target;
  seen.memory = batch;
  return seen;
}

Tensor PlanTensor::in(const BatchSize& batch, std::byte* arena) const {
  const BatchSize size = seen_over(space, batch);
  Tensor tensor;
  tensor.data = arena + offset;
  tensor.dtype = dtype;
  for (const Extent& extent : shape)
    tensor.extents[static_cast<std::size_t>(tensor.rank++)] = extent.in(size);
  return tensor;
}

void StepPlan::place(const BatchSize& size) {
  largest = size;
  std::vector<memory::BufferLifetime> intervals;
  for (PlanTensor& tensor : tensors) {
    ENCORE_REQUIRE(tensor.shape.size() <= Tensor::max_rank, tensor.path + " has more than four extents");
    if (const double bytes = bytes_of(tensor, size); bytes > memory::most_addressable_bytes)
      memory::fail_out_of_memory(tensor.path, bytes);
    tensor.bytes = tensor.in(size, nullptr).bytes();
    intervals.push_back({tensor.first, tensor.last, tensor.bytes, tensor.idle});
  }
  const memory::MemoryLayout layout = memory::plan_memory(intervals, memory::tensor_alignment);
  for (std::size_t i = 0; i < tensors.size(); ++i) tensors[i].offset = layout.offsets[i];
  arena_bytes = layout.bytes;
}

bool StepPlan::holds(const BatchSize& size) const {
  const auto within = [](const RowSetSize& a, const RowSetSize& b) {
    return a.tokens <= b.tokens && a.sequences <= b.sequences && a.squares <= b.squares &&
           a.longest <= b.longest;
  };
  return within(size, largest) && within(size.target, largest.target) && within(size.cache, largest.cache) &&
         size.picked <= largest.picked;
}

StepPlan plan_step(const Network& network, PassMode mode) {
  return Planner(network, mode).run();
}

}  // namespace encore::model
