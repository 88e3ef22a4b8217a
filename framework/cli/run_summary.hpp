// What `exp run` says when a run or a sweep has ended: the score, where it is stored, and what to try next.
#pragma once

#include <iosfwd>
#include <vector>

#include "app/planned_runs.hpp"
#include "cli/console.hpp"
#include "runner/attempt.hpp"
#include "store/record_gaps.hpp"

namespace encore {

/// How a run that has ended early is resumed: "it goes on from its checkpoint of step 20", or "it begins
/// anew, for it has no checkpoint yet".
std::string resume_text(const Store& store, const std::string& run_id);

/// With `alone`, also where it is stored and what to try next. With gaps it is not said to be whole.
void print_completed(std::ostream& out, const Console& console, Store& store, const RunRow& run,
                     const RunOutcome& outcome, const std::vector<RecordGap>& gaps, bool alone);
/// Instead: it was trained to its end, but the database did not take that.
void print_not_recorded(std::ostream& out, const Store& store, const RunRow& run, const RunOutcome& outcome);
/// What the record of a completed run lacks for good, if anything.
void print_gaps(std::ostream& out, const Console& console, const RunRow& run,
                const std::vector<RecordGap>& gaps);
/// Why, the last lines of the worker's log, how to go on.
void print_not_completed(std::ostream& out, const Console& console, const Store& store, const RunRow& run,
                         const RunOutcome& outcome);
/// Another process works on it, or has.
void print_left_alone(std::ostream& out, const std::string& name, const RunOutcome& outcome);
void print_sweep_summary(std::ostream& out, const Console& console, Store& store,
                         const std::vector<std::int64_t>& runs);
/// `store`: null where there is no database yet, and so nothing that was done.
void print_nothing_to_do(std::ostream& out, const Console& console, Store* store, const PlannedRuns& planned);
/// `warning: plugin "mine" (1a2b3c4d5e6f) never passed ...`
std::string warning_text(const UsedPlugin& plugin);

/// A text to try a model on: of the first example of a file of predictions whose only field is short; "a line
/// of text" where there is none or where the examples are private, and two texts with a tab between them
/// where records have two.
std::string sample_text(const std::filesystem::path& predictions, bool is_private);

}  // namespace encore
