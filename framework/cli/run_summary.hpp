// SPDX-License-Identifier: BSD-3-Clause
// print_completed() and others: the end of a run or a sweep of `exp run`: the score, its place among other
// runs, and the next commands. session_screen.cpp calls them after each run; plan_text.cpp, run_verb.cpp,
// explain_verb.cpp and stop_verb.cpp use single lines. The text is for people and may change, but a suggested
// command must work.
#pragma once

#include <iosfwd>
#include <vector>

#include "app/planned_runs.hpp"
#include "cli/console.hpp"
#include "runner/attempt.hpp"
#include "store/record_gaps.hpp"

namespace encore::cli {

/// Returns how an unfinished run resumes: "it resumes from its checkpoint of step 20", or "it starts again,
/// because it has no checkpoint yet".
std::string resume_text(const store::Store& store, const std::string& run_id);

/// Prints the end of a complete run and any gaps in its record. With `alone`, also prints its place and the
/// next commands.
void print_completed(std::ostream& out, const Console& console, store::Store& store, const store::RunRow& run,
                     const runner::RunOutcome& outcome, const std::vector<store::RecordGap>& gaps,
                     bool alone);
/// Prints that a run finished training but its end could not be stored.
void print_not_recorded(std::ostream& out, const store::Store& store, const store::RunRow& run,
                        const runner::RunOutcome& outcome);
/// Prints the permanent gaps in the record of a completed run.
void print_gaps(std::ostream& out, const Console& console, const store::RunRow& run,
                const std::vector<store::RecordGap>& gaps);
/// Prints the reason, the last lines of the worker's log, and how to resume.
void print_not_completed(std::ostream& out, const Console& console, const store::Store& store,
                         const store::RunRow& run, const runner::RunOutcome& outcome);
/// Prints that another process trains the run or has trained it.
void print_left_alone(std::ostream& out, const std::string& name, const runner::RunOutcome& outcome);
void print_sweep_summary(std::ostream& out, const Console& console, store::Store& store,
                         const std::vector<std::int64_t>& runs);
/// Prints why there is nothing to do. `store` is null if there is no database yet.
void print_nothing_to_do(std::ostream& out, const Console& console, store::Store* store,
                         const app::PlannedRuns& planned);
/// Returns `warning: plugin "mine" (1a2b3c4d5e6f) has not passed ...`.
std::string warning_text(const app::UsedPlugin& plugin);

/// Returns a text to try a model on, from the first example of a file of predictions whose only field is
/// short. Returns "a line of text" if there is none or the examples are private, and two parts with a tab
/// between them if records have two.
std::string sample_text(const std::filesystem::path& predictions, bool is_private);

}  // namespace encore::cli
