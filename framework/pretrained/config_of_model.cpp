// SPDX-License-Identifier: BSD-3-Clause
// pretrained_config_of(): converts a model to the numbers of a config.json, the reverse of implied_options(),
// and refuses options that config.json cannot express. The worker's export calls it. A refusal is better than
// a folder that computes other numbers. Declared in pretrained_config.hpp.
#include <algorithm>

#include "base/nearest.hpp"
#include "pretrained/pretrained_config.hpp"

namespace encore::pretrained {

namespace {

/// Compares a model with the shape of a family.
class Stack {
 public:
  Stack(const Family& family, const config::ModelTable& model) : family_(family), model_(model) {}

  /// Requires the shape that all models of the family have.
  void require_shape() const {
    const FamilyShape& shape = family_.shape;
    if (!model_.decoder && shape.decoder) refuse("decoder", "none", "a decoder too");
    if (model_.decoder && !shape.decoder)
      throw Error("[model.decoder] cannot be written as a " + std::string(family_.name) + ", which is " +
                  (shape.causal ? "one stack" : "an encoder alone"));
    if (model_.causal && !shape.causal) refuse("causal", "true", "tokens that see all others");
    if (!model_.causal && shape.causal) refuse("causal", "false", "tokens that see those before them only");
    if ((model_.norm_position == config::NormPosition::pre) != shape.pre_norm)
      refuse("norm_position", shape.pre_norm ? "\"post\"" : "\"pre\"",
             shape.pre_norm ? "a norm before each sub-layer" : "a norm after each sum");
    if (model_.ends_with_norm() != shape.pre_norm)
      refuse("final_norm", shape.pre_norm ? "false" : "true",
             shape.pre_norm ? "a norm behind its last block" : "no other norm behind its last block");
    if (model_.embedding_norm != shape.embedding_norm)
      refuse("embedding_norm", shape.embedding_norm ? "false" : "true",
             shape.embedding_norm ? "a norm behind the embedding" : "no norm behind the embedding");
    if (model_.segments != 0 && *family_.config.segments == '\0')
      refuse("segments", std::to_string(model_.segments), "no segments");
  }

  /// Requires what all families have in common.
  void require_common() const {
    if (model_.groups != 0)
      refuse("groups", std::to_string(model_.groups), "parameters of its own in every block");
    const FamilyShape& shape = family_.shape;
    const auto quoted = [](const char* name) { return "\"" + std::string(name) + "\""; };
    if (model_.positions != shape.positions)
      refuse("positions", quoted(config::name_of(model_.positions)),
             quoted(config::name_of(shape.positions)) + " positions");
    if (model_.position_layout != shape.position_layout)
      refuse("position_layout", quoted(config::name_of(model_.position_layout)),
             quoted(config::name_of(shape.position_layout)) + " in this place");
    if (model_.embedding_width != 0)
      refuse("embedding_width", std::to_string(model_.embedding_width), "tables as wide as the model");
    if (model_.norm.type != shape.norm) refuse("norm", "\"" + model_.norm.type + "\"", quoted(shape.norm));
    if (model_.embedding_scale != config::EmbeddingScale::none && *family_.config.scaled == '\0')
      refuse("embedding_scale", "\"sqrt_width\"", "an embedding that is not scaled (\"none\")");
  }

  /// Requires the options that products of layers and head have beside their matrices.
  void require_options() const {
    const FamilyShape& shape = family_.shape;
    for (const std::vector<config::LayerTable>* block :
         {&model_.block, model_.decoder ? &model_.decoder->block : nullptr})
      for (const config::LayerTable& layer : block == nullptr ? std::vector<config::LayerTable>() : *block) {
        require_flag("layer." + layer.name + ".bias", layer.options, "bias", shape.biases, "biases");
        require_flag("layer." + layer.name + ".scaled", layer.options, "scaled", shape.scaled_scores,
                     "scores that are divided");
      }
    if (*family_.config.scaled_states == '\0')
      require_flag("head.scaled", model_.head.options, "scaled", false, "states that are divided");
    require_head_activation();
  }

  /// Requires that the head for masked words has the activation of the layers; for RoBERTa gelu.
  void require_head_activation() const {
    const Options& head = model_.head.options;
    if (!head.has("transform") || !head.flag("transform")) return;
    const std::string named = head.text("activation");
    const std::string written = std::string(family_.model_type) == "roberta"
                                    ? "gelu"
                                    : model_.block.back().options.text("activation");
    if (named != written)
      refuse("head.activation", "\"" + named + "\"", "\"" + written + "\" there, as for its layers");
  }

