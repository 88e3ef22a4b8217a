// SPDX-License-Identifier: BSD-3-Clause
// Implements document_json(), the JSON writer of `exp report`: one function for each kind of block and chart,
// every number in full precision. Programs read this output: fields may be added, but never renamed or
// removed. Read writers.hpp first.
#include "document/writers.hpp"

#include <algorithm>
#include <cmath>

#include <nlohmann/json.hpp>

namespace encore::document {

namespace {

using Json = nlohmann::ordered_json;

template <class... Cases>
struct Match : Cases... {
  using Cases::operator()...;
};
template <class... Cases>
Match(Cases...) -> Match<Cases...>;

Json number(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

Json number(const std::optional<double>& value) {
  return value ? number(*value) : Json();
}

Json numbers(const std::vector<double>& values) {
  Json list = Json::array();
  for (const double value : values) list.push_back(number(value));
  return list;
}

// --- marked text ---

const char* name_of(Span::Kind kind) {
  switch (kind) {
    case Span::Kind::plain:
      return "plain";
    case Span::Kind::strong:
      return "strong";
    case Span::Kind::emphasis:
      return "emphasis";
    case Span::Kind::code:
      return "code";
    case Span::Kind::reference:
      return "reference";
    case Span::Kind::right:
      return "right";
    case Span::Kind::wrong:
      return "wrong";
    case Span::Kind::missed:
      break;
  }
  return "missed";
}

/// Puts a text into `json` under `name`, and its spans beside it if some are marked.
void put(Json& json, const std::string& name, const Text& text) {
  json[name] = text.plain();
  if (std::all_of(text.spans.begin(), text.spans.end(),
                  [](const Span& span) { return span.kind == Span::Kind::plain; }))
    return;
  Json& spans = json[name == "text" ? "spans" : name + "_spans"] = Json::array();
  for (const Span& span : text.spans) {
    Json one = {{"text", span.text}, {"kind", name_of(span.kind)}};
    if (!span.target.empty()) one["target"] = span.target;
    spans.push_back(std::move(one));
  }
}

Json text_json(const Text& text) {
  Json json = Json::object();
  put(json, "text", text);
  return json;
}

// --- charts ---

Json axis_json(const Axis& axis) {
  Json json = {{"label", axis.label},
               {"unit", axis.unit},
               {"scale", axis.scale == Axis::Scale::linear ? "linear" : "logarithmic"}};
  if (axis.low) json["low"] = number(axis.low);
  if (axis.high) json["high"] = number(axis.high);
  return json;
}

Json chart_json(const LineChart& chart) {
  Json json = {
      {"kind", "lines"}, {"x", axis_json(chart.x)}, {"y", axis_json(chart.y)}, {"series", Json::array()}};
  for (const Series& series : chart.series)
    json["series"].push_back({{"name", series.name},
                              {"x", numbers(series.x)},
                              {"y", numbers(series.y)},
                              {"low", numbers(series.low)},
                              {"high", numbers(series.high)}});
  return json;
}

Json chart_json(const ScatterChart& chart) {
  Json json = {{"kind", "points"},
               {"x", axis_json(chart.x)},
               {"y", axis_json(chart.y)},
               {"categories", chart.categories},
               {"groups", Json::array()}};
  for (const ScatterChart::Group& group : chart.groups) {
    Json points = Json::array();
    for (const ScatterChart::Point& point : group.points)
      points.push_back({{"x", number(point.x)},
                        {"y", number(point.y)},
                        {"low", number(point.low)},
                        {"high", number(point.high)},
                        {"name", point.name}});
    json["groups"].push_back({{"name", group.name}, {"points", std::move(points)}});
  }
  return json;
}

Json chart_json(const BarChart& chart) {
  Json json = {{"kind", "bars"}, {"value", axis_json(chart.value)}, {"bars", Json::array()}};
  for (const BarChart::Bar& bar : chart.bars)
    json["bars"].push_back({{"name", bar.name},
                            {"value", number(bar.value)},
                            {"low", number(bar.low)},
                            {"high", number(bar.high)}});
  return json;
}

Json chart_json(const Histogram& chart) {
  return {{"kind", "histogram"},          {"x", axis_json(chart.x)},      {"y", axis_json(chart.y)},
          {"first", number(chart.first)}, {"width", number(chart.width)}, {"counts", numbers(chart.counts)},
          {"mark", number(chart.mark)},   {"mark_name", chart.mark_name}};
}

Json chart_json(const MatrixChart& chart) {
  Json counts = Json::array();
  for (const std::vector<double>& row : chart.counts) counts.push_back(numbers(row));
  return {{"kind", "matrix"},
          {"rows", chart.row_title},
          {"columns", chart.column_title},
          {"labels", chart.labels},
          {"counts", std::move(counts)}};
}

Json chart_json(const HeatMapChart& chart) {
  Json panels = Json::array();
  for (const HeatMapChart::Panel& panel : chart.panels) {
    Json marks = Json::array();
    for (const HeatMapChart::Mark& mark : panel.marks)
      marks.push_back({{"column", number(mark.column)}, {"row", number(mark.row)}, {"name", mark.name}});
    panels.push_back({{"title", panel.title}, {"values", numbers(panel.values)}});
    if (!marks.empty()) panels.back()["marks"] = std::move(marks);
  }
  return {{"kind", "heat_map"},
          {"row_title", chart.row_title},
          {"column_title", chart.column_title},
          {"value_title", chart.value_title},
          {"rows", chart.rows},
          {"columns", chart.columns},
          {"panels", std::move(panels)}};
}

Json chart_json(const ParallelChart& chart) {
  Json dimensions = Json::array(), lines = Json::array();
  for (const ParallelChart::Dimension& dimension : chart.dimensions)
    dimensions.push_back({{"name", dimension.name},
                          {"categories", dimension.categories},
                          {"logarithmic", dimension.logarithmic}});
  for (const ParallelChart::Line& line : chart.lines)
    lines.push_back({{"name", line.name}, {"values", numbers(line.values)}});
  return {{"kind", "parallel"}, {"dimensions", std::move(dimensions)}, {"lines", std::move(lines)}};
}

const char* kind_of(Tone tone) {
  switch (tone) {
    case Tone::good:
      return "good";
    case Tone::bad:
      return "bad";
    case Tone::missing:
      return "missing";
    default:
      return "series";
  }
}

Json chart_json(const TimelineChart& chart) {
  Json bars = Json::array(), legend = Json::array();
  for (const TimelineChart::Bar& bar : chart.bars)
    bars.push_back({{"lane", bar.lane},
                    {"begin", number(bar.begin)},
                    {"end", number(bar.end)},
                    {"name", bar.name},
                    {"tone", kind_of(bar.tone)}});
  for (const auto& [tone, meaning] : chart.legend)
    legend.push_back({{"tone", kind_of(tone)}, {"meaning", meaning}});
  return {
      {"kind", "timeline"}, {"lanes", chart.lanes}, {"bars", std::move(bars)}, {"legend", std::move(legend)}};
}

Json chart_json(const FlowChart& chart) {
  Json boxes = Json::array(), groups = Json::array();
  for (const FlowChart::Box& box : chart.boxes)
    boxes.push_back({{"name", box.name},
                     {"detail", box.detail},
                     {"skip_from", box.skip_from ? Json(*box.skip_from) : Json()}});
  for (const FlowChart::Group& group : chart.groups)
    groups.push_back(
        {{"name", group.name}, {"first", group.first}, {"last", group.last}, {"times", group.times}});
  return {{"kind", "flow"}, {"boxes", std::move(boxes)}, {"groups", std::move(groups)}};
}

// --- blocks ---

Json cell_json(const TableCell& cell) {
  Json json = text_json(cell.text);
  if (cell.number) json["number"] = number(*cell.number);
  if (cell.best) json["best"] = true;
  return json;
}

Json table_json(const TableBlock& table) {
  Json json = {{"type", "table"}, {"id", table.id}};
  put(json, "caption", table.caption);
  json["columns"] = Json::array();
  for (const Column& column : table.columns)
    json["columns"].push_back({{"name", column.name}, {"unit", column.unit}, {"numeric", column.numeric}});
  json["rows"] = Json::array();
  for (const std::vector<TableCell>& row : table.rows) {
    Json cells = Json::array();
    for (const TableCell& cell : row) cells.push_back(cell_json(cell));
    json["rows"].push_back(std::move(cells));
  }
  json["notes"] = Json::array();
  for (const Text& note : table.notes) json["notes"].push_back(text_json(note));
  return json;
}

Json line_json(const char* type, const Text& text) {
  Json json = {{"type", type}};
  put(json, "text", text);
  return json;
}

Json block_json(const Block& block) {
  return std::visit(
      Match{[](const Paragraph& paragraph) { return line_json("paragraph", paragraph.text); },
            [](const Notice& notice) { return line_json("notice", notice.text); },
            [](const ItemList& list) {
              Json json = {{"type", "list"}, {"items", Json::array()}};
              for (const Text& item : list.items) json["items"].push_back(text_json(item));
              return json;
            },
            [](const Listing& listing) {
              return Json{{"type", "listing"}, {"language", listing.language}, {"text", listing.text}};
            },
            [](const TableBlock& table) { return table_json(table); },
            [](const Figure& figure) {
              Json json = {{"type", "figure"}, {"id", figure.id}};
              put(json, "caption", figure.caption);
              json["alternative"] = figure.alternative;
              json["chart"] = std::visit([](const auto& chart) { return chart_json(chart); }, figure.chart);
              return json;
            }},
      block);
}

Json blocks_json(const std::vector<Block>& blocks) {
  Json list = Json::array();
  for (const Block& block : blocks) list.push_back(block_json(block));
  return list;
}

Json section_json(const Section& section) {
  Json json = {{"id", section.id}, {"title", section.title}, {"blocks", blocks_json(section.blocks)}};
  if (section.sections.empty()) return json;
  json["sections"] = Json::array();
  for (const Section& inner : section.sections) json["sections"].push_back(section_json(inner));
  return json;
}

}  // namespace

nlohmann::ordered_json document_json(const Document& document) {
  Json json = {{"title", document.title}, {"subtitle", document.subtitle}, {"facts", Json::array()}};
  for (const auto& [name, value] : document.facts)
    json["facts"].push_back({{"name", name}, {"value", value}});
  json["abstract"] = blocks_json(document.abstract);
  json["sections"] = Json::array();
  for (const Section& section : document.sections) json["sections"].push_back(section_json(section));
  return json;
}

std::string json_text(const Document& document) {
  return document_json(document).dump(1, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace encore::document
