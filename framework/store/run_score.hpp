// The measure by which a run chooses its checkpoints, and how far it has come with it: what `ls` and `status`
// show while a run trains.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "store/metrics.hpp"
#include "store/store.hpp"

namespace encore {

/// "max dev/f1", as train.select says it.
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

/// Of each run that stored its settings.
std::map<std::int64_t, SelectionRule> selection_rules(Store& store, const std::vector<RunRow>& runs);
/// In the order of the runs.
std::vector<RunScore> scores_of(Store& store, const std::vector<RunRow>& runs);
/// "dev/f1" of "max dev/f1"; empty for what is no such rule.
std::string selected_metric(const std::string& rule);

/// What the metric that chooses a run's checkpoint was worth over its evaluations, by the points that count.
struct SelectionSpread {
  std::int64_t evaluations = 0;        ///< of the development set
  std::int64_t defined = 0;            ///< those that gave a finite value
  double lowest = 0.0, highest = 0.0;  ///< of these
};
/// Of each run that stored its settings and evaluated.
std::map<std::int64_t, SelectionSpread> selection_spreads(Store& store, const std::vector<RunRow>& runs);

/// The metric that shows these runs when nobody names one: the measure by which most of them choose
/// checkpoints, on test where any of them has it there, else as the rule names it; the loss where no run
/// stored a rule.
Metric leading_metric(Store& store, const std::vector<RunRow>& runs);

/// A measure of the run's result, such as "test/f1".
std::optional<double> result_measure(const RunRow& run, const std::string& name);
/// The same, by which runs are judged: none where it is the metric that chose the run's checkpoint and the
/// development set leaves that undefined, whatever number stands there then.
std::optional<double> judged_measure(Store& store, const RunRow& run, const std::string& name);

}  // namespace encore
