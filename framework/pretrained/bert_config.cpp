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

/// How a model type calls what BertConfig holds; as BERT where nothing else is said. Empty: it has no such
/// member, and the default counts.
struct MemberNames {
  const char* model_type;
  const char* width = "hidden_size";
  const char* layers = "num_hidden_layers";
  const char* heads = "num_attention_heads";
  const char* hidden = "intermediate_size";
  const char* activation = "hidden_act";
  const char* dropout = "hidden_dropout_prob";
  const char* attention_dropout = "attention_probs_dropout_prob";
  const char* epsilon = "layer_norm_eps";
  const char* segments = "type_vocab_size";
  const char* positions = "max_position_embeddings";
};

constexpr MemberNames member_names[] = {
    {.model_type = "bert"},
    {.model_type = "roberta"},
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
    {.model_type = "gpt2",
     .width = "n_embd",
     .layers = "n_layer",
     .heads = "n_head",
     .hidden = "n_inner",
     .activation = "activation_function",
     .dropout = "resid_pdrop",
     .attention_dropout = "attn_pdrop",
     .epsilon = "layer_norm_epsilon",
     .segments = "",
     .positions = "n_positions"},
};
constexpr const char* roberta_type = "roberta";
constexpr const char* gpt2_type = "gpt2";
constexpr const char* type_name = "model_type";
constexpr const char* padding_name = "pad_token_id";
constexpr std::int64_t usual_padding = 1;  // of RobertaConfig
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
  const auto type = member<std::string>(config, type_name, "a text");
  const std::string supported = "supported are \"bert\", \"distilbert\", \"roberta\" and \"gpt2\"";
  if (!type) throw Error("\"model_type\" is missing; " + supported);
  if (const MemberNames* names = find_names(*type)) return *names;
  throw Error("model_type is \"" + shortened(*type) + "\"" + architecture_of(config) +
              ", which is another architecture; " + supported);
}

/// Ours of an activation, and that of config.json.
struct ActivationNames {
  const char* here;
  const char* there;
};
constexpr ActivationNames activation_names[] = {
    {.here = "gelu", .there = "gelu"},
    {.here = "relu", .there = "relu"},
    {.here = "gelu_tanh", .there = "gelu_new"},
    {.here = "gelu_tanh", .there = "gelu_pytorch_tanh"},
};

std::string activation_in(const json& config, const MemberNames& names) {
  const std::string usual = names.model_type == std::string(gpt2_type) ? "gelu_new" : "gelu";
  const std::string activation = member<std::string>(config, names.activation, "a text").value_or(usual);
  for (const auto& [here, there] : activation_names)
    if (activation == there) return here;
  throw Error(std::string(names.activation) + " is \"" + shortened(activation) +
              "\", which is not supported; supported are \"gelu\" (with the exact erf), \"gelu_new\" and "
              "\"relu\"");
}

std::string activation_there(const std::string& activation) {
  const auto* found = std::ranges::find(activation_names, activation, &ActivationNames::here);
  if (found == std::end(activation_names))
    throw Error("model.layer." + std::string(bert_feed_forward) + ".activation = \"" + activation +
                "\" cannot be written as config.json, which knows \"gelu\", \"gelu_tanh\" and \"relu\" here");
  return found->there;
}

/// What GPT-2 does only where it is asked to, and this program never.
void refuse_other_gpt2(const json& config) {
  for (const char* name : {"scale_attn_by_inverse_layer_idx", "reorder_and_upcast_attn"})
    if (is_set(config, name)) throw Error(std::string(name) + " is true, which is not supported");
  for (const char* name : {"scale_attn_weights", "tie_word_embeddings"})
    if (!member<bool>(config, name, "true or false").value_or(true))
      throw Error(std::string(name) + " is false, which is not supported");
}

/// What would change the numbers and has no counterpart here.
void refuse_unknown_functions(const json& config) {
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

}  // namespace

bool is_roberta(const json& json) {
  const auto type = json.find(type_name);
  return type != json.end() && *type == roberta_type;
}

bool is_gpt2(const json& json) {
  const auto type = json.find(type_name);
  return type != json.end() && *type == gpt2_type;
}

std::int64_t first_position_in(const json& json) {
  if (!is_roberta(json)) return 0;
  const std::int64_t padding = member<std::int64_t>(json, padding_name, "an integer").value_or(usual_padding);
  if (padding < 0)
    throw Error(std::string(padding_name) + " must be at least 0, found " + std::to_string(padding));
  return padding + 1;
}

