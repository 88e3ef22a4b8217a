// Which layers teach and learn, and where what is kept of a shard lies.
#include "model/relation_distillation.hpp"

#include <array>
#include <string>

#include <encore/error.hpp>

namespace encore {
namespace {

/// Null where the node is no such layer over the first text.
const HasRelations* relations_of(const Node& node) {
  return node.space == Space::tokens ? dynamic_cast<const HasRelations*>(node.layer.get()) : nullptr;
}

/// The last layer that has them.
ValueIndex last_with_relations(const Network& network) {
  for (auto i = std::ssize(network.nodes()) - 1; i >= 0; --i)
    if (relations_of(network.nodes()[static_cast<std::size_t>(i)]) != nullptr)
      return static_cast<ValueIndex>(i);
  return no_value;
}

const Node& node_at(const Network& network, ValueIndex value) {
  return network.nodes()[static_cast<std::size_t>(value)];
}

}  // namespace

RelationDistillation::RelationDistillation(const Relations& wanted, const Network& student,
                                           const Network& teacher, const Device& device)
    : device_(device), heads_(wanted.heads), type_(sum_type(student.precision())), student_(student) {
  const auto add = [&](const std::string& what, std::int64_t own, std::int64_t taught, double weight) {
    for (const auto& [of, width] : {std::pair("this model's", own), std::pair("its", taught)})
      if (width % heads_ != 0)
        throw Error("distil.relation_heads = " + std::to_string(heads_) + " does not divide the " +
                    std::to_string(width) + " channels of " + of + " " + what);
    parts_.push_back({taught, weight});
  };
  if (wanted.states > 0.0) {
    own_states_ = student.states();
    states_ = &node_at(teacher, teacher.states());
    add("states", node_at(student, own_states_).plan.width(), states_->plan.width(), wanted.states);
  }
  if (wanted.attention == 0.0) return;
  own_attention_ = last_with_relations(student);
  const ValueIndex taught = last_with_relations(teacher);
  for (const auto& [whose, value] :
       {std::pair("this model has", own_attention_), std::pair("it has", taught)})
    if (value == no_value)
      throw Error(std::string(whose) +
                  " no layer of softmax attention over its own rows, of which distil.attention is learned");
  attention_ = &node_at(teacher, taught);
  for (const char* part : {"queries", "keys", "values"})
    add(part, relations_of(node_at(student, own_attention_))->relation_width(),
        relations_of(*attention_)->relation_width(), wanted.attention / 3.0);
}

void RelationDistillation::plan(const BatchSize& largest) {
  const auto rows = static_cast<std::size_t>(largest.tokens), heads = static_cast<std::size_t>(heads_);
  copies_.clear();
  log_sums_.clear();
  losses_ = DeviceBuffer("encore::relation_losses", parts_.size() * rows * heads * size_of(type_));
  for (const Part& part : parts_) {
    copies_.emplace_back("encore::taught_rows", rows * static_cast<std::size_t>(part.width) * size_of(type_));
    log_sums_.emplace_back("encore::relation_sums", rows * heads * 2 * size_of(type_));
  }
}

TaughtRows RelationDistillation::of_shard(std::size_t part, std::int64_t rows) const {
  return {.heads = heads_,
          .weight = parts_[part].weight,
          .taught = Tensor(copies_[part].data(), type_, {rows, parts_[part].width}),
          .log_sums = Tensor(log_sums_[part].data(), type_, {rows, heads_, 2})};
}

void RelationDistillation::see(const Node& node, const Step& step, Tensor output) {
  std::size_t part = states_ != nullptr ? 1 : 0;
  const auto copy = [&](std::size_t of, const kernels::Slice& rows) {
    kernels::copy_relation_rows(device_, rows, of_shard(of, step.rows().size.tokens).taught);
  };
  if (&node == attention_)
    for (const kernels::Slice& rows : relations_of(node)->relation_parts(step)) copy(part++, rows);
  if (&node == states_) copy(0, output);
}

Tensor RelationDistillation::losses(const Pass& student) {
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
    const HasRelations::Parts parts =
        relations_of(node_at(student_, own_attention_))->relation_parts(student.step_of(own_attention_));
    for (std::size_t i = 0; i < parts.size(); ++i) taught_.of_attention.parts[i] = compare(parts[i]);
  }
  return {losses_.data(), type_, {static_cast<std::int64_t>(part) * tokens * heads_}};
}

const TaughtPass& RelationDistillation::taught(double scale) {
  taught_.of_attention.scale = scale;
  return taught_;
}

}  // namespace encore
