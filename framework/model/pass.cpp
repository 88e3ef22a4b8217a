// Forward in the order of the nodes, backward in reverse.
#include "model/pass.hpp"

#include <encore/kernels.hpp>

#include "model/residual.hpp"
#include "record/crash_line.hpp"

namespace encore {

Pass::Pass(const Network& network, const StepPlan& plan, const ParameterBlock& parameters,
           const Device& device, std::byte* arena)
    : network_(network), plan_(plan), device_(device), arena_(arena), bound_(network.nodes().size()) {
  for (std::size_t i = 0; i < bound_.size(); ++i) {
    const Node& node = network.nodes()[i];
    Bound& bound = bound_[i];
    bound.inputs.resize(plan.nodes[i].inputs.size());
    bound.buffers.resize(plan.nodes[i].buffers.size());
    bound.input_gradients.resize(plan.nodes[i].input_gradients.size());
    for (const ParameterSpec& spec : node.plan.parameters()) {
      const ParameterSlice& slice = parameters.find(node.parameter_path + "." + spec.name);
      bound.parameters.push_back(parameters.seen_by_passes(slice));
      bound.gradients.push_back(ParameterBlock::slice(parameters.shard_gradients(), slice));
    }
    for (const std::string& purpose : node.plan.streams())
      bound.keys.push_back({0, random_stream(node.path, purpose), 0});
    for (std::size_t call = 0; call < call_names.size(); ++call)
      bound.works[call] = work_text(call_names[call], node.path, node.owner);
    if (node.sum)
      bound.branch_dropout = {node.sum->dropout, {0, random_stream(node.sum->path, Residual::stream), 0}};
  }
}

Tensor Pass::resolve(int tensor) const {
  return tensor < 0 ? Tensor() : plan_.tensors[static_cast<std::size_t>(tensor)].in(batch_.size, arena_);
}

Tensor Pass::tensor(const std::string& path) const {
  for (const PlanTensor& tensor : plan_.tensors)
    if (tensor.path == path) return tensor.in(batch_.size, arena_);
  ENCORE_REQUIRE(false, "the plan has no tensor \"" + path + "\"");
  return {};
}

void Pass::start(const Batch& batch, std::uint64_t seed, std::uint64_t step) {
  ENCORE_REQUIRE(plan_.holds(batch.size), "the batch is larger than what Model::plan was told");
  ENCORE_REQUIRE(batch.size.longest <= network_.max_length(), "a sequence is longer than data.max_length");
  batch_ = batch;
  const auto resolve_all = [this](const std::vector<int>& from, std::vector<Tensor>& to) {
    for (std::size_t k = 0; k < from.size(); ++k) to[k] = resolve(from[k]);
  };
  for (std::size_t i = 0; i < bound_.size(); ++i) {
    const NodePlan& plan = plan_.nodes[i];
    Bound& bound = bound_[i];
    resolve_all(plan.inputs, bound.inputs);
    resolve_all(plan.buffers, bound.buffers);
    resolve_all(plan.input_gradients, bound.input_gradients);
    bound.output = resolve(plan.output);
    bound.output_gradient = resolve(plan.output_gradient);
    for (RandomKey& key : bound.keys) key = {seed, key.stream, step};
    bound.branch_dropout.key = {seed, bound.branch_dropout.key.stream, step};
  }
}

void Pass::visit(std::size_t node, Call call, const auto& run) {
  const Bound& bound = bound_[node];
  const CurrentWork work(bound.works[call].c_str());
  Step step(device_, batch_, plan_.training);
  step.bind(bound.parameters, bound.gradients, bound.buffers, bound.keys, bound.branch_dropout);
  try {
    run(network_.nodes()[node], bound, step);
  } catch (const std::exception& error) {
    throw Error(std::string(call_names[call]) + " of " + network_.nodes()[node].path + ": " + error.what());
  }
}

void Pass::forward() {
  forward(nullptr);
}

void Pass::forward(const std::function<void(const std::string&, Tensor)>& seen) {
  for (std::size_t i = 0; i + 1 < bound_.size(); ++i)
    visit(i, forward_call, [&](const Node& node, const Bound& bound, const Step& step) {
      node.layer->forward(step, bound.inputs, bound.output);
      if (seen) seen(node.path, bound.output);
    });
}

Tensor Pass::loss(Tensor targets) {
  const std::size_t head = bound_.size() - 1;
  visit(head, loss_call, [&](const Node& node, const Bound& bound, const Step& step) {
    node.head->loss(step, bound.inputs[0], targets, bound.output);
  });
  return bound_[head].output;
}

void Pass::backward(Tensor targets, double scale) {
  for (std::size_t i = bound_.size(); i-- > 0;)
    visit(i, backward_call, [&](const Node& node, const Bound& bound, const Step& step) {
      if (node.head)
        node.head->backward(step, bound.inputs[0], targets, scale, bound.input_gradients[0]);
      else
        node.layer->backward(step, bound.inputs, bound.output, bound.output_gradient, bound.input_gradients);
      add_gradients(plan_.nodes[i], bound.output_gradient);
    });
}

void Pass::add_gradients(const NodePlan& plan, Tensor output_gradient) const {
  for (const GradientSum& sum : plan.sums) {
    const Tensor total = resolve(sum.to);
    if (sum.copy) kernels::copy(device_, output_gradient, total);
    kernels::add(device_, resolve(sum.from), total);
  }
}

void Pass::decode(Tensor mask, Tensor predictions) {
  visit(bound_.size() - 1, decode_call, [&](const Node& node, const Bound& bound, const Step& step) {
    node.head->decode(step, bound.inputs[0], mask, predictions);
  });
}

}  // namespace encore
