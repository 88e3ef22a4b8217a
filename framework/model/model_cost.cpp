// SPDX-License-Identifier: BSD-3-Clause
// Implements cost_of(): counts parameters from what nodes declare, operations from their products, and memory
// from parameter layouts and step plans, without allocating any. worker/size_verb.cpp (`exp plan --size`) and
// bench/ call it. Read model_cost.hpp first.
#include "model/model_cost.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include <encore/multiplies_rows.hpp>

#include "memory/device_memory.hpp"
#include "memory/parameter_layout.hpp"
#include "model/step_plan.hpp"

namespace encore::model {
namespace {

double elements_of(const ParameterSpec& spec) {
  double count = 1.0;
  for (const std::int64_t extent : spec.shape) count *= static_cast<double>(extent);
  return count;
}

class Coster {
 public:
  Coster(const Network& network, const BatchSize& batch)
      : network_(network), batch_(batch), plan_(plan_step(network, PassMode::train)) {
    for (const memory::NamedParameter& parameter : network.parameters())
      parameters_.emplace(parameter.path, parameter);
  }

  ModelCost run() {
    ModelCost cost;
    cost.whole.name = "model";
    for (std::size_t i = 0; i < network_.nodes().size(); ++i) {
      const Node& node = network_.nodes()[i];
      const PartCost own = of_node(i, cost.uncounted);
      PartCost& part = last(cost.whole, node.part);
      add(own, cost.whole);
      add(own, part);
      PartCost* parent = &part;
      if (node.block >= 0) {
        if (block_ != node.block || part.parts.empty()) part.parts.push_back({.name = "block"});
        parent = &part.parts.back();
        add(own, *parent);
      }
      block_ = node.block;
      // Sums, dropout and picked rows have no type, no parameters and no products.
      if (node.path == node.part)
        part.type = node.type;
      else if (!node.type.empty())
        parent->parts.push_back(own);
    }
    for (PartCost& part : cost.whole.parts) fold(part.parts);
    return cost;
  }

 private:
  static PartCost& last(PartCost& whole, const std::string& name) {
    if (whole.parts.empty() || whole.parts.back().name != name) whole.parts.push_back({.name = name});
    return whole.parts.back();
  }

  static void add(const PartCost& from, PartCost& to) {
    to.parameters += from.parameters;
    to.trained += from.trained;
    to.forward_flops += from.forward_flops;
    to.training_flops += from.training_flops;
  }

  /// Joins neighbouring parts with equal costs to one part with a count.
  static void fold(std::vector<PartCost>& parts) {
    std::vector<PartCost> folded;
    for (PartCost& part : parts) {
      PartCost one = folded.empty() ? PartCost() : folded.back();
      one.count = 1;
      if (!folded.empty() && part.name == "block" && one == part)
        ++folded.back().count;
      else
        folded.push_back(std::move(part));
    }
    parts = std::move(folded);
  }

  /// Returns "attention.norm" for "encoder.3.attention.norm": the path without its stack and block.
  static std::string name_of(const Node& node) {
    std::string name = node.path;
    const auto drop = [&](const std::string& front) {
      if (name.starts_with(front + ".")) name.erase(0, front.size() + 1);
    };
    drop(node.part);
    if (node.block >= 0) drop(std::to_string(node.block));
    return name;
  }

  PartCost of_node(std::size_t i, std::vector<std::string>& uncounted) const {
    const Node& node = network_.nodes()[i];
    const NodePlan& plan = plan_.nodes[i];
    PartCost cost{.name = name_of(node), .type = node.type};
    const auto has_gradient = [](int tensor) { return tensor >= 0; };
    const bool to_inputs = std::ranges::any_of(plan.input_gradients, has_gradient);
    for (const ParameterSpec& spec : node.plan.parameters()) {
      const memory::NamedParameter& parameter = parameters_.at(path_of(node, spec));
      if (spec.alias.empty() && node.parameter_path == node.path) count(parameter, cost);
      if (!is_matrix(spec)) continue;
      const double product = 2.0 * elements_of(spec) * static_cast<double>(batch_.rows(node.space));
      const bool to_weight = plan.backward && (!parameter.frozen || parameter.adapter);
      cost.forward_flops += product;
      cost.training_flops += product * (1.0 + (to_inputs ? 1.0 : 0.0) + (to_weight ? 1.0 : 0.0));
    }
    if (const auto* rows = dynamic_cast<const MultipliesRows*>(node.layer.get())) {
      BatchSize seen = seen_over(node.space, batch_);
      if (node.space != Space::target) seen.memory = batch_;
      const double products = 2.0 * rows->row_multiply_adds(seen);
      cost.forward_flops += products;
      cost.training_flops += products * (plan.backward ? 3.0 : 1.0);
    } else if (node.layer && !node.plan.continues_texts()) {
      uncounted.push_back(node.path);
    }
    return cost;
  }

  /// Adds the parameters of a matrix and of its adapter, if it has one.
  void count(const memory::NamedParameter& parameter, PartCost& cost) const {
    const auto add_one = [&](const memory::NamedParameter& one) {
      const auto size = static_cast<std::int64_t>(elements_of(one.spec));
      cost.parameters += size;
      cost.trained += one.frozen ? 0 : size;
    };
    add_one(parameter);
    if (!parameter.adapter) return;
    for (const std::string& factor : {parameter.adapter->a, parameter.adapter->b})
      add_one(parameters_.at(factor));
  }

  const Network& network_;
  const BatchSize& batch_;
  StepPlan plan_;
  std::map<std::string, memory::NamedParameter> parameters_;
  std::int64_t block_ = -1;  ///< of the previous node
};

MemoryCost memory_of(const Network& network, const BatchSize& batch, const BatchSize& shard,
                     std::int64_t shards, std::size_t states) {
  std::vector<memory::ParameterSlice> slices = memory::lay_out(network.parameters());
  const memory::BlockExtents extents = memory::place_copies(slices, network.precision());
  const DType sums = sum_type(network.precision());
  const std::size_t block = memory::aligned(static_cast<std::size_t>(extents.values) * size_of(sums));
  StepPlan training = plan_step(network, PassMode::train), evaluation = plan_step(network, PassMode::score);
  training.place(shard);
  evaluation.place(batch);
  return {.parameters = block,
          .gradients = block * (shards > 1 ? 2 : 1),
          .optimizer = block * states,
          .copies = static_cast<std::size_t>(extents.copies) * size_of(network.precision()) +
                    static_cast<std::size_t>(extents.adapted + extents.adapter_scratch) * size_of(sums),
          .training = training.arena_bytes,
          .evaluation = evaluation.arena_bytes};
}

}  // namespace

bool is_matrix(const ParameterSpec& spec) {
  return spec.shape.size() == 2 && spec.element == Element::activation && !spec.token_rows;
}

BatchSize uniform_batch(const Network& network, std::int64_t count, std::int64_t length, double picked) {
  BatchSize size;
  static_cast<RowSetSize&>(size) = {
      .tokens = count * length, .sequences = count, .squares = count * length * length, .longest = length};
  const data::BatchNeeds needs = network.needs();
  if (needs.target) size.target = size;
  if (needs.picked)
    size.picked = static_cast<std::int64_t>(std::ceil(picked * static_cast<double>(size.tokens)));
  return size;
}

ModelCost cost_of(const Network& network, const BatchSize& batch, const BatchSize& shard, std::int64_t shards,
                  std::size_t states) {
  ModelCost cost = Coster(network, batch).run();
  cost.memory = memory_of(network, batch, shard, shards, states);
  return cost;
}

}  // namespace encore::model
