// How a request means runs: the same words and options everywhere, read and answered here. Which run a word
// means is in store/selection.hpp; docs/guides/selecting_runs.md is for users.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/app.hpp"
#include "app/form.hpp"
#include "store/selection.hpp"

namespace encore {

struct SelectionRequest {
  std::vector<std::string> runs;  ///< words that mean runs
  std::vector<std::string> states, tags, sweeps;
  std::optional<std::string> where;
  bool promoted = false;
  std::optional<std::string> best;
};

/// --state, --tag, --sweep, --where, --promoted, --best, for a verb whose arguments are not all runs.
Form<SelectionRequest> run_options();
/// The same, and every argument is a word that means runs.
Form<SelectionRequest> run_arguments();

/// What the request means, with these words in place of its own. Throws UsageError.
RunSelection selection_from(const SelectionRequest& request, std::vector<std::string> words);
RunSelection selection_from(const SelectionRequest& request);

/// At least one run. Throws UsageError where neither a word nor an option was written, UnknownRun where no
/// run fits.
SelectedRuns selected_runs(const App& app, Store& store, const RunSelection& selection);
/// Exactly one. Throws UnknownRun where several are meant.
RunRow selected_run(const App& app, Store& store, const RunSelection& selection);
/// Throws UsageError where the selection is empty; `what` is what is needed then.
void require_choice(const App& app, const RunSelection& selection, const std::string& what);
/// Whether the word means runs of the database: where it may be a file or a folder as well, the runs come
/// first, and ./WORD is the file.
bool means_run(const App& app, const std::string& word);
/// Why none was selected.
std::string none_text(Store& store, const RunSelection& selection, const SelectedRuns& selected);

/// "is running", "has failed": what a sentence says of a run.
std::string state_clause(RunState state);
/// Whether one run was asked for, not several of which there happens to be one: what --json prints as an
/// object.
bool asks_for_one(const RunSelection& selection, const SelectedRuns& selected);

}  // namespace encore
