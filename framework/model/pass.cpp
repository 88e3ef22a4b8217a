// SPDX-License-Identifier: BSD-3-Clause
// Implements Pass: runs the nodes of a network forward in their order and backward in reverse, and adds the
// gradients of values with several readers in the order of the plan. Model and Generation own passes. A step
// must not allocate, so tables are sized in the constructor. Read pass.hpp first.
#include "model/pass.hpp"

#include <algorithm>

#include <encore/kernels.hpp>

#include "kernels/products/gemm.hpp"
#include "model/pass_kernels.hpp"
#include "model/residual.hpp"
#include "record/crash_line.hpp"

namespace encore::model {

Pass::Pass(const Network& network, const StepPlan& plan, const memory::ParameterBlock& parameters,
           const Device& device, std::byte* arena)
    : network_(network),
      plan_(plan),
      batch_invariant_(network.is_causal() && plan.mode != PassMode::train),
      device_(device),
      arena_(arena),
      losses_(network.head().losses().size()),
      structure_(network.head().columns().size()),
      bound_(network.nodes().size()) {
  for (std::size_t i = 0; i < bound_.size(); ++i) {
    const Node& node = network.nodes()[i];
    Bound& bound = bound_[i];
    bound.inputs.resize(plan.nodes[i].inputs.size());
    bound.buffers.resize(plan.nodes[i].buffers.size());
    bound.input_gradients.resize(plan.nodes[i].input_gradients.size());
    for (const ParameterSpec& spec : node.plan.parameters()) {
      const memory::ParameterSlice& slice = parameters.find(path_of(node, spec));
      bound.parameters.push_back(parameters.seen_by_passes(slice, spec.element));
      bound.gradients.push_back(memory::ParameterBlock::slice(parameters.shard_gradients(), slice));
    }
    for (const std::string& purpose : node.plan.streams())
      bound.keys.push_back({0, random_stream(node.path, purpose), 0});
    for (std::size_t call = 0; call < call_names.size(); ++call)
      bound.works[call] = record::work_text(call_names[call], node.path, node.owner);
    bound.takes_sum = node.sum.has_value();
    if (node.sum)
      bound.branch_dropout = {node.sum->dropout, {0, random_stream(node.sum->path, Residual::stream), 0}};
  }
}

Tensor Pass::resolve(int tensor) const {
  return tensor < 0 ? Tensor() : plan_.tensors[static_cast<std::size_t>(tensor)].in(size_, arena_);
}

Tensor Pass::tensor(const std::string& path) const {
  for (const PlanTensor& tensor : plan_.tensors)
    if (tensor.path == path) return tensor.in(size_, arena_);
  ENCORE_REQUIRE(false, "the plan has no tensor \"" + path + "\"");
  return {};
}

void Pass::start(const Batch& batch, std::uint64_t seed, std::uint64_t step) {
  batch_ = &batch;
  teacher_scores_ = {};
  taught_ = nullptr;
  size_ = batch.size();
  ENCORE_REQUIRE(plan_.holds(size_), "the batch is larger than the one that Model::plan got");
  ENCORE_REQUIRE(std::max(size_.longest, size_.target.longest) <= network_.max_length(),
                 "a sequence is longer than data.max_length");
  for (std::size_t i = 0; i < structure_.size(); ++i)
    structure_[i] = network_.is_truth(i) ? Tensor() : batch.columns[i];
  const auto resolve_all = [this](const std::vector<int>& from, std::vector<Tensor>& to) {
    for (std::size_t k = 0; k < from.size(); ++k) to[k] = resolve(from[k]);
  };
  for (std::size_t i = 0; i < bound_.size(); ++i) {
    const NodePlan& plan = plan_.nodes[i];
    Bound& bound = bound_[i];
    resolve_all(plan.inputs, bound.inputs);
    for (std::size_t k = 0; k < bound.inputs.size() && !batch.first_pass; ++k)
      if (source_of(i, k).first_pass_only) bound.inputs[k] = {};  // so that no layer takes it for rows
    resolve_all(plan.buffers, bound.buffers);
    resolve_all(plan.input_gradients, bound.input_gradients);
    bound.output = resolve(plan.output);
    bound.output_gradient = resolve(plan.output_gradient);
    for (RandomKey& key : bound.keys) key = {seed, key.stream, step};
    bound.branch_dropout.key = {seed, bound.branch_dropout.key.stream, step};
  }
  resolve_all(plan_.nodes.back().losses, losses_);
}

Step::Bound Pass::step_bound(const Node& node, const Bound& bound) const {
  Step::Bound found = {.parameters = bound.parameters,
                       .gradients = bound.gradients,
                       .buffers = bound.buffers,
                       .keys = bound.keys};
  if (node.plan.reads_memory()) found.memory = &batch_->tokens;
  if (plan_.mode == PassMode::generate && node.space == network_.generated_space())
    found.cache = &batch_->cache;
  found.first_pass = batch_->first_pass;
  if (learns_attention(node)) found.taught = &taught_->of_attention;
  if (!node.sum) return found;
  found.trunk = bound.inputs[1];
  if (bound.input_gradients.size() > 1) found.trunk_gradient = bound.input_gradients[1];
  found.branch_dropout = bound.branch_dropout;
  return found;
}

void Pass::visit(std::size_t node, Call call, const auto& run) {
  const Bound& bound = bound_[node];
  const record::CurrentWork work(bound.works[call].c_str());
  const kernels::BatchInvariance invariance(device_, batch_invariant_);
  const kernels::LaidOutProducts products(device_, layouts_);
  const kernels::QuantizedProducts integers(device_, quantized_);
  try {
    run(network_.nodes()[node], bound);
  } catch (const std::exception& error) {
    throw Error(std::string(call_names[call]) + " of " + network_.nodes()[node].path + ": " + error.what());
  }
}

void Pass::visit_head(Call call, std::span<const Tensor> columns, std::span<const Tensor> outputs,
                      std::span<const double> scales, const auto& run) {
  visit(bound_.size() - 1, call, [&](const Node& node, const Bound& bound) {
    const HeadStep step(device_, batch_->tokens, training(), step_bound(node, bound),
                        {bound.inputs, bound.input_gradients, columns, outputs, losses_, scales,
                         batch_->picked, teacher_scores_});
    run(*node.head, step);
  });
}

void Pass::visit_layer(ValueIndex node, const std::function<void(const Node&, const Step&)>& look) {
  visit(static_cast<std::size_t>(node), loss_call, [&](const Node& of, const Bound& bound) {
    look(of, Step(device_, rows_of(of), training(), step_bound(of, bound)));
  });
}

bool Pass::learns_attention(const Node& node) const {
  return taught_ != nullptr && taught_->attention != no_value &&
         &node == &network_.nodes()[static_cast<std::size_t>(taught_->attention)];
}

Tensor Pass::picked_rows(const Node& node) const {
  return node.space == Space::sequences ? batch_->tokens.offsets : batch_->picked;
}

// --- forward ---

void Pass::forward() {
  forward(nullptr);
}

void Pass::forward_node(std::size_t i, bool of_sum) {
  visit(i, forward_call, [&](const Node& node, const Bound& bound) {
    Step::Bound found = step_bound(node, bound);
    if (of_sum) found.trunk = {};
    if (node.layer)
      node.layer->forward(Step(device_, rows_of(node), training(), found), seen_by_layer(bound, bound.inputs),
                          bound.output);
    else
      gather_rows(device_, bound.inputs[0], picked_rows(node), bound.output);
  });
}

Tensor Pass::forward_to(ValueIndex last) {
  for (std::size_t i = 0; i <= static_cast<std::size_t>(last); ++i) forward_node(i);
  return bound_[static_cast<std::size_t>(last)].output;
}

void Pass::forward_layers(const std::function<void(const Node&, const Step&, Tensor)>& seen) {
  for (std::size_t i = 0; i + 1 < bound_.size(); ++i) {
    forward_node(i);
    visit(i, forward_call, [&](const Node& node, const Bound& bound) {
      if (node.layer)
        seen(node, Step(device_, rows_of(node), training(), step_bound(node, bound)), bound.output);
    });
  }
}

void Pass::forward_states() {
  forward_states(nullptr);
}

void Pass::forward_states(const std::function<void(const std::string&, Tensor)>& seen) {
  for (std::size_t i = 0; i + 1 < bound_.size(); ++i) {
    if (plan_.nodes[i].first_pass_only && !batch_->first_pass) continue;
    forward_node(i);
    if (seen) seen(network_.nodes()[i].path, bound_[i].output);
  }
}

void Pass::forward(const std::function<void(const std::string&, Tensor)>& seen) {
  forward_states(seen);
  score();
}

void Pass::score() {
  visit_head(forward_call, batch_->columns, {}, {},
             [](Head& head, const HeadStep& step) { head.score(step); });
}

std::span<const Tensor> Pass::losses() {
  visit_head(loss_call, batch_->columns, {}, {}, [](Head& head, const HeadStep& step) { head.loss(step); });
  return losses_;
}

void Pass::decode(std::span<const Tensor> outputs) {
  visit_head(decode_call, structure_, outputs, {},
             [](Head& head, const HeadStep& step) { head.decode(step); });
}

// --- backward ---

void Pass::backward(std::span<const double> scales, const std::function<void(std::size_t)>& seen) {
  visit_head(backward_call, batch_->columns, {}, scales.first(losses_.size()),
             [](Head& head, const HeadStep& step) { head.backward(step); });
  add_gradients(plan_.nodes.back(), {});
  if (seen) seen(bound_.size() - 1);
  for (const auto& [i, work] : plan_.backward) {
    if (network_.nodes()[i].head) continue;
    if (work != BackwardCall::Work::backward) {
      forward_node(i, work == BackwardCall::Work::forward_of_sum);
      continue;
    }
    visit(i, backward_call, [&](const Node& node, const Bound& bound) {
      if (taught_ != nullptr && taught_->states == static_cast<ValueIndex>(i))
        kernels::relations_backward(device_, rows_of(node), bound.output, taught_->of_states, taught_->scale,
                                    bound.output_gradient);
      if (node.layer)
        node.layer->backward(Step(device_, rows_of(node), training(), step_bound(node, bound)),
                             seen_by_layer(bound, bound.inputs), bound.output, bound.output_gradient,
                             seen_by_layer(bound, bound.input_gradients));
      else
        scatter_rows(device_, bound.output_gradient, picked_rows(node), bound.input_gradients[0]);
      add_gradients(plan_.nodes[i], bound.output_gradient);
    });
    if (seen) seen(i);
  }
}

void Pass::add_gradients(const NodePlan& plan, Tensor output_gradient) const {
  for (const GradientSum& sum : plan.sums) {
    const Tensor total = resolve(sum.to);
    if (sum.copy) kernels::copy(device_, output_gradient, total);
    kernels::add(device_, resolve(sum.from), total);
  }
}

}  // namespace encore::model
