// SPDX-License-Identifier: BSD-3-Clause
// Returns the measure by which a run chooses its checkpoints, and its best and newest values. `ls` and
// `status` show them while a run trains.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "store/metrics.hpp"
#include "store/store.hpp"

namespace encore {

/// The rule of train.select: "max dev/f1".
struct SelectionRule {
  Metric metric = {};  ///< without a name where the run did not store its settings
  bool lower = false;

  std::string text() const { return metric.name.empty() ? "" : (lower ? "min " : "max ") + metric.name; }
};

struct RunScore {
  SelectionRule rule = {};
  std::optional<double> best = {};    ///< of the run's result, else so far
  std::optional<double> latest = {};  ///< the newest value
};

/// Returns the rule of each run that stored its settings.
std::map<std::int64_t, SelectionRule> selection_rules(Store& store, const std::vector<RunRow>& runs);
/// Returns the scores in the order of the runs.
std::vector<RunScore> scores_of(Store& store, const std::vector<RunRow>& runs);
/// Returns "dev/f1" for "max dev/f1"; empty for an invalid rule.
std::string selected_metric(const std::string& rule);

/// The values of the metric that chooses a run's checkpoint over its evaluations, by the points that count.
struct SelectionSpread {
  std::int64_t evaluations = 0;        ///< of the development set
  std::int64_t defined = 0;            ///< those that gave a finite value
  double lowest = 0.0, highest = 0.0;  ///< of these
};
/// Returns the spread of each run that stored its settings and evaluated.
std::map<std::int64_t, SelectionSpread> selection_spreads(Store& store, const std::vector<RunRow>& runs);

/// Returns the default metric for showing these runs: the measure by which most of them choose
/// checkpoints, on test if any of them has it there, else as the rule names it; the loss if no run stored
/// a rule.
Metric leading_metric(Store& store, const std::vector<RunRow>& runs);

/// Returns a measure of the run's result, such as "test/f1".
std::optional<double> result_measure(const RunRow& run, const std::string& name);
/// Returns the same measure for judging runs. Returns nothing if it chose the run's checkpoint and is
/// undefined on the development set, whatever its number.
std::optional<double> judged_measure(Store& store, const RunRow& run, const std::string& name);

}  // namespace encore
