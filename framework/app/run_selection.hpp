// SPDX-License-Identifier: BSD-3-Clause
// SelectionRequest: the words and options by which all verbs select runs (their forms include run_arguments()
// or run_options()). store/selection.hpp finds the runs of a word; docs/guides/selecting_runs.md explains the
// words to users, whose scripts depend on them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/app.hpp"
#include "app/form.hpp"
#include "store/selection.hpp"

namespace encore::app {

struct SelectionRequest {
  std::vector<std::string> runs;                  ///< words that select runs
  std::vector<std::string> states, tags, sweeps;  ///< each list: any of them
  std::optional<std::string> where;  ///< a condition on fields, settings and measures: "test/f1 > 0.5"
  bool promoted = false;  ///< the promoted run of the lineage (exp retrain) instead of the run itself
  std::optional<std::string> best;  ///< only the best run by this measure
};

/// The options --state, --tag, --sweep, --where, --promoted and --best, for a verb whose arguments are not
/// all runs.
Form<SelectionRequest> run_options();
/// The options of run_options(), and every argument is a word that selects runs.
Form<SelectionRequest> run_arguments();

/// Returns the selection of the request, with `words` instead of its own words. Throws UsageError.
store::RunSelection selection_from(const SelectionRequest& request, std::vector<std::string> words);
store::RunSelection selection_from(const SelectionRequest& request);

/// Returns at least one run. Throws UsageError if there is neither a word nor an option, UnknownRun if no run
/// fits.
store::SelectedRuns selected_runs(const App& app, store::Store& store, const store::RunSelection& selection);
/// Returns exactly one run. Throws UnknownRun if several are selected.
store::RunRow selected_run(const App& app, store::Store& store, const store::RunSelection& selection);
/// Throws UsageError if there is neither a word nor an option; `what` names the needed argument.
void require_choice(const App& app, const store::RunSelection& selection, const std::string& what);
/// Returns whether the word selects runs of the database. If it is also a file or a folder, the runs come
/// first, and ./WORD is the file.
bool means_run(const App& app, const std::string& word);
/// Returns the reason why no run was selected.
std::string none_text(store::Store& store, const store::RunSelection& selection,
                      const store::SelectedRuns& selected);

/// Returns the state as part of a sentence: "is running", "has failed".
std::string state_clause(store::RunState state);
/// Returns whether the request means exactly one run, not several that happen to be one. --json then prints
/// an object.
bool asks_for_one(const store::RunSelection& selection, const store::SelectedRuns& selected);

}  // namespace encore::app
