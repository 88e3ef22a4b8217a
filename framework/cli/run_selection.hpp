// How a verb takes runs: the same arguments and options everywhere, read and answered here. A verb says only
// whether it takes one run or several. Which run a word means is in store/selection.hpp;
// docs/guides/selecting_runs.md is for users.
#pragma once

#include <string>
#include <vector>

#include "cli/command_line.hpp"
#include "store/selection.hpp"

namespace encore {

/// --state, --tag, --sweep, --where, --promoted, --best, for a verb whose arguments are not all runs.
void add_run_options(CommandLine& line);
/// The same, and every argument is a word that means runs.
void add_run_arguments(CommandLine& line);

/// What the options say, and these words. Throws UsageError.
RunSelection selection_from(const CommandLine& line, std::vector<std::string> words);
/// The words are the arguments.
RunSelection selection_from(const CommandLine& line);

/// At least one run. Throws UsageError where neither a word nor an option was written, UnknownRun where no
/// run fits.
SelectedRuns selected_runs(const CommandLine& line, Store& store, const RunSelection& selection);
/// Exactly one. Throws UnknownRun where several are meant.
RunRow selected_run(const CommandLine& line, Store& store, const RunSelection& selection);
/// Whether the word means runs of the database: where it may be a file or a folder as well, the runs come
/// first, and ./WORD is the file.
bool means_run(const CommandLine& line, const std::string& word);
/// Why none was selected.
std::string none_text(Store& store, const RunSelection& selection, const SelectedRuns& selected);

/// Whether one run was asked for, not several of which there happens to be one: what --json prints as an
/// object.
bool asks_for_one(const RunSelection& selection, const SelectedRuns& selected);

}  // namespace encore
