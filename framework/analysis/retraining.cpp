// SPDX-License-Identifier: BSD-3-Clause
// Compares a retrained run with its parent: computes differences as gains, writes them as text, and converts
// them to the JSON that the database stores and back. app/retraining_comparison.cpp and app/retrain.cpp call
// it. The database holds the names of the JSON fields, so they never change. Read retraining.hpp first.
#include "analysis/retraining.hpp"

#include <cmath>
#include <cstdio>

#include <nlohmann/json.hpp>

#include "analysis/comparison.hpp"
#include "base/example_bootstrap.hpp"
#include "base/json_fields.hpp"
#include "base/measure_json.hpp"
#include "base/readable_text.hpp"

namespace encore::record {
static void list(auto& field, A<DataFile> auto& file) {
  field("path", file.path);
  field("sha256", file.sha256);
}
}  // namespace encore::record

namespace encore::analysis {

namespace {

using nlohmann::json;

constexpr double level = 0.95;

/// Returns the factor by which a difference run - parent becomes a gain: 100 for a fraction (percentage
/// points), negative if lower is better.
double factor_of(const Metric& measure) {
  return (measure.is_fraction() ? 100.0 : 1.0) * (measure.lower_is_better() ? -1.0 : 1.0);
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

static void list(auto& field, A<ComparedSet> auto& set) {
  field("what", set.what);
  field("examples", set.examples);
  field("parent", set.parent);
  field("run", set.run);
  field("gain", set.gain);
  field("low", set.low);
  field("high", set.high);
}

static void list(auto& field, A<Retraining> auto& retraining) {
  field("parent", retraining.parent);
  field("measure", retraining.measure.name);
  field("definition", retraining.measure.meaning);
  field("old", retraining.old_set);
  field("new", retraining.new_set);
  field("new_files", retraining.new_files);
  field("held_out", retraining.held_out);
  field("rule", retraining.rule);
  field("promoted", retraining.promoted);
}

json json_of(const Retraining& retraining) {
  return to_json_object(retraining);
}

Retraining retraining_in(const json& object) {
  try {
    return from_json_object<Retraining>(object);
  } catch (const FieldError& error) {
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

}  // namespace encore::analysis
