// SPDX-License-Identifier: BSD-3-Clause
// Writes the notices about runs whose metric could not choose a checkpoint. They are derived from the stored
// points at each call, so that old runs have them too. comparison.cpp, cli/run_summary.cpp,
// cli/show_scores.cpp, cli/run_json.cpp and report/trials.cpp call it. The wording may change. Read
// selection_notice.hpp first.
#include "analysis/selection_notice.hpp"

#include <algorithm>

#include "analysis/comparison.hpp"
#include "base/measures.hpp"
#include "base/readable_text.hpp"
#include "record/specification.hpp"
#include "store/run_score.hpp"

namespace encore::analysis {

namespace {

bool breaks_ties_by_loss(const store::RunRow& run) {
  return run.result.is_object() &&
         run.result.value("ties", nlohmann::json()) == nlohmann::json(record::name_of(record::Ties::loss));
}

/// Returns "dev/bleu is 0.00 at all 28 evaluations". Returns an empty string if the metric varied, or if its
/// only evaluation gave a number.
std::string still_text(const store::RunRow& run, const Metric& metric, const store::SelectionSpread& spread) {
  const auto all = static_cast<std::size_t>(spread.evaluations);
  if (run.result.is_object() && run.result.value("undefined", nlohmann::json()) == true)
    return metric.name +
           " is undefined on the development set, whose labels or references leave it nothing to count";
  if (spread.defined == 0)
    return metric.name + " is undefined at " +
           (all == 1 ? "the only evaluation" : "all " + counted(all, "evaluation"));
  if (all == 1 || spread.lowest != spread.highest) return "";
  const std::string value = metric.name + " is " + metric_text(metric, spread.lowest);
  if (spread.defined == spread.evaluations) return value + " at all " + counted(all, "evaluation");
  return value + " at " + std::to_string(spread.defined) + " of " + counted(all, "evaluation") +
         " and undefined at the others";
}

/// Returns which checkpoint the run keeps: "the run keeps step 56, that of the lowest dev/loss".
std::string kept_text(const store::RunRow& run) {
  if (!run.result.is_object() || !run.result.contains("best_step")) return "";
  const std::string kept = "; the run keeps step " + run.result["best_step"].dump();
  return kept + (breaks_ties_by_loss(run) ? ", that of the lowest dev/" + loss_measure().name
                                          : ", the earliest with that value");
}

}  // namespace

std::map<std::int64_t, std::string> selection_notices(store::Store& store,
                                                      const std::vector<store::RunRow>& runs) {
  const std::map<std::int64_t, store::SelectionRule> rules = store::selection_rules(store, runs);
  const std::map<std::int64_t, store::SelectionSpread> spreads = store::selection_spreads(store, runs);
  std::map<std::int64_t, std::string> notices;
  for (const store::RunRow& run : runs) {
    const auto rule = rules.find(run.number);
    const auto spread = spreads.find(run.number);
    if (rule == rules.end() || spread == spreads.end()) continue;
    const std::string still = still_text(run, rule->second.metric, spread->second);
    if (still.empty()) continue;
    const bool fell_back = spread->second.defined == 0 && !breaks_ties_by_loss(run);
    notices[run.number] = still + ", so it cannot choose a checkpoint" + (fell_back ? "" : kept_text(run)) +
                          "; train.select can name another measure";
  }
  return notices;
}

void note_selection(store::Store& store, const std::vector<Candidate>& candidates,
                    std::vector<std::string>& notices) {
  std::vector<store::RunRow> runs;
  for (const Candidate& candidate : candidates)
    for (const Replicate& replicate : candidate.runs) runs.push_back(replicate.run);
  const std::map<std::int64_t, std::string> found = selection_notices(store, runs);
  for (const Candidate& candidate : candidates) {
    std::vector<const Replicate*> still;
    for (const Replicate& replicate : candidate.runs)
      if (found.contains(replicate.run.number)) still.push_back(&replicate);
    if (still.empty()) continue;
    const std::string& first = found.at(still.front()->run.number);
    if (candidate.runs.size() == 1)
      notices.push_back(candidate.name + ": " + first);
    else
      notices.push_back(candidate.name + ": the metric that chooses the checkpoint never moved in " +
                        std::to_string(still.size()) + " of " + counted(candidate.runs.size(), "run") +
                        "; in " + still.front()->run.name + " " + first);
  }
}

std::string ties_text(const std::vector<store::RunRow>& runs) {
  const auto by_loss = static_cast<std::size_t>(std::ranges::count_if(runs, breaks_ties_by_loss));
  const auto concluded = static_cast<std::size_t>(
      std::ranges::count_if(runs, [](const store::RunRow& run) { return run.result.is_object(); }));
  const std::string loss = "of equals that with the lowest dev/" + loss_measure().name + ", then the latest";
  if (by_loss == 0) return "the earliest of equals";
  return by_loss == concluded
             ? loss
             : loss + " (in " + std::to_string(concluded - by_loss) + " of " + counted(concluded, "run") +
                   ", of an earlier version, the earliest of equals)";
}

}  // namespace encore::analysis
