// SPDX-License-Identifier: BSD-3-Clause
// explain(): in what a run differs from the nearest other run, and what `exp run` would do with each run of
// an experiment file. cli/explain_verb.cpp calls it and prints the result; nothing is stored. Read next:
// analysis/nearest_run.hpp, which finds the nearest run.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/difference.hpp"
#include "app/planned_runs.hpp"
#include "app/run_selection.hpp"

namespace encore::app {

struct ExplainRequest {
  PlanRequest plan;  ///< for an experiment file; its `file` is the first of selection.runs
  bool json = false, csv = false;
  SelectionRequest selection;
};

Form<ExplainRequest> explain_form();

/// The run with the most similar question (settings, data and seed), and the differences.
struct NearestToIt {
  store::RunRow run;
  std::vector<analysis::Difference> found;  ///< the nearest run's value first
  std::string without_a_field;              ///< the reason if no stored field differs
};

struct ExplainedRun {
  std::optional<store::RunRow> run = {};    ///< as the database has it
  const PlannedRun* planned = nullptr;      ///< of an experiment file
  NeededRuns needs = {};                    ///< names of the runs that it needs
  std::optional<NearestToIt> nearest = {};  ///< nothing if the database has no other run
  std::size_t replicates = 0;               ///< runs that differ from it in the seed alone
};

struct Explanation {
  std::vector<ExplainedRun> runs;
  bool one = false;                           ///< exactly one run was asked for
  std::unique_ptr<PlannedRuns> planned = {};  ///< of an experiment file
  bool has_database = true;                   ///< false: there is none, so every run of the file is new
};

Explanation explain(const ExplainRequest& request, const App& app);

}  // namespace encore::app
