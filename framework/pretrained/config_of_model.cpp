// The way back of bert_config.hpp: a model as the numbers of a config.json, and what there is no word for.
#include <algorithm>

#include "pretrained/bert_config.hpp"

namespace encore {

namespace {

/// Throws the reason why export has no word for an option.
[[noreturn]] void refuse(const std::string& option, const std::string& value, const std::string& remedy) {
  throw Error("model." + option + " = " + value + " cannot be written as a BERT, which has " + remedy);
}

/// What BERT and GPT-2 have in common.
void require_stack(const ModelTable& model) {
  if (model.groups != 0)
    refuse("groups", std::to_string(model.groups), "parameters of its own in every block");
  if (model.positions != Positions::learned) refuse("positions", "\"sinusoidal\"", "\"learned\" positions");
  if (model.embedding_width != 0)
    refuse("embedding_width", std::to_string(model.embedding_width), "tables as wide as the model");
  if (model.norm.type != "layer_norm") refuse("norm", "\"" + model.norm.type + "\"", "\"layer_norm\"");
  if (model.embedding_scale != EmbeddingScale::none)
    refuse("embedding_scale", "\"sqrt_width\"", "an embedding that is not scaled (\"none\")");
}

void require_bert_stack(const ModelTable& model) {
  if (model.decoder) throw Error("[model.decoder] cannot be written as a BERT, which is an encoder alone");
  if (model.causal) refuse("causal", "true", "tokens that see all others");
  if (model.norm_position != NormPosition::post) refuse("norm_position", "\"pre\"", "a norm after each sum");
  if (model.ends_with_norm()) refuse("final_norm", "true", "no other norm behind its last block");
  if (!model.embedding_norm) refuse("embedding_norm", "false", "a norm behind the embedding");
}

void require_gpt2_stack(const ModelTable& model) {
  const auto refuse_gpt2 = [](const std::string& option, const std::string& has) {
    throw Error("model." + option + " cannot be written as a GPT-2, which has " + has);
  };
  if (model.decoder) throw Error("[model.decoder] cannot be written as a GPT-2, which is one stack");
  if (model.norm_position != NormPosition::pre)
    refuse_gpt2("norm_position = \"post\"", "a norm before each sub-layer");
  if (!model.ends_with_norm()) refuse_gpt2("final_norm = false", "a norm behind its last block");
  if (model.embedding_norm) refuse_gpt2("embedding_norm = true", "no norm behind the embedding");
  if (model.segments != 0) refuse_gpt2("segments = " + std::to_string(model.segments), "no segments");
}

/// The sub-layer of the block at `index`, which must be of that type.
const LayerTable& sub_layer(const ModelTable& model, std::size_t index, const std::string& type) {
  if (model.block.size() != 2) {
    std::vector<std::string> names;
    for (const LayerTable& layer : model.block) names.push_back(layer.name);
    refuse("block", "[" + quoted_list(names) + "]", "a self_attention and a feed_forward in each block");
  }
  const LayerTable& layer = model.block[index];
  if (layer.type != type)
    refuse("layer." + layer.name + ".type", "\"" + layer.type + "\"", "\"" + type + "\" in this place");
  return layer;
}

/// The numbers of a stack that fits.
BertConfig numbers_of(const ModelTable& model, std::int64_t pieces, std::int64_t max_length) {
  require_stack(model);
  const LayerTable& attention = sub_layer(model, 0, "self_attention");
  const LayerTable& feed_forward = sub_layer(model, 1, "feed_forward");
  if (attention.options.has("head_size") &&
      attention.options.integer("head_size") * attention.options.integer("heads") != model.width)
    refuse("layer." + attention.name + ".head_size", std::to_string(attention.options.integer("head_size")),
           "heads of width / heads channels");
  return {.pieces = pieces,
          .width = model.width,
          .layers = model.layers,
          .heads = attention.options.integer("heads"),
          .hidden = feed_forward.options.integer("hidden"),
          .max_positions = model.max_positions == 0 ? max_length : model.max_positions,
          .segments = std::max<std::int64_t>(model.segments, 1),
          .activation = feed_forward.options.text("activation"),
          .epsilon = model.norm.options.number("epsilon"),
          .dropout = model.dropout,
          .attention_dropout = attention.options.number("attention_dropout")};
}

}  // namespace

BertConfig bert_config_of(const ModelTable& model, std::int64_t pieces, std::int64_t max_length) {
  require_bert_stack(model);
  return numbers_of(model, pieces, max_length);
}

BertConfig gpt2_config_of(const ModelTable& model, std::int64_t pieces, std::int64_t max_length) {
  require_gpt2_stack(model);
  BertConfig config = numbers_of(model, pieces, max_length);
  config.model_type = "gpt2";
  config.segments = 0;
  return config;
}

}  // namespace encore
