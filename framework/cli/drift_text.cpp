// SPDX-License-Identifier: BSD-3-Clause
// Prints the drift of weights and losses as tables, from the JSON of runner/drift.hpp. diff_verb.cpp and
// verdict_text.cpp call it. Read next: drift_text.hpp.
#include "cli/drift_text.hpp"

#include <ostream>
#include <string>

#include "cli/format.hpp"
#include "cli/table.hpp"

namespace encore {

namespace {

using nlohmann::json;

std::string figure(const json& value) {
  return value.is_number_float() ? number_text(value.get<double>()) : value.is_null() ? "-" : value.dump();
}

std::string step_text(const json& step) {
  return step.is_null() ? "never" : step.dump();
}

void print_layers(std::ostream& out, const Terminal& terminal, const json& steps, int indent) {
  Table table({{"STEP", Align::right},
               {"LAYER"},
               {"RELATIVE", Align::right},
               {"ABSOLUTE", Align::right},
               {"ULPS", Align::right},
               {"OTHER VALUES", Align::right}});
  for (const json& step : steps)
    for (const json& layer : step.at("layers"))
      table.add({step.at("step").dump(), layer.at("name").get<std::string>(), figure(layer.at("relative")),
                 figure(layer.at("largest")), figure(layer.at("ulps")),
                 layer.at("different").dump() + " of " + layer.at("values").dump()});
  table.print(out, terminal, indent);
}

void print_curves(std::ostream& out, const Terminal& terminal, const json& curves, double tolerance,
                  int indent) {
  Table table({{"CURVE"},
               {"STEPS", Align::right},
               {"DIFFERS FROM", Align::right},
               {"BY OVER " + number_text(tolerance) + " FROM", Align::right},
               {"LARGEST", Align::right},
               {"AT STEP", Align::right}});
  for (const json& curve : curves) {
    const bool same = curve.at("first_difference").is_null();
    // No number in JSON is infinite: null is what the difference from a value that is not finite became.
    table.add({curve.at("metric").get<std::string>(), curve.at("steps").dump(),
               step_text(curve.at("first_difference")), step_text(curve.at("first_beyond")),
               curve.at("largest").is_number() ? number_text(curve.at("largest").get<double>()) : "infinite",
               same ? "-" : curve.at("largest_step").dump()});
  }
  table.print(out, terminal, indent);
}

}  // namespace

void print_drift(std::ostream& out, const Terminal& terminal, const json& drift, int indent) {
  const std::string margin(static_cast<std::size_t>(indent), ' ');
  const json &steps = drift.at("steps"), &curves = drift.at("curves");
  if (steps.empty()) {
    out << margin << "drift of the layers: unknown, because they have no checkpoint of the same step\n";
  } else {
    out << margin << "drift of the layers, relative to their norm:\n";
    print_layers(out, terminal, steps, indent + 2);
  }
  if (curves.empty()) {
    out << margin << "drift of the loss: unknown, because they have no curve in common\n";
  } else {
    out << margin << "drift of the loss, relative:\n";
    print_curves(out, terminal, curves, drift.at("tolerance").get<double>(), indent + 2);
  }
}

}  // namespace encore
