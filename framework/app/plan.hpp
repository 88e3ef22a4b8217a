// SPDX-License-Identifier: BSD-3-Clause
// plan_runs(), plan_sizes() and plan_search(): what `exp run` would do with an experiment file, what its
// models cost, and the next decisions of its search. They write nothing. cli/plan_verb.cpp calls them;
// cli/plan_text.cpp and cli/plan_size.cpp print the results. Whatever decides about runs must stay in
// planned_runs.hpp, which `exp run` uses too, so that the plan is true. Read next: planned_runs.hpp.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/planned_search.hpp"
#include "app/run_time.hpp"
#include "record/size_answer.hpp"

namespace encore::app {

/// The shape for which the cost of a model is computed.
struct SizeRequest {
  bool size = false;  ///< show the cost instead of the plan
  /// Tokens in a sequence, sequences in a batch, tokens in the vocabulary, labels. Not given: from the file.
  std::optional<int> length, batch, vocabulary, labels;
  std::optional<double> picked;  ///< share of the rows that the task picks for its head
};

struct PlanVerbRequest {
  PlanRequest plan;
  std::string run;      ///< name or pattern of the runs that are shown; empty: all
  bool values = false;  ///< show every option with its value and origin
  SizeRequest size;
  int jobs = 1;  ///< number of runs at once, for the expected time
  bool json = false, csv = false;
};

Form<PlanVerbRequest> plan_form();

/// The planned runs that are shown, with their expected times.
struct PlanView {
  PlannedRuns planned;             ///< the whole plan
  std::vector<std::size_t> shown;  ///< indices of planned.runs
  std::vector<std::optional<TimeEstimate>>
      times;  ///< of every run of the plan; empty for a run that is not to do
  int jobs = 1;

  /// Returns the time of all runs to do that have an expected time, with `jobs` at once.
  double seconds() const;
  /// Returns the number of runs to do without an expected time.
  std::size_t unknown() const;
};

PlanView plan_runs(const PlanVerbRequest& request, const App& app);

/// What a model costs, with the names of its runs.
struct SizedModel {
  std::vector<std::string> runs;  ///< names
  record::SizeAnswer size;
};
void list(auto& field, A<SizedModel> auto& model) {
  field("runs", model.runs);
  record::list(field, model.size);
}

/// Returns the costs of the models of the shown runs, in the order of the plan; runs whose models cost the
/// same share an entry. Reads neither the database nor the data. Throws ConfigErrors if a model cannot be
/// built.
std::vector<SizedModel> plan_sizes(const PlanVerbRequest& request, const App& app);

/// A decision that a search would make next. A proposal has the settings that its conditions leave, and the
/// reason why it cannot be trained, if any.
struct NextDecision {
  plan::search::Decision decision;
  plan::search::Trial trial = {};  ///< the settings of a proposal
  std::string problem = {};        ///< why it cannot be trained; empty: it can
  bool excluded = false;           ///< by a condition of the search itself
};

struct SearchPreview {
  std::unique_ptr<PlannedSearch> planned;
  std::size_t in_progress = 0;               ///< trials
  std::vector<NextDecision> decisions = {};  ///< one after the other, if no trial ended meanwhile
  bool complete = true;                      ///< false: more would follow
};

SearchPreview plan_search(const PlanVerbRequest& request, const App& app);

}  // namespace encore::app
