// The measure by which a run chooses its checkpoints, and how far it has come with it: what `ls` and `status`
// show while a run trains.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "store/store.hpp"

namespace encore {

/// "max dev/f1", as train.select says it.
struct SelectionRule {
  std::string metric = "dev/f1";
  bool lower = false;

  std::string text() const { return (lower ? "min " : "max ") + metric; }
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
/// "dev/loss", "train/perplexity": measures of which lower values are better.
bool lower_is_better(const std::string& metric);

/// A measure of the run's result, such as "test/f1".
std::optional<double> result_measure(const RunRow& run, const std::string& name);

}  // namespace encore
