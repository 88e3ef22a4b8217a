// SPDX-License-Identifier: BSD-3-Clause
// NodeBuilder makes the nodes of a network one after another and lets each declare the parameters, buffers
// and matrix products it needs. network.cpp calls it and decides which node follows which; the paths it makes
// name parameters in checkpoints. Read network.hpp first.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "config/error.hpp"
#include "model/embedding.hpp"
#include "model/network.hpp"
#include "model/residual.hpp"
#include "plugin_host/registry.hpp"
#include "record/crash_line.hpp"

namespace encore::model {

class NodeBuilder {
 public:
  NodeBuilder(std::vector<Node>& nodes, std::int64_t width, const plugin_host::Registry& registry)
      : nodes_(nodes), width_(width), registry_(registry) {}

  /// Begins a stack over the rows of this space, whose layers may read the rows of `memory`.
  void begin(Space space, ValueIndex memory) {
    space_ = space;
    memory_ = memory;
  }

  /// Sets C of the nodes that follow; at first it is that of the model.
  void set_width(std::int64_t width) { width_ = width; }

  /// Sets Node::part, Node::level and Node::block of the nodes that follow.
  void begin_part(const std::string& part, std::int64_t level, std::int64_t block = -1) {
    part_ = part;
    level_ = level;
    block_ = block;
  }

  /// Adds the layer that make() returns, with the rows of an encoder as a further input if it reads them.
  /// `table`: the table of the experiment that names the layer; null: it is the model's own. Returns its
  /// number.
  ValueIndex add(const std::string& path, const std::string& parameter_path, const config::PluginTable* table,
                 std::vector<ValueIndex> inputs, const auto& make) {
    Node node = make_node(path, parameter_path, table, std::move(inputs), make);
    if (node.plan.reads_memory()) {
      if (memory_ == no_value)
        throw config::ConfigError(table->key,
                                  path + " reads the rows of an encoder; it is for the blocks of a decoder");
      node.inputs.push_back(memory_);
    }
    return push(std::move(node));
  }

  /// Adds norm(trunk + dropout(branch)): one node if the norm takes a sum and may leave it in the branch's
  /// memory, else two.
  ValueIndex add_norm_of_sum(const InputSum& sum, ValueIndex branch, ValueIndex trunk,
                             const std::string& path, const std::string& parameter_path,
                             const config::PluginTable* table, const auto& make) {
    Node node = make_node(path, parameter_path, table, {branch, trunk}, make);
    if (node.plan.takes_sum() && !nodes_[static_cast<std::size_t>(branch)].plan.reads_output())
      node.sum = sum;
    else
      node.inputs = {add_residual(sum.path, branch, trunk, sum.dropout)};
    return push(std::move(node));
  }

  ValueIndex add_residual(const std::string& path, ValueIndex branch, ValueIndex trunk, double dropout) {
    Node node = node_of(path, LayerPlan(width_), {branch, trunk});
    node.space = space_;
    node.layer = std::make_unique<Residual>(dropout);
    node.in_place_input = 0;
    node.passed_inputs = {1};
    if (dropout == 0.0) node.passed_inputs = {0, 1};
    node.layer->declare(node.plan);
    return push(std::move(node));
  }

  /// Adds dropout(x) in the memory of x.
  ValueIndex add_dropout(const std::string& path, ValueIndex x, double dropout) {
    Node node = node_of(path, LayerPlan(width_), {x});
    node.space = space_;
    node.layer = make_dropout(dropout);
    node.in_place_input = 0;
    node.layer->declare(node.plan);
    return push(std::move(node));
  }

  /// Adds x W^T + b, from rows of the current width to `width` channels, which becomes the current width.
  ValueIndex add_projection(const std::string& path, ValueIndex x, std::int64_t width) {
    Node node = node_of(path, LayerPlan(width), {x});
    node.space = space_;
    node.layer = make_projection(width_);
    node.layer->declare(node.plan);
    width_ = width;
    return push(std::move(node));
  }

  /// Adds the head. It reads the states themselves, or rows of them that nodes before it pick. `target` are
  /// the states over the second text, if there is one.
  void add_head(const config::PluginTable& table, ValueIndex states, ValueIndex target, HeadPlan& plan,
                const auto& make) {
    part_ = "head";
    Node node = node_of("head", LayerPlan(width_), {});
    node.type = table.type;
    with_key(&table, "head", [&] {
      node.owner = registry_.owner_text(Kind::head, table.type);
      node.head = make();
      declare(*node.head, node, plan);
      require_sound(plan, target != no_value);
    });
    node.plan = plan;
    for (const Space space : plan.reads())
      node.inputs.push_back(space == Space::tokens   ? states
                            : space == Space::target ? target
                                                     : add_pick(states, space));
    node.space = plan.loss_space();
    push(std::move(node));
  }

