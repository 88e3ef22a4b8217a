#include "pretrained/bert_config.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include <nlohmann/json.hpp>

#include "config/nearest.hpp"

namespace encore {

namespace {

using nlohmann::json;

/// How a model type calls what BertConfig holds. Empty: it has no such member, and the default counts.
struct MemberNames {
  const char* model_type;
  const char* width;
  const char* layers;
  const char* heads;
  const char* hidden;
  const char* activation;
  const char* dropout;
  const char* attention_dropout;
  const char* epsilon;
  const char* segments;
};

constexpr MemberNames member_names[] = {
    {.model_type = "bert",
     .width = "hidden_size",
     .layers = "num_hidden_layers",
     .heads = "num_attention_heads",
     .hidden = "intermediate_size",
     .activation = "hidden_act",
     .dropout = "hidden_dropout_prob",
     .attention_dropout = "attention_probs_dropout_prob",
     .epsilon = "layer_norm_eps",
     .segments = "type_vocab_size"},
    {.model_type = "distilbert",
     .width = "dim",
     .layers = "n_layers",
     .heads = "n_heads",
     .hidden = "hidden_dim",
     .activation = "activation",
     .dropout = "dropout",
     .attention_dropout = "attention_dropout",
     .epsilon = "",
     .segments = ""},
};
constexpr const char* positions_name = "max_position_embeddings";
constexpr const char* pieces_name = "vocab_size";

const MemberNames* find_names(const std::string& model_type) {
  const auto* found = std::ranges::find(member_names, model_type, &MemberNames::model_type);
  return found == std::end(member_names) ? nullptr : found;
}

/// A member of config.json, which may be absent.
template <class T>
std::optional<T> member(const json& config, const char* name, const char* kind) {
  const auto found = config.find(name);
  if (found == config.end() || found->is_null()) return std::nullopt;
  const bool fits = std::is_same_v<T, std::string>    ? found->is_string()
                    : std::is_same_v<T, bool>         ? found->is_boolean()
                    : std::is_same_v<T, std::int64_t> ? found->is_number_integer()
                                                      : found->is_number();
  if (!fits) throw Error(std::string(name) + " must be " + kind + ", found " + shortened(found->dump()));
  return found->get<T>();
}

std::int64_t size(const json& config, const char* name) {
  const auto value = member<std::int64_t>(config, name, "an integer");
  if (!value) throw Error(std::string("\"") + name + "\" is missing");
  if (*value < 1) throw Error(std::string(name) + " must be at least 1, found " + std::to_string(*value));
  return *value;
}

double number(const json& config, const char* name, double fallback) {
  return *name == '\0' ? fallback : member<double>(config, name, "a number").value_or(fallback);
}

bool is_set(const json& config, const char* name) {
  return member<bool>(config, name, "true or false").value_or(false);
}

std::string architecture_of(const json& config) {
  const auto list = config.find("architectures");
  if (list == config.end() || !list->is_array() || list->empty() || !list->front().is_string()) return "";
  return " (" + shortened(list->front().get<std::string>()) + ")";
}

const MemberNames& names_in(const json& config) {
  const auto type = member<std::string>(config, "model_type", "a text");
  const std::string supported = "supported are \"bert\" and \"distilbert\"";
  if (!type) throw Error("\"model_type\" is missing; " + supported);
  if (const MemberNames* names = find_names(*type)) return *names;
  const bool roberta = type->find("roberta") != std::string::npos;
  throw Error("model_type is \"" + shortened(*type) + "\"" + architecture_of(config) +
              (roberta ? ", whose byte-level pieces and whose positions from 2 on are not supported; "
                       : ", which is another architecture; ") +
              supported);
}

/// What would change the numbers and has no counterpart here.
void refuse_unknown_functions(const json& config, const MemberNames& names, const std::string& activation) {
  if (activation != "gelu" && activation != "relu")
    throw Error(std::string(names.activation) + " is \"" + shortened(activation) +
                "\", which is not supported; supported are \"gelu\" (with the exact erf) and \"relu\"");
  const auto positions =
      member<std::string>(config, "position_embedding_type", "a text").value_or("absolute");
  if (positions != "absolute")
    throw Error("position_embedding_type is \"" + shortened(positions) +
                "\", which is not supported; supported is \"absolute\"");
  for (const char* name : {"is_decoder", "add_cross_attention"})
    if (is_set(config, name)) throw Error(std::string(name) + " is true, but only encoders are supported");
  if (const auto quantized = config.find("quantization_config");
      quantized != config.end() && !quantized->is_null())
    throw Error(
        "quantization_config is set: the weights are quantized; save the model in float32 or float16");
  if (const auto pruned = config.find("pruned_heads"); pruned != config.end() && !pruned->empty())
    throw Error("pruned_heads is not empty, and layers with fewer heads than others are not supported");
}

Value::Array texts(const std::vector<std::string>& list) {
  Value::Array array;
  for (const std::string& text : list) array.push_back(Value{text, {}});
  return array;
}

/// Throws the reason why export has no word for an option.
[[noreturn]] void refuse(const std::string& option, const std::string& value, const std::string& remedy) {
  throw Error("model." + option + " = " + value + " cannot be written as a BERT, which has " + remedy);
}

void require_bert_stack(const ModelTable& model) {
  if (model.decoder) throw Error("[model.decoder] cannot be written as a BERT, which is an encoder alone");
  if (model.causal) refuse("causal", "true", "tokens that see all others");
  if (model.groups != 0)
    refuse("groups", std::to_string(model.groups), "parameters of its own in every block");
  if (model.positions != Positions::learned) refuse("positions", "\"sinusoidal\"", "\"learned\" positions");
  if (model.norm_position != NormPosition::post) refuse("norm_position", "\"pre\"", "a norm after each sum");
  if (model.ends_with_norm()) refuse("final_norm", "true", "no other norm behind its last block");
  if (model.embedding_width != 0)
    refuse("embedding_width", std::to_string(model.embedding_width), "tables as wide as the model");
  if (model.norm.type != "layer_norm") refuse("norm", "\"" + model.norm.type + "\"", "\"layer_norm\"");
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

}  // namespace

BertConfig bert_config_from_json(const json& json) {
  if (!json.is_object()) throw Error("a JSON object is expected");
  const MemberNames& names = names_in(json);
  BertConfig config;
  config.model_type = names.model_type;
  config.activation = member<std::string>(json, names.activation, "a text").value_or("gelu");
  refuse_unknown_functions(json, names, config.activation);
  config.pieces = size(json, pieces_name);
  config.width = size(json, names.width);
  config.layers = size(json, names.layers);
  config.heads = size(json, names.heads);
  config.hidden = size(json, names.hidden);
  config.max_positions = size(json, positions_name);
  if (*names.segments != '\0') config.segments = size(json, names.segments);
  config.epsilon = number(json, names.epsilon, config.epsilon);
  config.dropout = number(json, names.dropout, config.dropout);
  config.attention_dropout = number(json, names.attention_dropout, config.attention_dropout);
  return config;
}

json bert_config_to_json(const BertConfig& config) {
  const MemberNames* names = find_names(config.model_type);
  ENCORE_REQUIRE(names != nullptr, "\"" + config.model_type + "\" is no model type");
  json out = {{"model_type", config.model_type},      {pieces_name, config.pieces},
              {positions_name, config.max_positions}, {names->width, config.width},
              {names->layers, config.layers},         {names->heads, config.heads},
              {names->hidden, config.hidden},         {names->activation, config.activation},
              {names->dropout, config.dropout},       {names->attention_dropout, config.attention_dropout}};
  if (*names->epsilon != '\0') out[names->epsilon] = config.epsilon;
  if (*names->segments != '\0') out[names->segments] = config.segments;
  return out;
}

std::vector<ImpliedOption> implied_options(const BertConfig& config) {
  const MemberNames* names = find_names(config.model_type);
  ENCORE_REQUIRE(names != nullptr, "\"" + config.model_type + "\" is no model type");
  const std::string type = "model_type = \"" + config.model_type + "\"";
  std::vector<ImpliedOption> options;
  const auto add = [&](std::vector<std::string> path, auto data,
                       const std::string& reason) -> ImpliedOption& {
    options.push_back({.path = std::move(path), .value = Value{std::move(data), {}}, .reason = reason});
    return options.back();
  };
  const auto said = [](const char* name, const std::string& value) {
    return std::string(name) + " = " + value;
  };
  const auto count = [&](std::vector<std::string> path, std::int64_t value, const char* name) {
    add(std::move(path), value, said(name, std::to_string(value)));
  };
  const auto share = [&](std::vector<std::string> path, double value, const char* name) {
    add(std::move(path), value, said(name, shortest(value))).may_differ = true;
  };

  count({"model", "width"}, config.width, names->width);
  count({"model", "layers"}, config.layers, names->layers);
  add({"model", "block"}, texts({bert_attention, bert_feed_forward}), type);
  add({"model", "positions"}, std::string("learned"), type);
  count({"model", "max_positions"}, config.max_positions, positions_name);
  add({"model", "segments"}, config.segments,
      *names->segments == '\0' ? type : said(names->segments, std::to_string(config.segments)));
  add({"model", "embedding_norm"}, true, type);
  add({"model", "embedding_scale"}, std::string("none"), type);
  add({"model", "norm"}, std::string(bert_norm), type);
  add({"model", "norm_position"}, std::string("post"), type).is_default = true;
  add({"model", "final_norm"}, false, type).is_default = true;
  add({"model", "embedding_width"}, std::int64_t{0}, type).is_default = true;
  add({"model", "groups"}, std::int64_t{0}, type).is_default = true;
  add({"model", "causal"}, false, type).is_default = true;
  share({"model", "dropout"}, config.dropout, names->dropout);

  add({"model", "layer", bert_attention, "type"}, std::string("self_attention"), type);
  count({"model", "layer", bert_attention, "heads"}, config.heads, names->heads);
  share({"model", "layer", bert_attention, "attention_dropout"}, config.attention_dropout,
        names->attention_dropout);
  add({"model", "layer", bert_feed_forward, "type"}, std::string("feed_forward"), type);
  count({"model", "layer", bert_feed_forward, "hidden"}, config.hidden, names->hidden);
  add({"model", "layer", bert_feed_forward, "activation"}, config.activation,
      said(names->activation, "\"" + config.activation + "\""));
  add({"model", "layer", bert_norm, "type"}, std::string("layer_norm"), type);
  add({"model", "layer", bert_norm, "epsilon"}, config.epsilon,
      *names->epsilon == '\0' ? type : said(names->epsilon, shortest(config.epsilon)));
  return options;
}

BertConfig bert_config_of(const ModelTable& model, std::int64_t pieces, std::int64_t max_length) {
  require_bert_stack(model);
  const LayerTable& attention = sub_layer(model, 0, "self_attention");
  const LayerTable& feed_forward = sub_layer(model, 1, "feed_forward");
  if (attention.options.has("head_size") &&
      attention.options.integer("head_size") * attention.options.integer("heads") != model.width)
    refuse("layer." + attention.name + ".head_size", std::to_string(attention.options.integer("head_size")),
           "heads of width / heads channels");
  if (!model.embedding_norm) refuse("embedding_norm", "false", "a norm behind the embedding");
  if (model.embedding_scale != EmbeddingScale::none)
    refuse("embedding_scale", "\"sqrt_width\"", "an embedding that is not scaled (\"none\")");
  return {.model_type = "bert",
          .pieces = pieces,
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

}  // namespace encore
