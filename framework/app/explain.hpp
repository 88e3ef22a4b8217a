// explain: why a run is one of its own, or why each run of an experiment file would be done or left alone.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/difference.hpp"
#include "app/planned_runs.hpp"
#include "app/run_selection.hpp"

namespace encore {

struct ExplainRequest {
  PlanRequest plan;  ///< of an experiment file; its `file` is the first of selection.runs
  bool json = false;
  SelectionRequest selection;
};

Form<ExplainRequest> explain_form();

/// The run that asks most nearly the same, and what tells them apart.
struct NearestToIt {
  RunRow run;
  std::vector<Difference> found;  ///< the nearest run's value first
  std::string without_a_field;    ///< where no stored field differs: what does
};

struct ExplainedRun {
  std::optional<RunRow> run = {};        ///< as the database has it
  const PlannedRun* planned = nullptr;   ///< of an experiment file
  std::string starts_from, learns_from;  ///< names of the runs that it needs; empty: none
  std::optional<NearestToIt> nearest = {};
  std::size_t replicates = 0;  ///< runs that differ from it in the seed alone
};

struct Explanation {
  std::vector<ExplainedRun> runs;
  bool one = false;                           ///< exactly one run was asked for
  std::unique_ptr<PlannedRuns> planned = {};  ///< of an experiment file
  bool has_database = true;
};

Explanation explain(const ExplainRequest& request, const App& app);

}  // namespace encore
