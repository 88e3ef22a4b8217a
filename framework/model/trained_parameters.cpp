// SPDX-License-Identifier: BSD-3-Clause
// Implements TrainedParameters: applies train.freeze, train.layer_decay and train.lora to the parameters of a
// network, and checks that each option names what the network has. Network calls it. Checkpoints contain the
// paths, also those of the factors of adapters (".lora_a", ".lora_b"), so keep them. Read
// trained_parameters.hpp first; the adapters themselves are in memory/adapters.hpp.
#include "model/trained_parameters.hpp"

#include <algorithm>
#include <cmath>

#include "base/nearest.hpp"
#include "config/error.hpp"
#include "model/network.hpp"

namespace encore::model {
namespace {

/// Returns whether a parameter is a matrix of products. Matrices that are shared with another part get no
/// adapter.
bool can_have_adapter(const ParameterSpec& spec) {
  return spec.alias.empty() && spec.shape.size() == 2 && spec.element == Element::activation;
}

}  // namespace

TrainedParameters::TrainedParameters(const config::TrainTable& train)
    : freeze_(train.freeze),
      layer_decay_(train.layer_decay),
      lora_(train.lora),
      lora_rank_(train.lora_rank),
      lora_scale_(train.lora_alpha / static_cast<double>(train.lora_rank)) {}

std::vector<memory::NamedParameter> TrainedParameters::parameters(const std::vector<Node>& nodes) const {
  std::vector<memory::NamedParameter> parameters;
  for (const Node& node : nodes) {
    if (node.parameter_path != node.path) continue;  // another node lists them
    for (const ParameterSpec& spec : node.plan.parameters())
      if (spec.alias.empty()) add(node, spec, parameters);
  }
  // Several nodes may read a shared parameter: it has one row for each token only if all of them read it so,
  // and it has the type of activations if one of them reads it in that type.
  for (const Node& node : nodes)
    for (const ParameterSpec& spec : node.plan.parameters()) {
      if (spec.alias.empty()) continue;
      ParameterSpec& shared = std::ranges::find(parameters, spec.alias, &memory::NamedParameter::path)->spec;
      shared.token_rows = shared.token_rows && spec.token_rows;
      if (spec.element == Element::activation) shared.element = Element::activation;
    }
  return parameters;
}

/// Adds a parameter of a node, and its adapter if it has one. A starts with the deviation of the usual
/// U(-in^-0.5, in^-0.5), B with zeros, so at first the matrix is unchanged.
void TrainedParameters::add(const Node& node, const ParameterSpec& spec,
                            std::vector<memory::NamedParameter>& to) const {
  memory::NamedParameter parameter{.path = path_of(node, spec),
                                   .spec = spec,
                                   .frozen = is_frozen(path_of(node, spec)),
                                   .learning_rate = learning_rate(node)};
  if (!is_adapted(parameter.path, spec)) {
    to.push_back(std::move(parameter));
    return;
  }
  const std::int64_t out = spec.shape[0], in = spec.shape[1];
  memory::NamedParameter a{.path = parameter.path + ".lora_a",
                           .spec = {.name = spec.name + ".lora_a",
                                    .shape = {lora_rank_, in},
                                    .initializer = Initializer::normal,
                                    .deviation = 1.0 / std::sqrt(3.0 * static_cast<double>(in))},
                           .learning_rate = parameter.learning_rate,
                           .factor = true};
  memory::NamedParameter b{.path = parameter.path + ".lora_b",
                           .spec = {.name = spec.name + ".lora_b", .shape = {out, lora_rank_}},
                           .learning_rate = parameter.learning_rate,
                           .factor = true};
  parameter.frozen = true;
  parameter.adapter = {.a = a.path, .b = b.path, .scale = lora_scale_};
  to.push_back(std::move(parameter));
  to.push_back(std::move(a));
  to.push_back(std::move(b));
}

bool TrainedParameters::trains(const Node& node) const {
  return std::ranges::any_of(node.plan.parameters(), [&](const ParameterSpec& spec) {
    const std::string path = path_of(node, spec);
    return !is_frozen(path) || is_adapted(path, spec);
  });
}

bool TrainedParameters::is_frozen(const std::string& path) const {
  return std::ranges::any_of(freeze_, [&](const std::string& part) {
    return path == part || (path.starts_with(part) && path[part.size()] == '.');
  });
}

bool TrainedParameters::is_adapted(const std::string& path, const ParameterSpec& spec) const {
  return can_have_adapter(spec) && std::ranges::any_of(lora_, [&](const std::string& end) {
           return path == end || path.ends_with("." + end);
         });
}

/// Computes layer_decay^level (Sun et al. 2019, "How to fine-tune BERT for text classification") by products
/// of doubles, which are the same on every machine.
float TrainedParameters::learning_rate(const Node& node) const {
  double factor = 1.0;
  for (std::int64_t level = 0; level < node.level; ++level) factor *= layer_decay_;
  return static_cast<float>(factor);
}

void TrainedParameters::require_sound(const std::vector<Node>& nodes) const {
  require_adaptable(nodes);
  require_freezable(nodes);
}

void TrainedParameters::require_freezable(const std::vector<Node>& nodes) const {
  std::vector<std::string> parts;  // all valid names
  bool trained = false;
  for (const memory::NamedParameter& parameter : parameters(nodes)) {
    trained = trained || !parameter.frozen;
    for (std::size_t end = parameter.path.find('.'); end != std::string::npos;
         end = parameter.path.find('.', end + 1))
      parts.push_back(parameter.path.substr(0, end));
    parts.push_back(parameter.path);
  }
  for (const std::string& part : freeze_)
    if (std::ranges::find(parts, part) == parts.end())
      throw config::ConfigError("train.freeze",
                                "the model has no part \"" + part + "\"" + did_you_mean(part, parts));
  if (!trained)
    throw config::ConfigError("train.freeze", "every parameter is frozen; nothing is left to train");
}

void TrainedParameters::require_adaptable(const std::vector<Node>& nodes) const {
  if (lora_.empty()) return;
  std::vector<std::string> ends;  // all valid ends
  for (const Node& node : nodes)
    for (const ParameterSpec& spec : node.plan.parameters()) {
      if (!can_have_adapter(spec)) continue;
      const std::string path = path_of(node, spec);
      ends.push_back(path);
      for (std::size_t dot = path.find('.'); dot != std::string::npos; dot = path.find('.', dot + 1))
        ends.push_back(path.substr(dot + 1));
      if (is_adapted(path, spec) && lora_rank_ > std::min(spec.shape[0], spec.shape[1]))
        throw config::ConfigError("train.lora_rank",
                                  "rank " + std::to_string(lora_rank_) + " is more than \"" + path +
                                      "\" itself can have: it is " + std::to_string(spec.shape[0]) + " x " +
                                      std::to_string(spec.shape[1]));
    }
  for (const std::string& end : lora_)
    if (std::ranges::find(ends, end) == ends.end())
      throw config::ConfigError("train.lora",
                                "the model has no matrix \"" + end + "\"" + did_you_mean(end, ends));
}

}  // namespace encore::model
