// What `exp run` says when a run or a sweep has ended: the score, where it is stored, and what to try next.
#pragma once

#include <iosfwd>
#include <vector>

#include "cli/planned_runs.hpp"
#include "cli/terminal.hpp"
#include "runner/attempt.hpp"
#include "store/record_gaps.hpp"

namespace encore {

/// How a run that has ended early is taken up: "it goes on from its checkpoint of step 20", or "it begins
/// anew, for it has no checkpoint yet".
std::string resume_text(const Store& store, const std::string& run_id);

/// With `alone`, also where it is stored and what to try next. With gaps it is not said to be whole.
void print_completed(std::ostream& out, const CommandLine& line, Store& store, const RunRow& run,
                     const RunOutcome& outcome, const std::vector<RecordGap>& gaps, bool alone);
/// To the standard error, instead: it was trained to its end, but the database did not take that.
void print_not_recorded(std::ostream& out, const Store& store, const RunRow& run, const RunOutcome& outcome);
/// To the standard error: what the record of a completed run lacks for good. True where that is anything.
bool print_gaps(std::ostream& out, const CommandLine& line, const RunRow& run,
                const std::vector<RecordGap>& gaps);
/// To the standard error: why, the last lines of the worker's log, how to go on.
void print_not_completed(std::ostream& out, const CommandLine& line, const Store& store, const RunRow& run,
                         const RunOutcome& outcome);
/// Of a run that has not begun: to the standard error why it cannot, as yet, or to the standard output that
/// another process works on it, which --quiet leaves out. True in the first case.
bool print_not_begun(const CommandLine& line, const std::string& name, const RunOutcome& outcome);
/// Another process works on it, or has.
void print_left_alone(std::ostream& out, const std::string& name, const RunOutcome& outcome);
void print_sweep_summary(std::ostream& out, const CommandLine& line, Store& store,
                         const std::vector<std::int64_t>& runs, const Terminal& terminal);
/// `store`: null where there is no database yet, and so nothing that was done.
void print_nothing_to_do(std::ostream& out, const CommandLine& line, Store* store,
                         const PlannedRuns& planned);

/// A text to try a model on: of the first example of a file of predictions whose only field is short; "a line
/// of text" where there is none or where the examples are private, and two texts with a tab between them
/// where records have two.
std::string sample_text(const std::filesystem::path& predictions, bool is_private);

}  // namespace encore
