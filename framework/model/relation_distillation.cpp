// SPDX-License-Identifier: BSD-3-Clause
// Implements RelationDistillation: finds the layers of teacher and student whose relations are compared,
// allocates memory for the teacher's rows of a shard, and computes losses and gradients with
// kernels/attention/relations.cpp. Model's training passes call it. Read relation_distillation.hpp first.
#include "model/relation_distillation.hpp"

#include <array>
#include <string>
#include <tuple>

#include <encore/error.hpp>
#include <encore/head.hpp>

#include "config/error.hpp"

namespace encore::model {
namespace {

/// Returns the relations of a node; null if it is not a layer with relations over the first text.
const HasRelations* relations_of(const Node& node) {
  return node.space == Space::tokens ? dynamic_cast<const HasRelations*>(node.layer.get()) : nullptr;
}

const Node& node_at(const Network& network, ValueIndex value) {
  return network.nodes()[static_cast<std::size_t>(value)];
}

/// A number of channels that the heads must divide, and its name in messages.
struct Width {
  std::string what;
  std::int64_t channels = 0;
};

std::string not_divided(std::int64_t heads, const char* whose, const Width& width) {
  return "distil.relation_heads = " + std::to_string(heads) + " does not divide the " +
         std::to_string(width.channels) + " channels of " + whose + " " + width.what;
}

/// Returns the widths of the states and of the queries, keys and values of a network, if they are wanted.
std::vector<Width> widths_of(const Network& network, const config::Relations& wanted) {
  std::vector<Width> widths;
  if (wanted.states > 0.0) widths.push_back({"states", node_at(network, network.states()).plan.width()});
  const ValueIndex attention = last_with_relations(network);
  if (wanted.attention > 0.0 && attention != no_value)
    widths.push_back(
        {"queries, keys and values", relations_of(node_at(network, attention))->relation_width()});
  return widths;
}

constexpr const char* no_attention =
    " no layer of softmax attention over its own rows, of which distil.attention is learned";

/// Returns whether a gradient of what the node has written reaches a parameter.
bool learns(const Network& network, ValueIndex value) {
  for (ValueIndex i = 0; i <= value; ++i)
    if (network.trains(node_at(network, i))) return true;
  return false;
}

}  // namespace

ValueIndex last_with_relations(const Network& network) {
  for (auto i = std::ssize(network.nodes()) - 1; i >= 0; --i)
    if (relations_of(network.nodes()[static_cast<std::size_t>(i)]) != nullptr)
      return static_cast<ValueIndex>(i);
  return no_value;
}

void require_relations(const Network& student, const config::Experiment& experiment) {
  const config::Relations& wanted = student.relations();
  if (!wanted.any()) return;
  const ValueIndex attention = last_with_relations(student);
  if (wanted.attention > 0.0 && attention == no_value)
    throw config::ConfigError("distil.attention", std::string("this model has") + no_attention);
  for (const Width& width : widths_of(student, wanted))
    if (width.channels % wanted.heads != 0)
      throw config::ConfigError("distil.relation_heads", not_divided(wanted.heads, "this model's", width));
  for (const auto& [weight, key, value] : {std::tuple(wanted.states, "distil.states", student.states()),
                                           std::tuple(wanted.attention, "distil.attention", attention)})
    if (weight > 0.0 && !learns(student, value))
      throw config::ConfigError(
          key, "nothing learns from this: train.freeze freezes every parameter behind these rows");
  if (experiment.train.batching == config::Batching::padded)
    throw config::ConfigError("train.batching",
                              "states and attention are learned of packed batches, since padding "
                              "would be learned too; set \"packed\"");
  if (student.head().losses().size() == most_losses)
    throw config::ConfigError("distil", "the head has " + std::to_string(most_losses) +
                                            " losses, and there is no room for that of states and attention");
}

RelationDistillation::RelationDistillation(const Network& student, const Network& teacher,
                                           const Device& device)
    : device_(device),
      heads_(student.relations().heads),
      type_(sum_type(student.precision())),
      student_(student) {
  const config::Relations& wanted = student.relations();
  if (wanted.states > 0.0) {
    own_states_ = student.states();
    states_ = &node_at(teacher, teacher.states());
    parts_.push_back({states_->plan.width(), wanted.states});
  }
  if (wanted.attention > 0.0) {
    const ValueIndex taught = last_with_relations(teacher);
    if (taught == no_value) throw Error(std::string("it has") + no_attention);
    own_attention_ = last_with_relations(student);
    attention_ = &node_at(teacher, taught);
    for (int part = 0; part < 3; ++part)
      parts_.push_back({relations_of(*attention_)->relation_width(), wanted.attention / 3.0});
  }
  for (const Width& width : widths_of(teacher, wanted))
    if (width.channels % heads_ != 0) throw Error(not_divided(heads_, "its", width));
}

void RelationDistillation::plan(const BatchSize& largest) {
  const auto rows = static_cast<std::size_t>(largest.tokens), heads = static_cast<std::size_t>(heads_);
  copies_.clear();
  log_sums_.clear();
  losses_ = memory::DeviceBuffer("encore::relation_losses", parts_.size() * rows * heads * size_of(type_));
  for (const Part& part : parts_) {
    copies_.emplace_back("encore::taught_rows", rows * static_cast<std::size_t>(part.width) * size_of(type_));
    log_sums_.emplace_back("encore::relation_sums", rows * heads * 2 * size_of(type_));
  }
}

TaughtRows RelationDistillation::of_shard(std::size_t part, std::int64_t rows) const {
  return {.heads = heads_,
          .weight = parts_[part].weight,
          .teacher = Tensor(copies_[part].data(), type_, {rows, parts_[part].width}),
          .log_sums = Tensor(log_sums_[part].data(), type_, {rows, heads_, 2})};
}

void RelationDistillation::copy_rows_of(const Node& node, const Step& step, Tensor output) {
  std::size_t part = states_ != nullptr ? 1 : 0;
  const auto copy = [&](std::size_t of, const kernels::Slice& rows) {
    kernels::copy_relation_rows(device_, rows, of_shard(of, step.rows().size.tokens).teacher);
  };
  if (&node == attention_)
    for (const kernels::Slice& rows : relations_of(node)->relation_parts(step)) copy(part++, rows);
  if (&node == states_) copy(0, output);
}

Tensor RelationDistillation::losses(Pass& student) {
  const RowSet& rows = student.rows();
  const std::int64_t tokens = rows.size.tokens;
  std::size_t part = 0;
  const auto compare = [&](const kernels::Slice& own) {
    std::byte* place = losses_.data() + part * static_cast<std::size_t>(tokens * heads_) * size_of(type_);
    const TaughtRows taught = of_shard(part++, tokens);
    kernels::relations_loss(device_, rows, own, taught, Tensor(place, type_, {tokens, heads_}));
    return taught;
  };
  if (own_states_ != no_value) {
    taught_.states = own_states_;
    taught_.of_states = compare(student.output(own_states_));
  }
  if (own_attention_ != no_value) {
    taught_.attention = own_attention_;
    student.visit_layer(own_attention_, [&](const Node& node, const Step& step) {
      const HasRelations::Parts parts = relations_of(node)->relation_parts(step);
      for (std::size_t i = 0; i < parts.size(); ++i) taught_.of_attention.parts[i] = compare(parts[i]);
    });
  }
  return {losses_.data(), type_, {static_cast<std::int64_t>(part) * tokens * heads_}};
}

const TaughtPass& RelationDistillation::taught(double scale) {
  taught_.scale = taught_.of_attention.scale = scale;
  return taught_;
}

}  // namespace encore::model
