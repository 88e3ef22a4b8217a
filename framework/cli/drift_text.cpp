// SPDX-License-Identifier: BSD-3-Clause
// Prints the drift of weights and losses as tables, from the JSON of runner/drift.hpp. diff_verb.cpp and
// verdict_text.cpp call it. Read next: drift_text.hpp.
#include "cli/drift_text.hpp"

#include <cmath>
#include <ostream>
#include <string>

#include "cli/format.hpp"
#include "cli/table.hpp"

namespace encore::cli {

namespace {

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
