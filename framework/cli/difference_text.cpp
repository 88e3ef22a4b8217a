// SPDX-License-Identifier: BSD-3-Clause
// Prints differences between two runs as a table with short values, as CSV with complete ones, and as JSON,
// for diff_verb.cpp and explain_verb.cpp; and the drift of weights and losses as tables, for diff_verb.cpp
// and verdict_text.cpp. JSON members and CSV columns keep their names; tables may change. Read next:
// difference_text.hpp.
#include "cli/difference_text.hpp"

#include <algorithm>
#include <cmath>
#include <ostream>
#include <string>

#include "base/sha256.hpp"
#include "cli/table.hpp"
#include "config/value.hpp"

namespace encore::cli {

namespace {

/// Shortens a hash to its beginning and a patch to its number of lines; --json has the full values.
std::string side_text(const analysis::Difference& difference, const nlohmann::json& value,
                      const std::string& origin) {
  if (value.is_null()) return "-";
  std::string text = value.is_string()         ? value.get<std::string>()
                     : value.is_number_float() ? config::shortest(value.get<double>())
                                               : value.dump();
  if (difference.section == "data") return short_hash(text);
  if (difference.section == "plugins") {
    const std::size_t hash = text.find('(');
    return hash == std::string::npos ? text : text.substr(0, hash + 13) + ")";
  }
  if (difference.section == "code") {
    if (difference.key == "commit") return text.empty() ? "(none)" : text.substr(0, 10);
    if (text.empty()) return "none";
    return std::to_string(std::count(text.begin(), text.end(), '\n')) + " lines of a patch";
  }
  if (text.empty()) text = "\"\"";
  return origin.empty() ? text : text + "  (" + origin + ")";
}

// --- drift ---

std::string step_text(const std::optional<std::int64_t>& step) {
  return step ? std::to_string(*step) : "never";
}

void print_layers(std::ostream& out, const Terminal& terminal, const std::vector<runner::DriftOfStep>& steps,
                  int indent) {
  Table table({{"STEP", Align::right},
               {"LAYER"},
               {"RELATIVE", Align::right},
               {"ABSOLUTE", Align::right},
               {"ULPS", Align::right},
               {"OTHER VALUES", Align::right}});
  const auto figure = [](const std::optional<double>& value) {
    return value ? document::number_text(*value) : "-";
  };
  for (const runner::DriftOfStep& step : steps)
    for (const runner::DriftFigures& layer : step.layers)
      table.add({std::to_string(step.step), layer.name, figure(layer.relative), figure(layer.largest),
                 layer.ulps ? std::to_string(*layer.ulps) : "-",
                 std::to_string(layer.different) + " of " + std::to_string(layer.values)});
  table.print(out, terminal, indent);
}

void print_curves(std::ostream& out, const Terminal& terminal, const std::vector<runner::CurveDrift>& curves,
                  double tolerance, int indent) {
  Table table({{"CURVE"},
               {"STEPS", Align::right},
               {"DIFFERS FROM", Align::right},
               {"BY OVER " + document::number_text(tolerance) + " FROM", Align::right},
               {"LARGEST", Align::right},
               {"AT STEP", Align::right}});
  for (const runner::CurveDrift& curve : curves)
    table.add({curve.metric, std::to_string(curve.steps), step_text(curve.first_difference),
               step_text(curve.first_beyond),
               std::isfinite(curve.largest) ? document::number_text(curve.largest) : "infinite",
               curve.first_difference ? std::to_string(curve.largest_step) : "-"});
  table.print(out, terminal, indent);
}

}  // namespace

void print_differences(std::ostream& out, const Terminal& terminal,
                       const std::vector<analysis::Difference>& differences, const std::string& a,
                       const std::string& b, int indent) {
  Table table({{"OF"}, {"FIELD"}, {a}, {b}});
  for (const analysis::Difference& difference : differences)
    table.add({difference.section, difference.key, side_text(difference, difference.a, difference.origin_a),
               side_text(difference, difference.b, difference.origin_b)});
  table.print(out, terminal, indent);
}

std::string csv_text(const nlohmann::json& value) {
  return value.is_null() ? "" : value.is_string() ? value.get<std::string>() : value.dump();
}

void print_differences_csv(std::ostream& out, const std::vector<analysis::Difference>& differences) {
  out << document::csv_record({"section", "key", "a", "b", "origin_a", "origin_b"});
  for (const analysis::Difference& difference : differences)
    out << document::csv_record({difference.section, difference.key, csv_text(difference.a),
                                 csv_text(difference.b), difference.origin_a, difference.origin_b});
}

nlohmann::ordered_json differences_json(const std::vector<analysis::Difference>& differences) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const analysis::Difference& difference : differences)
    list.push_back({{"section", difference.section},
                    {"key", difference.key},
                    {"a", difference.a},
                    {"b", difference.b},
                    {"origin_a", difference.origin_a},
                    {"origin_b", difference.origin_b}});
  return list;
}

void print_drift(std::ostream& out, const Terminal& terminal, const runner::DriftReport& drift, int indent) {
  const std::string margin(static_cast<std::size_t>(indent), ' ');
  if (drift.steps.empty()) {
    out << margin << "drift of the layers: unknown, because they have no checkpoint of the same step\n";
  } else {
    out << margin << "drift of the layers, relative to their norm:\n";
    print_layers(out, terminal, drift.steps, indent + 2);
  }
  if (drift.curves.empty()) {
    out << margin << "drift of the loss: unknown, because they have no curve in common\n";
  } else {
    out << margin << "drift of the loss, relative:\n";
    print_curves(out, terminal, drift.curves, drift.tolerance, indent + 2);
  }
}

}  // namespace encore::cli
