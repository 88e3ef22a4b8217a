// SPDX-License-Identifier: BSD-3-Clause
// RunScore: the best and newest value of the measure by which a run is judged: that of train.select, or of
// app.select for an application. `exp ls` and `exp status` show scores while a run trains; analysis/ and
// app/verify.cpp read the selection rules. Nothing is stored here; the text of a rule is a setting, so its
// form stays.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "store/metrics.hpp"
#include "store/store.hpp"

namespace encore::store {

/// The rule of train.select: "max dev/f1".
struct SelectionRule {
  Metric metric = {};  ///< without a name if the run did not store its settings
  bool lower = false;

  std::string text() const { return metric.name.empty() ? "" : (lower ? "min " : "max ") + metric.name; }
};

struct RunScore {
  SelectionRule rule = {};
  std::optional<double> best = {};    ///< from the run's result, or the best so far
  std::optional<double> latest = {};  ///< the newest value
};

/// Returns the rule of each run that stored its settings.
std::map<std::int64_t, SelectionRule> selection_rules(Store& store, const std::vector<RunRow>& runs);
/// Returns the scores in the order of the runs.
std::vector<RunScore> scores_of(Store& store, const std::vector<RunRow>& runs);
/// Returns "dev/f1" for "max dev/f1"; empty for an invalid rule.
std::string selected_metric(const std::string& rule);

/// How the metric that selects a run's checkpoint varied over its evaluations, by the points that count.
struct SelectionSpread {
  std::int64_t evaluations = 0;        ///< on the development set
  std::int64_t defined = 0;            ///< evaluations with a finite value
  double lowest = 0.0, highest = 0.0;  ///< of the finite values
};
/// Returns the spread of each run that stored its settings and evaluated.
std::map<std::int64_t, SelectionSpread> selection_spreads(Store& store, const std::vector<RunRow>& runs);

/// Returns the default metric for showing these runs. It is the measure by which most of them select
/// checkpoints: on the test set if any run has it there, else on the development set. Returns the loss if no
/// run stored a rule.
Metric leading_metric(Store& store, const std::vector<RunRow>& runs);

/// Returns a measure of the run's result, such as "test/f1".
std::optional<double> result_measure(const RunRow& run, const std::string& name);
/// Returns the same measure for judging a run. Returns nothing if the measure selected the run's checkpoint
/// and is undefined on the development set, whatever number was stored.
std::optional<double> judged_measure(Store& store, const RunRow& run, const std::string& name);

}  // namespace encore::store
