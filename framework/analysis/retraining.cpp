// SPDX-License-Identifier: BSD-3-Clause
// Compares a retrained run with its parent: computes differences as gains, words them, and converts them to
// the JSON that the database stores and back. app/retraining_comparison.cpp and app/retrain.cpp call it.
// Stored rows hold the names of the JSON fields, so these never change. Read retraining.hpp first.
#include "analysis/retraining.hpp"

#include <cmath>
#include <cstdio>

#include <nlohmann/json.hpp>

#include "analysis/comparison.hpp"
#include "base/example_bootstrap.hpp"
#include "base/measure_json.hpp"
#include "base/readable_text.hpp"

namespace encore {

namespace {

using nlohmann::json;

constexpr double level = 0.95;

/// Returns the factor that makes a gain of a difference: its sign, and 100 for percentage points.
double factor_of(const Metric& measure) {
  return (measure.is_fraction() ? 100.0 : 1.0) * (measure.lower_is_better() ? -1.0 : 1.0);
}

json number_or_null(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? json(*value) : json();
}

json json_of(const ComparedSet& set) {
  return {{"what", set.what},
          {"examples", set.examples},
          {"parent", number_or_null(set.parent)},
          {"run", number_or_null(set.run)},
          {"gain", number_or_null(set.gain)},
          {"low", number_or_null(set.low)},
          {"high", number_or_null(set.high)}};
}

std::optional<double> optional_number(const json& value) {
  return value.is_number() ? std::optional(value.get<double>()) : std::nullopt;
}

ComparedSet set_in(const json& object) {
  return {.what = object.at("what").get<std::string>(),
          .examples = object.at("examples").get<std::size_t>(),
          .parent = optional_number(object.at("parent")).value_or(NAN),
          .run = optional_number(object.at("run")).value_or(NAN),
          .gain = optional_number(object.at("gain")).value_or(NAN),
          .low = optional_number(object.at("low")),
          .high = optional_number(object.at("high"))};
}

std::string signed_text(double gain) {
  if (!std::isfinite(gain)) return "unknown";
  char text[40];
  std::snprintf(text, sizeof text, std::abs(gain) >= 0.01 || gain == 0.0 ? "%+.2f" : "%+.2g", gain);
  return text;
}

std::string sentence(const Metric& measure, const char* which, const ComparedSet& set) {
  return "on the " + std::string(which) + " set (" + set.what + ", " + counted(set.examples, "example") +
         ") " + measure.title() + " went from " + metric_text(measure, set.parent) + " to " +
         metric_text(measure, set.run) + ": " + gain_text(measure, set);
}

}  // namespace

json json_of(const Retraining& retraining) {
  json files = json::array();
  for (const DataFile& file : retraining.new_files)
    files.push_back({{"path", file.path}, {"sha256", file.sha256}});
  return {{"parent", retraining.parent},
          {"measure", retraining.measure.name},
          {"definition", json_of(retraining.measure.meaning)},
          {"old", json_of(retraining.old_set)},
          {"new", json_of(retraining.new_set)},
          {"new_files", files},
          {"held_out", retraining.held_out},
          {"rule", retraining.rule},
          {"promoted", retraining.promoted}};
}

Retraining retraining_in(const json& object) {
  try {
    Retraining retraining = {.parent = object.at("parent").get<std::string>(),
                             .measure = {.name = object.at("measure").get<std::string>(),
                                         .meaning = measure_in(object.at("definition"))},
                             .old_set = set_in(object.at("old")),
                             .new_set = set_in(object.at("new")),
                             .new_files = {},
                             .held_out = object.at("held_out").get<double>(),
                             .rule = object.at("rule").get<std::string>(),
                             .promoted = object.at("promoted").get<bool>()};
    for (const json& file : object.at("new_files"))
      retraining.new_files.push_back(
          {file.at("path").get<std::string>(), file.at("sha256").get<std::string>()});
    return retraining;
  } catch (const json::exception& error) {
    throw Error(std::string("the record of a retraining is incomplete: ") + error.what());
  }
}

bool follows_from_examples(const Metric& measure) {
  return measure.is_known() && has_value(measure.meaning.reducer);
}

ComparedSet compared(const Metric& measure, const std::string& what, std::size_t examples, double parent,
                     double run) {
  return {.what = what,
          .examples = examples,
          .parent = parent,
          .run = run,
          .gain = factor_of(measure) * (run - parent)};
}

ComparedSet compared(const Metric& measure, const std::string& what, const Statistics& parent,
                     const Statistics& run) {
  if (parent.examples() != run.examples())
    throw Error("on the " + what + " the run was scored on " + counted(run.examples(), "example") +
                " and its parent on " + std::to_string(parent.examples()) +
                ", so that they cannot be compared");
  MeasureCells cells(measure.meaning, measure.key().value_or(""));
  const ExampleSums before = cells.sums_of(parent), after = cells.sums_of(run);
  const MeasureDifference difference = paired_bootstrap(before, after, cells, level);
  ComparedSet set = compared(measure, what, run.examples(), difference.before, difference.after);
  const double factor = factor_of(measure);
  set.low = factor * (factor < 0 ? difference.high : difference.low);
  set.high = factor * (factor < 0 ? difference.low : difference.high);
  return set;
}

std::string gain_text(const Metric& measure, const ComparedSet& set) {
  const std::string unit = measure.is_fraction() ? " points" : "";
  std::string text = signed_text(set.gain) + unit;
  if (measure.lower_is_better()) text += " better";
  if (set.low && set.high)
    text += " (95 % interval " + signed_text(*set.low) + " to " + signed_text(*set.high) + ")";
  return text;
}

std::vector<std::string> sentences(const Retraining& retraining) {
  return {sentence(retraining.measure, "old", retraining.old_set),
          sentence(retraining.measure, "new", retraining.new_set),
          "the rule \"" + retraining.rule + "\" " +
              (retraining.promoted ? "holds: it was promoted" : "does not hold: it was not promoted")};
}

}  // namespace encore