 private:
  static Node node_of(const std::string& path, LayerPlan plan, std::vector<ValueIndex> inputs) {
    return {.path = path,
            .parameter_path = path,
            .layer = nullptr,
            .head = nullptr,
            .plan = std::move(plan),
            .inputs = std::move(inputs)};
  }

  ValueIndex add_pick(ValueIndex states, Space space) {
    Node node = node_of(std::string("head.") + name_of(space), LayerPlan(width_), {states});
    node.space = space;
    node.plan.backward_reads(false, false);
    return push(std::move(node));
  }

  static void require_sound(const HeadPlan& plan, bool has_target) {
    if (plan.reads().empty()) throw Error("the head reads no space (HeadPlan::read)");
    for (const Space space : plan.reads()) {
      if (std::count(plan.reads().begin(), plan.reads().end(), space) > 1)
        throw Error(std::string("the head reads the space ") + name_of(space) + " twice");
      if (space == Space::target && !has_target)
        throw Error(
            "the head reads the rows of a second text, for which this model has no stack; add a "
            "[model.decoder]");
      if (space == Space::ragged)
        throw Error(std::string("the head cannot read the space ") + name_of(space) + " of this model");
    }
    plan.loss_space();  // throws if the head names none
  }

  Node make_node(const std::string& path, const std::string& parameter_path, const config::PluginTable* table,
                 std::vector<ValueIndex> inputs, const auto& make) const {
    Node node = node_of(path, LayerPlan(width_), std::move(inputs));
    node.space = space_;
    node.parameter_path = parameter_path;
    with_key(table, path, [&] {
      if (table != nullptr) {
        node.type = table->type;
        node.owner = registry_.owner_text(Kind::layer, table->type);
      }
      node.layer = make();
      declare(*node.layer, node, node.plan);
    });
    if (parameter_path != path) require_equal_parameters(node);
    return node;
  }

  static void declare(auto& part, const Node& node, auto& plan) {
    const std::string text = record::work_text("declaration", node.path, node.owner);
    const record::CurrentWork work(text.c_str());
    part.declare(plan);
  }

  ValueIndex push(Node node) {
    node.level = level_;
    node.part = part_;
    node.block = block_;
    nodes_.push_back(std::move(node));
    return static_cast<ValueIndex>(nodes_.size()) - 1;
  }

  /// Throws if a node cannot share parameters with the first of its group: a layer may declare shapes that
  /// depend on its block.
  void require_equal_parameters(const Node& node) const {
    const auto owner = std::find_if(nodes_.begin(), nodes_.end(),
                                    [&](const Node& other) { return other.path == node.parameter_path; });
    const auto equal = [](const ParameterSpec& a, const ParameterSpec& b) {
      return a.name == b.name && a.shape == b.shape && a.element == b.element && a.token_rows == b.token_rows;
    };
    if (!std::equal(owner->plan.parameters().begin(), owner->plan.parameters().end(),
                    node.plan.parameters().begin(), node.plan.parameters().end(), equal))
      throw config::ConfigError("model.groups",
                                node.path + " cannot share the parameters of " + owner->path +
                                    ": it declares other names, shapes or types; set groups = 0");
  }

  /// Runs a declaration and adds the dotted key of the experiment to an error: a layer knows its options only
  /// by name.
  static void with_key(const config::PluginTable* table, const std::string& path, const auto& build) {
    if (table == nullptr) return build();
    try {
      build();
    } catch (const OptionError& error) {
      throw config::ConfigError(table->key + "." + error.option(), error.what());
    } catch (const config::ConfigError&) {
      throw;
    } catch (const Error& error) {
      throw config::ConfigError(table->key, path + ": " + error.what());
    } catch (const OptionMisuse& error) {
      throw config::ConfigError(table->key, path + ": " + error.what());
    }
  }

  std::vector<Node>& nodes_;
  std::int64_t width_;  ///< of the outputs of the nodes that follow
  const plugin_host::Registry& registry_;
  Space space_ = Space::tokens;   ///< of the nodes that follow
  ValueIndex memory_ = no_value;  ///< what they may read
  std::string part_;
  std::int64_t level_ = 0;
  std::int64_t block_ = -1;
};

}  // namespace encore::model
