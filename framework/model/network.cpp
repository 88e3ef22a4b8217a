// SPDX-License-Identifier: BSD-3-Clause
// Implements Network: builds the nodes of a model from the experiment; the constructor is the model's flow,
// node by node. Model makes one. Paths of nodes and parameters name tensors in checkpoints, and
// random_stream() hashes them, so both must stay. Read network.hpp first; next step_plan.cpp for memory,
// pass.cpp for running it.
#include "model/network.hpp"

#include <algorithm>

#include "base/nearest.hpp"
#include "config/error.hpp"
#include "kernels/products/gemm.hpp"
#include "model/embedding.hpp"
#include "model/node_builder.hpp"
#include "model/relation_distillation.hpp"
#include "plugin_host/registry.hpp"

namespace encore::model {
namespace {

/// Blocks that run one after another, over the rows of one space.
struct Stack {
  std::string prefix;  ///< of its paths
  Space space = Space::tokens;
  bool causal = false;
  std::int64_t layers = 0;
  std::int64_t groups = 0;
  const std::vector<config::LayerTable>& block;
  ValueIndex memory = no_value;  ///< the rows of another stack that its layers may read

  std::string path(std::int64_t number, const std::string& name) const {
    return prefix + "." + std::to_string(number) + "." + name;
  }
};

/// Returns the first block of a block's group, whose parameters it uses. Blocks are cut into `groups` runs as
/// equal as possible, block b into run floor(b G / L) (Lan et al. 2020, who share among all blocks or among
/// such groups).
std::int64_t first_of_group(const Stack& stack, std::int64_t block) {
  if (stack.groups == 0) return block;
  const std::int64_t group = block * stack.groups / stack.layers;
  return (group * stack.layers + stack.groups - 1) / stack.groups;
}

std::optional<Distillation> scores_of(const std::optional<config::DistilTable>& table) {
  return table ? std::optional(table->scores) : std::nullopt;
}

DType element_type(config::Precision precision) {
  switch (precision) {
    case config::Precision::float64:
      return DType::float64;
    case config::Precision::bfloat16:
      return DType::bfloat16;
    case config::Precision::float16:
      return DType::float16;
    default:
      return DType::float32;
  }
}

}  // namespace

Network::Network(const config::Experiment& experiment, const ModelSize& size,
                 const plugin_host::Registry& registry, const Device& device)
    : head_(experiment.model.width),
      trained_(experiment.train),
      vocabulary_(size.vocabulary),
      targets_(size.targets > 0 ? size.targets : size.vocabulary),
      precision_(element_type(experiment.train.precision)),
      width_(experiment.model.width),
      max_length_(experiment.data.max_length),
      segments_(experiment.model.segments),
      causal_(experiment.model.causal || experiment.model.decoder),
      generated_space_(experiment.model.decoder ? Space::target : Space::tokens),
      recompute_(experiment.train.recompute),
      relations_(experiment.distil ? experiment.distil->relations : config::Relations()) {
  if (!device.gemm().multiplies(precision_))
    throw config::ConfigError(
        "train.precision", device.gemm().name() + " has no products of " + name_of(precision_) +
                               " matrices; set " +
                               (device.gemm().multiplies(DType::bfloat16) ? "\"bfloat16\"" : "\"float32\""));
  const config::ModelTable& model = experiment.model;
  NodeBuilder builder(nodes_, width_, registry);

  /// Adds the nodes from the rows x of a stack's embedding to those of its last block, or of its last norm.
  const auto add_blocks = [&](const Stack& stack, ValueIndex x) {
    const auto make = [&](const config::LayerTable& table, std::int64_t block, const std::string& name) {
      return registry.make_layer(table.type, table.options,
                                 {.width = width_,
                                  .max_length = max_length_,
                                  .block = block,
                                  .blocks = stack.layers,
                                  .causal = stack.causal,
                                  .first_block = block == 0 ? "" : stack.path(0, name)});
    };
    const auto layer = [&](std::int64_t block, const std::string& name, const config::LayerTable& table,
                           ValueIndex input) {
      return builder.add(stack.path(block, name), stack.path(first_of_group(stack, block), name), &table,
                         {input}, [&] { return make(table, block, name); });
    };
    const auto norm_of_sum = [&](std::int64_t block, const std::string& name, ValueIndex branch,
                                 ValueIndex trunk) {
      const InputSum sum{stack.path(block, name + ".residual"), model.dropout};
      return builder.add_norm_of_sum(sum, branch, trunk, stack.path(block, name + ".norm"),
                                     stack.path(first_of_group(stack, block), name + ".norm"), &model.norm,
                                     [&] { return make(model.norm, block, name + ".norm"); });
    };
    for (std::int64_t block = 0; block < stack.layers; ++block) {
      builder.begin_part(stack.prefix, stack.layers - block, block);
      for (const config::LayerTable& table : stack.block) {
        const std::string& name = table.name;
        if (model.norm_position == config::NormPosition::post) {  // norm(x + dropout(layer(x)))
          const ValueIndex branch = layer(block, name, table, x);
          x = norm_of_sum(block, name, branch, x);
        } else {  // x + dropout(layer(norm(x)))
          const ValueIndex normed = layer(block, name + ".norm", model.norm, x);
          const ValueIndex branch = layer(block, name, table, normed);
          x = builder.add_residual(stack.path(block, name + ".residual"), branch, x, model.dropout);
        }
      }
    }
    builder.begin_part(stack.prefix, 0);
    if (!model.ends_with_norm()) return x;
    return builder.add(stack.prefix + ".norm", stack.prefix + ".norm", &model.norm, {x}, [&] {
      return registry.make_layer(model.norm.type, model.norm.options,
                                 {.width = width_,
                                  .max_length = max_length_,
                                  .block = stack.layers,
                                  .blocks = stack.layers,
                                  .causal = stack.causal});
    });
  };
  /// Adds an embedding, which is a part of the model with the name `part`, and the blocks over it.
  const auto add_stack = [&](const Stack& stack, const std::string& part, const std::string& path,
                             const std::string& tied_to) {
    builder.begin(stack.space, stack.memory);
    builder.begin_part(part, stack.layers + 1);
    const std::int64_t table_width = model.table_width();
    builder.set_width(table_width);
    const EmbeddingOptions embedding = {
        .vocabulary = stack.space == Space::target ? targets_ : vocabulary_,
        .max_positions = std::max(model.max_positions, max_length_),
        .segments = stack.space == Space::tokens ? model.segments : 0,
        .positions = model.positions,
        .layout = model.position_layout,
        .scale = model.embedding_scale,
        .dropout = model.embedding_norm ? 0.0 : model.dropout,
        .precision = precision_,
        .tied_to = tied_to,
        .width_key = model.embedding_width > 0 ? "model.embedding_width" : "model.width"};
    ValueIndex x =
        builder.add(path, path, nullptr, {}, [&] { return make_embedding(device, table_width, embedding); });
    if (model.embedding_norm) {  // dropout(norm(sum of the vectors))
      const std::string norm = path + ".norm";
      x = builder.add(norm, norm, &model.norm, {x}, [&] {
        return registry.make_layer(model.norm.type, model.norm.options,
                                   {.width = table_width,
                                    .max_length = max_length_,
                                    .blocks = stack.layers,
                                    .causal = stack.causal});
      });
      if (model.dropout > 0.0) x = builder.add_dropout(norm + ".dropout", x, model.dropout);
    }
    if (model.embedding_width > 0) x = builder.add_projection(path + ".projection", x, width_);
    return add_blocks(stack, x);
  };

  // The head shares the table of the tokens that it predicts, which has the same path in all models.
  const bool has_two_tables = size.targets > 0;
  const ValueIndex states = add_stack({.prefix = "encoder",
                                       .causal = model.causal,
                                       .layers = model.layers,
                                       .groups = model.groups,
                                       .block = model.block},
                                      "embedding", has_two_tables ? "encoder.embedding" : "embedding", "");
  states_ = states;
  ValueIndex target = no_value;
  if (model.decoder)
    target = add_stack({.prefix = "decoder",
                        .space = Space::target,
                        .causal = true,
                        .layers = model.decoder->layers,
                        .block = model.decoder->block,
                        .memory = states},
                       "decoder.embedding", has_two_tables ? "embedding" : "decoder.embedding",
                       has_two_tables ? "" : token_table);

  const HeadContext context{.width = width_,
                            .classes = static_cast<std::int64_t>(size.labels.size()),
                            .label_smoothing = experiment.train.label_smoothing,
                            .labels = size.labels,
                            .vocabulary = targets_,
                            .columns = size.columns,
                            .embedding_width = model.table_width(),
                            .outputs = size.outputs,
                            .distillation = scores_of(experiment.distil)};
  builder.add_head(model.head, states, target, head_,
                   [&] { return registry.make_head(model.head.type, model.head.options, context); });
  require_fit(head_, experiment, size);
  require_readers(nodes_, experiment);
  require_aliases(nodes_, experiment);
  for (const ColumnNeed& need : head_.columns())
    truths_.push_back(std::ranges::find(size.columns, need.name, &ColumnRule::name)->truth);
  trained_.require_sound(nodes_);
  require_relations(*this, experiment);
}

bool Network::trains(const Node& node) const {
  return trained_.trains(node);
}

std::map<std::string, std::size_t> Network::first_users() const {
  std::map<std::string, std::size_t> first;
  for (std::size_t i = 0; i < nodes_.size(); ++i)
    for (const ParameterSpec& spec : nodes_[i].plan.parameters())
      first.try_emplace(path_of(nodes_[i], spec), i);
  return first;
}

data::BatchNeeds Network::needs() const {
  const std::vector<Space>& reads = head_.reads();
  return {
      .columns = head_.columns(),
      .losses = head_.losses(),
      .vocabulary = vocabulary_,
      .targets = targets_,
      .segments = segments_ > 1 ? segments_ : 0,  // RoBERTa has one row, which every token uses
      .picked = std::ranges::find(reads, Space::picked) != reads.end(),
      .target = std::ranges::any_of(nodes_, [](const Node& node) { return node.space == Space::target; })};
}

std::string path_of(const Node& node, const ParameterSpec& spec) {
  return spec.alias.empty() ? node.parameter_path + "." + spec.name : spec.alias;
}

std::vector<memory::NamedParameter> Network::parameters() const {
  return trained_.parameters(nodes_);
}

std::uint64_t random_stream(std::string_view path, std::string_view purpose) {
  // This is FNV-1a with 64 bits; the slash distinguishes "a" + "bc" from "ab" + "c".
  std::uint64_t hash = 14695981039346656037ULL;
  const auto add = [&hash](std::string_view text) {
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  };
  add(path);
  add("/");
  add(purpose);
  return hash;
}

}  // namespace encore::model
