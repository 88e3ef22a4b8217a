// SPDX-License-Identifier: BSD-3-Clause
// Makes charts of attention weights: groups the layers of a text by their rows and columns, and makes a chart
// of each group with a panel for each head. Only pictures depend on it. report/attention.cpp and `exp
// attention -o FILE.svg` call it. Read attention_charts.hpp first.
#include "report/attention_charts.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "document/plot.hpp"
#include "document/text.hpp"

namespace encore::report {

namespace {

/// The number of heads in one line.
constexpr std::size_t most_across = 8;

std::string title_of(const record::AttentionText& text, const record::AttentionLayer& layer) {
  if (layer.rows_of_decoder) return layer.columns_of_decoder ? "Decoder" : "Decoder over encoder";
  if (!text.target.empty()) return "Encoder";
  return layer.layer.starts_with("decoder") ? "Decoder" : "Self-attention";
}

std::string what_of(const record::AttentionLayer& layer) {
  if (!layer.rows_of_decoder) return "Each row is a token that attends, each column one that it attends to.";
  const std::string rows = "Each row is a token that the decoder has read before it writes the next one; ";
  return rows + (layer.columns_of_decoder ? "each column is a token of the same text, up to that row."
                                          : "each column is a token of the encoder's text.");
}

std::vector<double> doubles(const std::vector<float>& weights) {
  return {weights.begin(), weights.end()};
}

/// Moves the shapes of a drawing down.
struct Lowered {
  double by;

  document::Shape2d operator()(document::Polyline line) const {
    for (auto& point : line.points) point.second += by;
    return line;
  }
  document::Shape2d operator()(document::Polygon shape) const {
    for (auto& point : shape.points) point.second += by;
    return shape;
  }
  document::Shape2d operator()(auto shape) const {
    shape.y += by;
    return shape;
  }
};

}  // namespace

std::vector<AttentionGroup> attention_groups(const record::AttentionText& text) {
  std::vector<AttentionGroup> groups;
  for (const record::AttentionLayer& layer : text.layers) {
    const auto same = std::ranges::find_if(groups, [&](const AttentionGroup& group) {
      return group.layers.front()->rows_of_decoder == layer.rows_of_decoder &&
             group.layers.front()->columns_of_decoder == layer.columns_of_decoder;
    });
    if (same != groups.end())
      same->layers.push_back(&layer);
    else
      groups.push_back({title_of(text, layer), what_of(layer), {&layer}});
  }
  return groups;
}

std::vector<std::string> token_names(const std::vector<record::AttentionToken>& tokens) {
  std::map<std::string, std::size_t> seen;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const bool repeated = ++seen[tokens[i].text] > 1;
    names.push_back(tokens[i].text + (repeated ? " (" + std::to_string(i) + ")" : ""));
  }
  return names;
}

document::HeatMapChart attention_chart(const record::AttentionText& text, const AttentionGroup& group) {
  const record::AttentionLayer& first = *group.layers.front();
  document::HeatMapChart chart{
      .row_title = first.rows_of_decoder ? "tokens that the decoder has read" : "tokens that attend",
      .column_title = first.rows_of_decoder && !first.columns_of_decoder ? "tokens of the source"
                                                                         : "tokens that they attend to",
      .value_title = "attention weight, by its root; a row sums to 1",
      .rows = token_names(text.rows(first)),
      .columns = token_names(text.columns(first)),
      .panels = {},
      .across = 1,
      .shade = document::HeatMapChart::Shade::root};
  for (const record::AttentionLayer* layer : group.layers) {
    chart.across = std::max(chart.across, std::min(layer->heads.size(), most_across));
    for (std::size_t h = 0; h < layer->heads.size(); ++h)
      chart.panels.push_back(
          {layer->layer + ", head " + std::to_string(layer->heads[h]), doubles(layer->weights[h])});
  }
  return chart;
}

std::string hidden_layers_note(const record::AttentionText& text) {
  if (text.hidden.empty()) return "";
  std::string layers;
  std::set<std::string> types;
  for (const auto& [layer, type] : text.hidden) {
    layers += (layers.empty() ? "" : ", ") + layer;
    types.insert(type);
  }
  std::string list;
  for (const std::string& type : types) list += (list.empty() ? "" : ", ") + type;
  return "Not shown, because they have no attention weights: " + layers + " (" + list + ").";
}

std::size_t cells_of(const record::AttentionText& text) {
  std::size_t cells = 0;
  for (const record::AttentionLayer& layer : text.layers)
    for (const std::vector<float>& weights : layer.weights) cells += weights.size();
  return cells;
}

document::Drawing attention_drawing(const record::AttentionText& text, const std::string& title) {
  constexpr double cell = 13.0, least_width = 420.0, margin = 12.0, title_size = 15.0;
  const std::vector<AttentionGroup> groups = attention_groups(text);
  document::Drawing all;
  for (const AttentionGroup& group : groups)
    all.width =
        std::max({all.width, least_width, document::heat_map_width(attention_chart(text, group), cell)});
  double top = margin + title_size;
  const auto line = [&](const std::string& words, double size, document::Tone tone, bool strong) {
    all.shapes.push_back(document::Label{0, top, document::shortened(words, all.width, size, strong),
                                         document::Label::Anchor::start, size, tone, strong});
    top += size + 7.0;
  };
  line(title, title_size, document::Tone::ink, true);
  if (!text.name.empty()) line(text.name, document::label_size, document::Tone::faint, false);
  if (const std::string note = hidden_layers_note(text); !note.empty())
    line(note, document::label_size, document::Tone::faint, false);
  for (const AttentionGroup& group : groups) {
    top += margin;
    if (groups.size() > 1) line(group.title, 13.0, document::Tone::ink, true);
    const document::HeatMapChart chart = attention_chart(text, group);
    const document::Drawing part = document::draw(
        chart, std::min(all.width, std::max(least_width, document::heat_map_width(chart, cell))));
    for (const document::Shape2d& shape : part.shapes) all.shapes.push_back(std::visit(Lowered{top}, shape));
    top += part.height + margin;
  }
  all.height = top;
  // Adds margins, because the drawing is a file of its own.
  for (document::Shape2d& shape : all.shapes)
    std::visit(
        [](auto& one) {
          if constexpr (requires { one.points; }) {
            for (auto& point : one.points) point.first += margin;
          } else {
            one.x += margin;
          }
        },
        shape);
  all.width += 2 * margin;
  return all;
}

}  // namespace encore::report
