// plan: what run would do, without doing it; nothing is written. explain.hpp says why.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/planned_search.hpp"
#include "app/run_time.hpp"
#include "record/size_answer.hpp"

namespace encore {

/// The shape for which a model's cost is asked.
struct SizeRequest {
  bool size = false;  ///< ask for it, instead of what would be done
  std::optional<int> length, batch, vocabulary, labels;
  std::optional<double> picked;  ///< share of the rows that the task picks for its head
};

struct PlanVerbRequest {
  PlanRequest plan;
  std::string run;  ///< name or pattern of the runs that are shown; empty: all
  bool values = false;
  SizeRequest size;
  int jobs = 1;
  bool json = false, csv = false;
};

Form<PlanVerbRequest> plan_form();

/// The planned runs that are shown, with what they will take.
struct PlanView {
  PlannedRuns planned;
  std::vector<std::size_t> shown;  ///< indices of planned.runs
  std::vector<std::optional<TimeEstimate>>
      times;  ///< of every run of the plan; nothing for one that is not to do
  int jobs = 1;

  /// Of all runs to do that a time is known of, `jobs` at once.
  double seconds() const;
  /// How many runs to do have no time.
  std::size_t unknown() const;
};

PlanView plan_runs(const PlanVerbRequest& request, const App& app);

/// What a model costs, with the names of its runs.
struct SizedModel {
  std::vector<std::string> runs;
  SizeAnswer size;
};
void list(auto& field, A<SizedModel> auto& model) {
  field("runs", model.runs);
  list(field, model.size);
}

/// Of the models of the runs that are shown, in the order of the plan; runs whose models cost the same stand
/// together. Neither the database nor the data are looked at. Throws ConfigErrors where a model cannot be
/// built.
std::vector<SizedModel> plan_sizes(const PlanVerbRequest& request, const App& app);

/// A decision that a search would make next; a proposal with what its conditions leave, and why it could not
/// be trained.
struct NextDecision {
  search::Decision decision;
  search::Trial trial = {};
  std::string problem = {};
  bool excluded = false;  ///< by a condition of the search itself
};

struct SearchPreview {
  std::unique_ptr<PlannedSearch> planned;
  std::size_t in_progress = 0;               ///< trials
  std::vector<NextDecision> decisions = {};  ///< one after the other, if no trial ended meanwhile
  bool complete = true;                      ///< false: more would follow
};

SearchPreview plan_search(const PlanVerbRequest& request, const App& app);

}  // namespace encore
