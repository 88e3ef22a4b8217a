// SPDX-License-Identifier: BSD-3-Clause
// PretrainedConfig: reads and writes config.json, and lists the options of [model] that it implies.
// hugging_face_folder.cpp, folder_filler.cpp and the worker's export call it. A new number of a family is a
// member of PretrainedConfig and a name in ConfigNames. Read pretrained_config.hpp first.
#include "pretrained/pretrained_config.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/nearest.hpp"
#include "pretrained/config_member.hpp"
#include "pretrained/family.hpp"

namespace encore::pretrained {

namespace {

using nlohmann::json;

constexpr const char* tokens_name = "vocab_size";

std::int64_t size(const json& config, const char* name) {
  const auto value = member<std::int64_t>(config, name, "an integer");
  if (!value) throw Error(std::string("\"") + name + "\" is missing");
  if (*value < 1) throw Error(std::string(name) + " must be at least 1, found " + std::to_string(*value));
  if (*value > largest_size)
    throw Error(std::string(name) + " must be at most " + std::to_string(largest_size) + ", found " +
                std::to_string(*value));
  return *value;
}

double number(const json& config, const char* name, double fallback) {
  return *name == '\0' ? fallback : member<double>(config, name, "a number").value_or(fallback);
}

/// The names of an activation here and in config.json.
struct ActivationNames {
  const char* here;
  const char* there;
  bool gated = false;
};
constexpr ActivationNames activation_names[] = {
    {.here = "gelu", .there = "gelu"},
    {.here = "relu", .there = "relu"},
    {.here = "gelu_tanh", .there = "gelu_new"},
    {.here = "gelu_tanh", .there = "gelu_pytorch_tanh"},
    {.here = "silu", .there = "silu"},
    {.here = "silu", .there = "swish"},
    {.here = "geglu_tanh", .there = "gated-gelu", .gated = true},  // there too it has tanh
    {.here = "geglu_tanh", .there = "gated-gelu_new", .gated = true},
    {.here = "swiglu", .there = "gated-silu", .gated = true},
    {.here = "reglu", .there = "gated-relu", .gated = true},
};

const ActivationNames& activation_in(const json& config, const Family& family) {
  const char* name = family.config.activation;
  const std::string activation =
      member<std::string>(config, name, "a text").value_or(family.shape.activation);
  for (const ActivationNames& known : activation_names)
    if (activation == known.there && (family.shape.gates || !known.gated)) return known;
  throw Error(std::string(name) + " is \"" + config::shortened(activation) +
              "\", which is not supported; supported are \"gelu\" (with the exact erf), \"gelu_new\", " +
              (family.shape.gates ? R"("relu", "silu", "gated-gelu", "gated-silu" and "gated-relu")"
                                  : R"("relu" and "silu")"));
}

std::string activation_there(const std::string& activation, bool gated) {
  const auto* found = std::ranges::find_if(activation_names, [&](const ActivationNames& known) {
    return known.here == activation && known.gated == gated;
  });
  if (found == std::end(activation_names))
    throw Error(
        "model.layer." + std::string(pretrained_feed_forward) + ".activation = \"" + activation +
        "\" cannot be written as config.json, which knows " +
        (gated ? R"("geglu_tanh", "swiglu" and "reglu")" : R"("gelu", "gelu_tanh", "relu" and "silu")") +
        " here");
  return found->there;
}

/// Refuses what would change the numbers and has no counterpart here.
void refuse_unknown_functions(const json& config) {
  const auto positions =
      member<std::string>(config, "position_embedding_type", "a text").value_or("absolute");
  if (positions != "absolute")
    throw Error("position_embedding_type is \"" + config::shortened(positions) +
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

config::Value::Array texts(const std::vector<std::string>& list) {
  config::Value::Array array;
  for (const std::string& text : list) array.push_back(config::Value{text, {}});
  return array;
}

/// Requires equal numbers of both stacks, whose layers have the same options here.
void require_same(const json& config, const char* encoder, const char* decoder) {
  const std::int64_t one = size(config, encoder), other = size(config, decoder);
  if (one != other)
    throw Error(std::string(encoder) + " = " + std::to_string(one) + " and " + decoder + " = " +
                std::to_string(other) + " differ, which is not supported");
}

/// Returns the role of the token that the decoder reads first, as in task.target_start.
std::string target_start_in(const json& config) {
  constexpr const char* name = "decoder_start_token_id";
  const auto token = member<std::int64_t>(config, name, "an integer");
  if (!token) throw Error(std::string("\"") + name + "\" is missing");
  for (const auto& [role, of] : target_starts)
    if (member<std::int64_t>(config, of, "an integer") == token) return role;
  throw Error(std::string(name) + " = " + std::to_string(*token) +
              " is neither bos_token_id nor eos_token_id nor pad_token_id, which is not supported");
}

/// Returns the number of rows of the table of positions, as config.json counts them.
std::int64_t positions_of(const PretrainedConfig& config) {
  return config.max_positions + (family_of(config).shape.counts_front_rows ? config.first_position : 0);
}

}  // namespace

const char* feed_forward_type(const PretrainedConfig& config) {
  return config.gated ? "gated_feed_forward" : "feed_forward";
}

PretrainedConfig pretrained_config_from_json(const json& given) {
  if (!given.is_object()) throw Error("a JSON object is expected");
  const Family& family = family_in(given);
  nlohmann::json json = given;
  if (family.complete != nullptr) family.complete(json);
  const ConfigNames& names = family.config;
  PretrainedConfig config;
  config.model_type = family.model_type;
  const ActivationNames& activation = activation_in(json, family);
  config.activation = activation.here;
  config.gated = activation.gated;
  refuse_unknown_functions(json);
  if (family.refuse != nullptr) family.refuse(json);
  config.tokens = size(json, tokens_name);
  config.width = size(json, names.width);
  config.layers = size(json, names.layers);
  config.heads = size(json, names.heads);
  const auto size_if_named = [&](const char* name) { return *name == '\0' ? 0 : size(json, name); };
  config.head_size = size_if_named(names.head_size);
  config.buckets = size_if_named(names.buckets);
  config.max_distance = size_if_named(names.max_distance);
  const bool usual_hidden =
      family.shape.hidden_per_width > 0 && json.value(names.hidden, nlohmann::json()).is_null();
  config.hidden = usual_hidden ? family.shape.hidden_per_width * config.width : size(json, names.hidden);
  if (family.first_position != nullptr) config.first_position = family.first_position(json);
  config.max_positions =
      size(json, names.positions) - (family.shape.counts_front_rows ? config.first_position : 0);
  if (family.shape.decoder) {
    config.decoder_layers = size(json, names.decoder_layers);
    if (*names.decoder_heads != '\0') require_same(json, names.heads, names.decoder_heads);
    if (*names.decoder_hidden != '\0') require_same(json, names.hidden, names.decoder_hidden);
    config.target_start = target_start_in(json);
  }
  config.scaled = *names.scaled != '\0' && is_set(json, names.scaled);
  config.scaled_states = *names.scaled_states != '\0' && is_set(json, names.scaled_states);
  if (config.max_positions < 1)
    throw Error(std::string(names.positions) + " is " + std::to_string(size(json, names.positions)) +
                ", and positions begin at " + padding_name +
                " + 1 = " + std::to_string(config.first_position) + ", so that none is left");
  if (*names.segments != '\0') config.segments = size(json, names.segments);
  config.epsilon = number(json, names.epsilon, family.shape.epsilon);
  config.dropout = number(json, names.dropout, config.dropout);
  config.attention_dropout = number(json, names.attention_dropout, config.attention_dropout);
  return config;
}

const Family& family_of(const PretrainedConfig& config) {
  const Family* family = find_family(config.model_type);
  ENCORE_REQUIRE(family != nullptr, "\"" + config.model_type + "\" is not a model type");
  return *family;
}

json pretrained_config_to_json(const PretrainedConfig& config) {
  const ConfigNames& names = family_of(config).config;
  json out = {{"model_type", config.model_type},
              {tokens_name, config.tokens},
              {names.positions, positions_of(config)},
              {names.width, config.width},
              {names.layers, config.layers},
              {names.heads, config.heads},
              {names.hidden, config.hidden},
              {names.activation, activation_there(config.activation, config.gated)},
              {names.dropout, config.dropout},
              {names.attention_dropout, config.attention_dropout}};
  const auto add = [&](const char* name, const auto& value) {
    if (*name != '\0') out[name] = value;
  };
  add(names.epsilon, config.epsilon);
  add(names.segments, config.segments);
  if (config.first_position > 0 && family_of(config).shape.counts_front_rows)
    out[padding_name] = config.first_position - 1;
  if (config.decoder_layers > 0) {
    out[names.decoder_layers] = config.decoder_layers;
    add(names.decoder_heads, config.heads);
    add(names.decoder_hidden, config.hidden);
  }
  add(names.scaled, config.scaled);
  add(names.head_size, config.head_size);
  add(names.buckets, config.buckets);
  add(names.max_distance, config.max_distance);
  add(names.tied, config.tied);
  add(names.scaled_states, config.scaled_states);
  return out;
}

std::vector<ImpliedOption> implied_options(const PretrainedConfig& config) {
  const Family& family = family_of(config);
  const ConfigNames& names = family.config;
  const FamilyShape& shape = family.shape;
  const std::string type = "model_type = \"" + config.model_type + "\"";
  std::vector<ImpliedOption> options;
  const auto add = [&](std::vector<std::string> path, auto data,
                       const std::string& reason) -> ImpliedOption& {
    options.push_back(
        {.path = std::move(path), .value = config::Value{std::move(data), {}}, .reason = reason});
    return options.back();
  };
  const auto said = [](const char* name, const std::string& value) {
    return std::string(name) + " = " + value;
  };
  const auto count = [&](std::vector<std::string> path, std::int64_t value, const char* name) {
    add(std::move(path), value, said(name, std::to_string(value)));
  };
  const auto share = [&](std::vector<std::string> path, double value, const char* name) {
    add(std::move(path), value, said(name, config::shortest(value))).may_differ = true;
  };

  count({"model", "width"}, config.width, names.width);
  count({"model", "layers"}, config.layers, names.layers);
  add({"model", "block"}, texts({pretrained_attention, pretrained_feed_forward}), type);
  add({"model", "positions"}, std::string(config::name_of(shape.positions)), type);
  if (shape.positions == config::Positions::learned)
    add({"model", "max_positions"}, config.max_positions,
        said(names.positions, std::to_string(positions_of(config))));
  if (shape.positions == config::Positions::sinusoidal)
    add({"model", "position_layout"}, std::string(config::name_of(shape.position_layout)), type).is_default =
        shape.position_layout == config::PositionLayout::pairs;
  add({"model", "segments"}, config.segments,
      *names.segments == '\0' ? type : said(names.segments, std::to_string(config.segments)));
  add({"model", "embedding_norm"}, shape.embedding_norm, type).is_default = !shape.embedding_norm;
  add({"model", "embedding_scale"}, std::string(config.scaled ? "sqrt_width" : "none"),
      *names.scaled == '\0' ? type : said(names.scaled, config.scaled ? "true" : "false"));
  add({"model", "norm"}, std::string(pretrained_norm), type);
  add({"model", "norm_position"}, std::string(shape.pre_norm ? "pre" : "post"), type).is_default =
      !shape.pre_norm;
  add({"model", "final_norm"}, shape.pre_norm, type).is_default = true;
  add({"model", "embedding_width"}, std::int64_t{0}, type).is_default = true;
  add({"model", "groups"}, std::int64_t{0}, type).is_default = true;
  add({"model", "causal"}, shape.causal, type).is_default = !shape.causal;
  share({"model", "dropout"}, config.dropout, names.dropout);

  const auto biases = [&](const char* layer) {
    add({"model", "layer", layer, "bias"}, shape.biases, type).is_default = shape.biases;
  };
  const auto attention = [&](const char* layer, const char* layer_type, const char* heads) {
    add({"model", "layer", layer, "type"}, std::string(layer_type), type);
    count({"model", "layer", layer, "heads"}, config.heads, heads);
    if (config.head_size > 0)
      count({"model", "layer", layer, "head_size"}, config.head_size, names.head_size);
    share({"model", "layer", layer, "attention_dropout"}, config.attention_dropout, names.attention_dropout);
    biases(layer);
    add({"model", "layer", layer, "scaled"}, shape.scaled_scores, type).is_default = shape.scaled_scores;
  };
  attention(pretrained_attention, shape.attention, names.heads);
  if (config.buckets > 0) {
    count({"model", "layer", pretrained_attention, "buckets"}, config.buckets, names.buckets);
    count({"model", "layer", pretrained_attention, "max_distance"}, config.max_distance, names.max_distance);
  }
  const std::string activation =
      said(names.activation, "\"" + activation_there(config.activation, config.gated) + "\"");
  add({"model", "layer", pretrained_feed_forward, "type"}, std::string(feed_forward_type(config)),
      shape.gates ? activation : type);
  count({"model", "layer", pretrained_feed_forward, "hidden"}, config.hidden, names.hidden);
  add({"model", "layer", pretrained_feed_forward, "activation"}, config.activation, activation);
  biases(pretrained_feed_forward);
  if (shape.decoder) {
    count({"model", "decoder", "layers"}, config.decoder_layers, names.decoder_layers);
    add({"model", "decoder", "block"},
        texts({pretrained_attention, pretrained_cross, pretrained_feed_forward}), type);
    attention(pretrained_cross, "cross_attention",
              *names.decoder_heads == '\0' ? names.heads : names.decoder_heads);
    const auto marker = [&](const char* option, auto value) {
      add({"task", option}, std::move(value), type).may_differ = true;
    };
    marker("source_start", shape.texts_begin);
    marker("target_start", config.target_start);
    marker("target_begins", shape.texts_begin);
  }

  if (shape.bare_head) {
    add({"model", "head", "transform"}, false, type);
    add({"model", "head", "bias"}, false, type);
    add({"model", "head", "scaled"}, config.scaled_states,
        said(names.scaled_states, config.scaled_states ? "true" : "false"));
    add({"model", "head", "tied"}, config.tied,
        config.tied ? type : std::string("a tensor ") + family.output_matrix);
  }
  add({"model", "layer", pretrained_norm, "type"}, std::string(shape.norm), type);
  add({"model", "layer", pretrained_norm, "epsilon"}, config.epsilon,
      *names.epsilon == '\0' ? type : said(names.epsilon, config::shortest(config.epsilon)));
  return options;
}

}  // namespace encore::pretrained
