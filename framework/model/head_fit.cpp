// SPDX-License-Identifier: BSD-3-Clause
// Implements require_fit(), require_readers() and require_aliases() of network.hpp: one check for each kind
// of mismatch between head, task and model, such as a column that the task does not fill. Network calls them
// when a model is built. Each throws ConfigError that names the key of the experiment that must change; tests
// compare the messages. Read network.hpp first.
#include "model/network.hpp"

#include <algorithm>

#include "config/error.hpp"

namespace encore::model {
namespace {

std::string quoted(const std::string& name) {
  return "\"" + name + "\"";
}

/// Returns "integers over tokens", "4 numbers over sequences".
std::string column_text(const ColumnNeed& need) {
  return (need.width > 1 ? std::to_string(need.width) + " " : "") +
         (need.type == ColumnType::integers ? "integers" : "numbers") + " over " + name_of(need.space);
}

[[noreturn]] void fail(const config::Experiment& experiment, const std::string& message) {
  throw config::ConfigError(experiment.model.head.key + ".type", message);
}

/// Throws unless the task fills each column as the head has declared it, because kernels read it in that
/// form.
void require_columns(const HeadPlan& head, const config::Experiment& experiment,
                     const std::vector<ColumnRule>& given) {
  for (const ColumnNeed& need : head.columns()) {
    const std::string reads = "the head " + quoted(experiment.model.head.type) + " reads the column " +
                              quoted(need.name) + " (" + column_text(need) + "), and the task " +
                              quoted(experiment.task.type) + " ";
    const auto found = std::ranges::find(given, need.name, &ColumnRule::name);
    if (found == given.end()) fail(experiment, reads + "has none of that name");
    const ColumnNeed rule{found->name, found->space, found->type, need.below, found->width};
    if (rule != need) fail(experiment, reads + "gives " + column_text(rule));
  }
}

/// Throws if the task weights examples and the head does not support weights: it would silently learn without
/// them.
void require_weights(const HeadPlan& head, const config::Experiment& experiment,
                     const std::vector<ColumnRule>& given) {
  const std::string name = weights_column;
  if (std::ranges::find(given, name, &ColumnRule::name) == given.end() ||
      std::ranges::find(head.columns(), name, &ColumnNeed::name) != head.columns().end())
    return;
  fail(experiment, "the task " + quoted(experiment.task.type) + " weighs what is learned (the column " +
                       quoted(name) + "), and the head " + quoted(experiment.model.head.type) +
                       " does not read it; take the weights out of [task], or name a head that reads them");
}

void require_outputs(const HeadPlan& head, const config::Experiment& experiment,
                     const std::vector<OutputRule>& wanted) {
  for (const OutputRule& rule : wanted) {
    const auto found = std::ranges::find(head.outputs(), rule.name, &OutputRule::name);
    if (found == head.outputs().end() || found->on_request || found->space != rule.space ||
        found->type != rule.type || (rule.width != 0 && rule.width != found->width))
      fail(experiment, "the task " + quoted(experiment.task.type) + " reads the output " + quoted(rule.name) +
                           " over " + name_of(rule.space) + ", which the head " +
                           quoted(experiment.model.head.type) + " does not give");
  }
}

/// Checks the segments that the task gives, if the model reads them.
void require_segments(const config::Experiment& experiment, const std::vector<ColumnRule>& given) {
  const auto found = std::ranges::find(given, std::string(segments_column), &ColumnRule::name);
  if (experiment.model.segments == 0 || found == given.end()) return;
  if (*found != ColumnRule{.name = segments_column})
    throw config::ConfigError(
        "model.segments", "the column \"" + found->name + "\" of the task " + quoted(experiment.task.type) +
                              " is not one of integers over tokens, known at prediction; a model "
                              "with segments cannot read it");
}

const ParameterSpec* find_own(const std::vector<Node>& nodes, const std::string& path) {
  for (const Node& node : nodes)
    for (const ParameterSpec& spec : node.plan.parameters())
      if (spec.alias.empty() && path_of(node, spec) == path) return &spec;
  return nullptr;
}

}  // namespace

void require_fit(const HeadPlan& head, const config::Experiment& experiment, const ModelSize& size) {
  require_columns(head, experiment, size.columns);
  require_weights(head, experiment, size.columns);
  require_segments(experiment, size.columns);
  require_outputs(head, experiment, size.outputs);
  if (experiment.distil && !head.learns_from_teacher())
    throw config::ConfigError(
        "distil", "the head " + quoted(experiment.model.head.type) +
                      " has no scores of classes by a softmax, so it cannot learn from a teacher; "
                      "take [distil] out, or name a head that has such scores");
  if (head.couples_sequences() && experiment.train.gradient_shards > 1)
    throw config::ConfigError("train.gradient_shards",
                              "the loss of the head " + quoted(experiment.model.head.type) +
                                  " depends on whole batches, which cannot be cut; set 1");
}

void require_readers(const std::vector<Node>& nodes, const config::Experiment& experiment) {
  std::vector<bool> is_read(nodes.size(), false);
  for (const Node& node : nodes)
    for (const ValueIndex input : node.inputs) is_read[static_cast<std::size_t>(input)] = true;
  for (std::size_t i = 0; i + 1 < nodes.size(); ++i) {
    if (is_read[i]) continue;
    if (nodes[i].space == Space::target)
      throw config::ConfigError(
          "model.decoder", "the head " + quoted(experiment.model.head.type) +
                               " reads nothing of the decoder; leave [model.decoder] out, or name a head "
                               "of the second text");
    throw config::ConfigError(
        "model.decoder.block",
        "no sub-layer of the decoder reads the encoder; name one that does, such as a cross_attention");
  }
}

void require_aliases(const std::vector<Node>& nodes, const config::Experiment& experiment) {
  for (const Node& node : nodes)
    for (const ParameterSpec& spec : node.plan.parameters()) {
      if (spec.alias.empty()) continue;
      const ParameterSpec* owner = find_own(nodes, spec.alias);
      if (owner == nullptr || owner->shape != spec.shape)
        fail(experiment,
             node.path + " shares the parameter " + quoted(spec.alias) + ", " +
                 (owner == nullptr ? "which this model does not have" : "which has another shape"));
    }
}

}  // namespace encore::model
