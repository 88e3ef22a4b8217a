// SPDX-License-Identifier: BSD-3-Clause
// Writes and reads the JSON of attention requests, texts and weights. The worker (worker/attention_verb.cpp),
// train/snapshots.cpp and the control program (cli/attention_verb.cpp, report/) use the same functions.
// attention.json in run folders has this form, so members keep their names. Read attention.hpp first.
#include "record/attention.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <encore/error.hpp>
#include <nlohmann/json.hpp>

#include "base/json_fields.hpp"
#include "base/json_text.hpp"

namespace encore::record {

static void list(auto& field, A<AttentionRequest> auto& request) {
  field("text", request.text);
  field("layers", request.choice.layers);
  field("heads", request.choice.heads);
  field.optional("target", request.target);
}

static void list(auto& field, A<AttentionToken> auto& token) {
  field("piece", token.text);
  field.optional("special", token.special);
}

namespace {

using nlohmann::ordered_json;
using Tokens = std::vector<AttentionToken>;

/// Returns the double with the fewest digits that is this float32: 0.1, not 0.10000000149011612.
double shortest(float value) {
  char text[32];
  const auto end = std::to_chars(std::begin(text), std::end(text), value).ptr;
  double number = 0.0;
  std::from_chars(std::begin(text), end, number);
  return number;
}

const char* side(bool decoder) {
  return decoder ? "target" : "tokens";
}

bool is_decoder(const nlohmann::json& name) {
  const std::string text = name.get<std::string>();
  if (text != side(true) && text != side(false)) throw Error("rows of \"" + text + "\"");
  return text == side(true);
}

/// Returns the weights as rows of numbers, as a reader of the JSON needs them.
ordered_json weights_json(const std::vector<float>& weights, std::size_t width) {
  ordered_json rows = ordered_json::array();
  for (std::size_t first = 0; first + width <= weights.size() && width > 0; first += width) {
    ordered_json row = ordered_json::array();
    for (std::size_t j = 0; j < width; ++j) row.push_back(shortest(weights[first + j]));
    rows.push_back(std::move(row));
  }
  return rows;
}

ordered_json text_json(const AttentionText& text) {
  ordered_json json = {{"tokens", to_json_object<ordered_json>(text.tokens)},
                       {"layers", ordered_json::array()},
                       {"hidden", ordered_json::array()}};
  if (!text.name.empty()) json["name"] = text.name;
  if (!text.target.empty()) json["target"] = to_json_object<ordered_json>(text.target);
  for (const AttentionLayer& layer : text.layers) {
    ordered_json heads = ordered_json::array();
    for (std::size_t h = 0; h < layer.heads.size(); ++h)
      heads.push_back({{"head", layer.heads[h]},
                       {"weights", weights_json(layer.weights[h], text.columns(layer).size())}});
    json["layers"].push_back({{"layer", layer.layer},
                              {"type", layer.type},
                              {"rows", side(layer.rows_of_decoder)},
                              {"columns", side(layer.columns_of_decoder)},
                              {"heads", std::move(heads)}});
  }
  for (const auto& [layer, type] : text.hidden) json["hidden"].push_back({{"layer", layer}, {"type", type}});
  return json;
}

AttentionLayer layer_from(const nlohmann::json& json, const AttentionText& text) {
  AttentionLayer layer{.layer = json.at("layer").get<std::string>(),
                       .type = json.at("type").get<std::string>(),
                       .rows_of_decoder = is_decoder(json.at("rows")),
                       .columns_of_decoder = is_decoder(json.at("columns")),
                       .heads = {},
                       .weights = {}};
  for (const nlohmann::json& head : json.at("heads")) {
    layer.heads.push_back(head.at("head").get<std::int64_t>());
    std::vector<float>& weights = layer.weights.emplace_back();
    for (const nlohmann::json& row : head.at("weights")) {
      if (row.size() != text.columns(layer).size())
        throw Error("a row of " + layer.layer + " has another length");
      for (const nlohmann::json& weight : row) weights.push_back(weight.get<float>());
    }
    if (weights.size() != text.rows(layer).size() * text.columns(layer).size())
      throw Error("the weights of " + layer.layer + " do not fit its tokens");
  }
  return layer;
}

AttentionText text_from(const nlohmann::json& json) {
  AttentionText text{.name = json.value("name", ""), .tokens = from_json_object<Tokens>(json.at("tokens"))};
  if (json.contains("target")) text.target = from_json_object<Tokens>(json.at("target"));
  for (const nlohmann::json& layer : json.at("layers")) text.layers.push_back(layer_from(layer, text));
  for (const nlohmann::json& layer : json.at("hidden"))
    text.hidden.emplace_back(layer.at("layer").get<std::string>(), layer.at("type").get<std::string>());
  return text;
}

}  // namespace

bool AttentionChoice::means(const std::string& layer, std::int64_t block) const {
  return layers.empty() || std::ranges::any_of(layers, [&](const std::string& word) {
           if (word == std::to_string(block)) return true;
           return layer.starts_with(word) && (layer.size() == word.size() || layer[word.size()] == '.');
         });
}

std::string AttentionRequest::json() const {
  return to_json_object<ordered_json>(*this).dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

AttentionRequest AttentionRequest::parse(const std::string& text) try {
  return from_json_object<AttentionRequest>(parse_json(text));
} catch (const std::exception& error) {
  throw Error(std::string("attention: the request on standard input cannot be read: ") + error.what());
}

std::string AttentionTexts::json() const {
  ordered_json all = {{"step", step}, {"texts", ordered_json::array()}};
  if (!texts.empty() && !texts.front().target.empty()) {
    all["written"] = written;
    all["forced"] = forced;
  }
  for (const AttentionText& text : texts) all["texts"].push_back(text_json(text));
  return all.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

AttentionTexts AttentionTexts::parse(const std::string& text) try {
  const nlohmann::json json = parse_json(text);
  AttentionTexts all{.step = json.at("step").get<std::int64_t>(),
                     .written = json.value("written", ""),
                     .forced = json.value("forced", false)};
  for (const nlohmann::json& each : json.at("texts")) all.texts.push_back(text_from(each));
  return all;
} catch (const std::exception& error) {
  throw Error(std::string("invalid attention weights: ") + error.what());
}

}  // namespace encore::record