  /// Requires that the sub-layers of a block are of these types.
  void require_types(const std::string& option, const std::vector<config::LayerTable>& block,
                     const std::vector<std::string>& types) const {
    if (block.size() != types.size()) {
      std::vector<std::string> names;
      for (const config::LayerTable& layer : block) names.push_back(layer.name);
      refuse(option, "[" + quoted_list(names) + "]",
             "a " + types.front() + (types.size() == 2 ? "" : ", a cross_attention") +
                 std::string(" and a feed_forward in each block"));
    }
    for (std::size_t i = 0; i < types.size(); ++i)
      if (block[i].type != types[i])
        refuse("layer." + block[i].name + ".type", "\"" + block[i].type + "\"",
               "\"" + types[i] + "\" in this place");
  }

  /// Requires equal layers in both stacks: config.json has numbers for each stack, but an imported model has
  /// one number for both.
  void require_same_layers() const {
    const auto compare = [&](const config::LayerTable& ours, const config::LayerTable& theirs,
                             const char* option) {
      const auto number = [&](const Options& of) { return of.has(option) ? of.integer(option) : 0; };
      if (number(theirs.options) != number(ours.options))
        refuse("layer." + theirs.name + "." + option, std::to_string(number(theirs.options)),
               "the same number in both stacks here");
    };
    const std::vector<config::LayerTable>& decoder = model_.decoder->block;
    compare(model_.block[0], decoder[0], "heads");
    compare(model_.block[0], decoder[1], "heads");
    compare(model_.block[0], decoder[0], "head_size");
    compare(model_.block[0], decoder[1], "head_size");
    for (const char* option : {"buckets", "max_distance"}) compare(model_.block[0], decoder[0], option);
    compare(model_.block[1], decoder[2], "hidden");
  }

  /// Requires the flag of layers that have such an option.
  void require_flag(const std::string& path, const Options& options, const char* option, bool expected,
                    const std::string& what) const {
    if (options.has(option) && options.flag(option) != expected)
      refuse(path, expected ? "false" : "true", (expected ? "" : "no ") + what);
  }

  [[noreturn]] void refuse(const std::string& option, const std::string& value,
                           const std::string& remedy) const {
    throw Error("model." + option + " = " + value + " cannot be written as a " + family_.name +
                ", which has " + remedy);
  }

 private:
  const Family& family_;
  const config::ModelTable& model_;
};

}  // namespace

PretrainedConfig pretrained_config_of(const Family& family, const config::ModelTable& model,
                                      std::int64_t tokens, std::int64_t max_length) {
  const Stack stack(family, model);
  stack.require_shape();
  stack.require_common();
  const std::string attention_type = family.shape.attention;
  const bool gated = family.shape.gates && model.block.back().type == "gated_feed_forward";
  const std::string hidden_type = gated ? "gated_feed_forward" : "feed_forward";
  stack.require_types("block", model.block, {attention_type, hidden_type});
  if (model.decoder) {
    stack.require_types("decoder.block", model.decoder->block,
                        {attention_type, "cross_attention", hidden_type});
    stack.require_same_layers();
  }
  stack.require_options();
  const config::LayerTable &attention = model.block[0], &feed_forward = model.block[1];
  const auto number = [&](const char* option, std::int64_t otherwise) {
    return attention.options.has(option) ? attention.options.integer(option) : otherwise;
  };
  const auto of_head = [&](const char* option, bool otherwise) {
    return model.head.options.has(option) ? model.head.options.flag(option) : otherwise;
  };
  const std::int64_t heads = attention.options.integer("heads");
  if (*family.config.head_size == '\0' && attention.options.has("head_size") &&
      attention.options.integer("head_size") * attention.options.integer("heads") != model.width)
    stack.refuse("layer." + attention.name + ".head_size",
                 std::to_string(attention.options.integer("head_size")), "heads of width / heads channels");
  return {.model_type = family.model_type,
          .tokens = tokens,
          .width = model.width,
          .layers = model.layers,
          .decoder_layers = model.decoder ? model.decoder->layers : 0,
          .heads = heads,
          .head_size = number("head_size", model.width / heads),
          .hidden = feed_forward.options.integer("hidden"),
          .max_positions = model.max_positions == 0 ? max_length : model.max_positions,
          .first_position = 0,
          .segments = *family.config.segments == '\0' ? 0 : std::max<std::int64_t>(model.segments, 1),
          .activation = feed_forward.options.text("activation"),
          .gated = gated,
          .buckets = number("buckets", 0),
          .max_distance = number("max_distance", 0),
          .epsilon = model.norm.options.number("epsilon"),
          .scaled = model.embedding_scale == config::EmbeddingScale::sqrt_width,
          .scaled_states = of_head("scaled", false),
          .tied = of_head("tied", true),
          .target_start = "start",
          .dropout = model.dropout,
          .attention_dropout = attention.options.number("attention_dropout")};
}

}  // namespace encore::pretrained