BertConfig bert_config_from_json(const json& json) {
  if (!json.is_object()) throw Error("a JSON object is expected");
  const MemberNames& names = names_in(json);
  BertConfig config;
  config.model_type = names.model_type;
  config.activation = activation_in(json, names);
  refuse_unknown_functions(json);
  if (is_gpt2(json)) refuse_other_gpt2(json);
  config.pieces = size(json, pieces_name);
  config.width = size(json, names.width);
  config.layers = size(json, names.layers);
  config.heads = size(json, names.heads);
  const bool usual_hidden = is_gpt2(json) && json.value(names.hidden, nlohmann::json()).is_null();
  config.hidden = usual_hidden ? 4 * config.width : size(json, names.hidden);
  config.first_position = first_position_in(json);
  config.max_positions = size(json, names.positions) - config.first_position;
  if (config.max_positions < 1)
    throw Error(std::string(names.positions) + " is " + std::to_string(size(json, names.positions)) +
                ", and positions begin at " + padding_name +
                " + 1 = " + std::to_string(config.first_position) + ", so that none is left");
  if (*names.segments != '\0') config.segments = size(json, names.segments);
  if (is_gpt2(json)) config.epsilon = 1e-5;
  config.epsilon = number(json, names.epsilon, config.epsilon);
  config.dropout = number(json, names.dropout, config.dropout);
  config.attention_dropout = number(json, names.attention_dropout, config.attention_dropout);
  return config;
}

json bert_config_to_json(const BertConfig& config) {
  const MemberNames* names = find_names(config.model_type);
  ENCORE_REQUIRE(names != nullptr, "\"" + config.model_type + "\" is no model type");
  json out = {{"model_type", config.model_type},
              {pieces_name, config.pieces},
              {names->positions, config.first_position + config.max_positions},
              {names->width, config.width},
              {names->layers, config.layers},
              {names->heads, config.heads},
              {names->hidden, config.hidden},
              {names->activation, activation_there(config.activation)},
              {names->dropout, config.dropout},
              {names->attention_dropout, config.attention_dropout}};
  if (*names->epsilon != '\0') out[names->epsilon] = config.epsilon;
  if (*names->segments != '\0') out[names->segments] = config.segments;
  if (config.first_position > 0) out[padding_name] = config.first_position - 1;
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
  add({"model", "max_positions"}, config.max_positions,
      said(names->positions, std::to_string(config.first_position + config.max_positions)));
  add({"model", "segments"}, config.segments,
      *names->segments == '\0' ? type : said(names->segments, std::to_string(config.segments)));
  const bool gpt2 = config.model_type == gpt2_type;
  add({"model", "embedding_norm"}, !gpt2, type).is_default = gpt2;
  add({"model", "embedding_scale"}, std::string("none"), type);
  add({"model", "norm"}, std::string(bert_norm), type);
  add({"model", "norm_position"}, std::string(gpt2 ? "pre" : "post"), type).is_default = !gpt2;
  add({"model", "final_norm"}, gpt2, type).is_default = true;
  add({"model", "embedding_width"}, std::int64_t{0}, type).is_default = true;
  add({"model", "groups"}, std::int64_t{0}, type).is_default = true;
  add({"model", "causal"}, gpt2, type).is_default = !gpt2;
  share({"model", "dropout"}, config.dropout, names->dropout);

  add({"model", "layer", bert_attention, "type"}, std::string("self_attention"), type);
  count({"model", "layer", bert_attention, "heads"}, config.heads, names->heads);
  share({"model", "layer", bert_attention, "attention_dropout"}, config.attention_dropout,
        names->attention_dropout);
  add({"model", "layer", bert_feed_forward, "type"}, std::string("feed_forward"), type);
  count({"model", "layer", bert_feed_forward, "hidden"}, config.hidden, names->hidden);
  add({"model", "layer", bert_feed_forward, "activation"}, config.activation,
      said(names->activation, "\"" + activation_there(config.activation) + "\""));
  add({"model", "layer", bert_norm, "type"}, std::string("layer_norm"), type);
  add({"model", "layer", bert_norm, "epsilon"}, config.epsilon,
      *names->epsilon == '\0' ? type : said(names->epsilon, shortest(config.epsilon)));
  return options;
}

}  // namespace encore
