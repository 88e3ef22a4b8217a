// SPDX-License-Identifier: BSD-3-Clause
// attention_page() joins the frame reports/attention.html with the data for reports/attention.js. `exp
// attention -o FILE.html` calls it. attention.js reads the members of the JSON, so change both together. Read
// attention_page.hpp first.
#include "report/attention_page.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include <nlohmann/json.hpp>

#include <encore/base64.hpp>

#include "document/escape.hpp"
#include "document/palette.hpp"
#include "document/text.hpp"
#include "document/writer_parts.hpp"
#include "report/attention_charts.hpp"

namespace encore::report {

namespace {

using nlohmann::ordered_json;

/// Returns the weights as base64 of 16-bit integers, the low byte first: 0 is weight 0, and 65535 weight 1.
std::string packed(const std::vector<float>& weights) {
  std::string bytes;
  bytes.reserve(2 * weights.size());
  for (const float weight : weights) {
    const auto step =
        static_cast<std::uint32_t>(std::lround(std::clamp(static_cast<double>(weight), 0.0, 1.0) * 65535.0));
    bytes += static_cast<char>(step & 255U);
    bytes += static_cast<char>(step >> 8U);
  }
  return to_base64(bytes);
}

ordered_json tokens_json(const std::vector<record::AttentionToken>& tokens) {
  ordered_json list = ordered_json::array();
  for (const record::AttentionToken& token : tokens) {
    list.push_back({{"piece", document::clean_line(token.text)}});
    if (token.special) list.back()["special"] = true;
  }
  return list;
}

ordered_json part_json(const record::AttentionText& text) {
  ordered_json groups = ordered_json::array();
  for (const AttentionGroup& group : attention_groups(text)) {
    ordered_json layers = ordered_json::array();
    for (const record::AttentionLayer* layer : group.layers) {
      ordered_json weights = ordered_json::array();
      for (const std::vector<float>& of_head : layer->weights) weights.push_back(packed(of_head));
      layers.push_back({{"layer", layer->layer},
                        {"type", layer->type},
                        {"heads", layer->heads},
                        {"weights", std::move(weights)}});
    }
    const record::AttentionLayer& first = *group.layers.front();
    groups.push_back({{"title", group.title},
                      {"what", group.what},
                      {"rows", first.rows_of_decoder ? "target" : "tokens"},
                      {"columns", first.columns_of_decoder ? "target" : "tokens"},
                      {"layers", std::move(layers)}});
  }
  return {{"name", text.name},
          {"tokens", tokens_json(text.tokens)},
          {"target", tokens_json(text.target)},
          {"groups", std::move(groups)}};
}

/// Returns the data as JSON without "<", so that no token can end the HTML element that holds it.
std::string data_of(const record::AttentionTexts& texts) {
  ordered_json parts = ordered_json::array();
  for (const record::AttentionText& text : texts.texts) parts.push_back(part_json(text));
  const std::string json =
      ordered_json{{"parts", std::move(parts)}}.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
  std::string safe;
  for (const char letter : json) {
    if (letter == '<')
      safe += "\\u003c";
    else
      safe += letter;
  }
  return safe;
}

std::string header_of(const AttentionPageHead& head) {
  std::string text = "<h1>" + document::html_line(head.title) + "</h1>\n";
  for (const auto& [name, words] : head.texts)
    text += "<p class=\"text\"><span class=\"label\">" + document::html_line(name) + "</span>" +
            document::html_line(words) + "</p>\n";
  text += "<dl class=\"facts\">\n";
  for (const auto& [name, value] : head.facts)
    text +=
        "<div><dt>" + document::html_line(name) + "</dt><dd>" + document::html_line(value) + "</dd></div>\n";
  return text + "</dl>\n";
}

std::string footer_of(const record::AttentionTexts& texts, const AttentionPageHead& head) {
  std::string text;
  if (!texts.texts.empty())
    if (const std::string note = hidden_layers_note(texts.texts.front()); !note.empty())
      text += "<p>" + document::html_line(note) + "</p>\n";
  text +=
      "<p>A weight is the share of a piece's value in the row that attends; a row sums to 1. It does "
      "not explain the "
      "answer of the model.</p>\n";
  return text + "<p>Made with <code>" + document::html_line(head.command) + "</code>.</p>\n";
}

}  // namespace

std::string attention_page(const record::AttentionTexts& texts, const AttentionPageHead& head,
                           const document::Templates& templates) {
  const std::string style = document::fill(templates.find("attention.css"),
                                           {{"light_colours", document::palette_css(document::Paper::light)},
                                            {"dark_colours", document::palette_css(document::Paper::dark)}});
  const std::string script = templates.find("attention.js").text;
  return document::fill(templates.find("attention.html"),
                        {{"title", document::html_text(head.title)},
                         {"policy", document::content_policy(style, script)},
                         {"style", style},
                         {"script", script},
                         {"header", header_of(head)},
                         {"footer", footer_of(texts, head)},
                         {"data", data_of(texts)}},
                        {"policy", "data", "script"});
}

}  // namespace encore::report
