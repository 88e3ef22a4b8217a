// stop: asks whoever works on a run, on a sweep, or on anything in the database to checkpoint and end, on
// this machine or on another that sees the same folder.
#include <iostream>
#include <map>
#include <set>

#include "cli/access.hpp"
#include "cli/run_selection.hpp"
#include "cli/verbs.hpp"
#include "runner/stop_request.hpp"

namespace encore {

namespace {

void ask(const CommandLine& line, const Store& store, const std::vector<RunRow>& runs) {
  std::size_t asked = 0;
  for (const RunRow& run : runs) {
    if (run.state != RunState::running) continue;
    request_stop(store.run_folder(run.id));
    std::cout << run.name << " was asked to stop; it writes a checkpoint first\n";
    ++asked;
  }
  if (asked > 0)
    std::cout << "  next      " << suggestion(line, "status") << '\n';
  else if (runs.size() == 1)
    std::cout << runs.front().name << " is " << name_of(runs.front().state) << ", there is nothing to stop\n";
  else
    std::cout << "nothing is running, there is nothing to stop\n";
}

/// Sweeps of which no run is left out: those that were named, though they may have no run yet, and those
/// whose runs are all among these.
std::set<std::int64_t> whole_sweeps(Store& store, const RunSelection& selection,
                                    const std::vector<RunRow>& runs) {
  std::map<std::string, std::size_t> selected;
  for (const RunRow& run : runs) ++selected[run.sweep];
  if (!selection.narrows())
    for (const std::string& word : selection.words) selected.try_emplace(word, 0);
  std::set<std::int64_t> sweeps;
  for (const auto& [name, count] : selected)
    if (!name.empty() && store.list_runs({.sweeps = {name}}).size() == count)
      for (const std::int64_t sweep : store.find_sweeps(name)) sweeps.insert(sweep);
  return sweeps;
}

}  // namespace

int stop_verb(const Arguments& arguments) {
  CommandLine line(
      "stop",
      {"stop RUN...|--all [options]",
       "Asks a running run to write a checkpoint and to end; the exp run that works on it goes on with its\n"
       "next run. Where all runs of a sweep are meant, by its name or otherwise, every exp run that works "
       "on\n"
       "the sweep starts no more of it. The same exp run command later goes on with what was stopped.",
       {{"exp stop quickstart", "stop the quickstart, wherever it is running"},
        {"exp stop \"quick*\" --where \"epoch > 1\"", "those of several that are beyond their first epoch"},
        {"exp stop --all", "stop everything that works on this database"}}});
  line.options()("all", boost::program_options::bool_switch(),
                 "every run and sweep that is worked on in this database");
  add_run_arguments(line);
  if (!line.parse(arguments)) return exit_done;
  const RunSelection selection = selection_from(line);
  const bool chooses = !selection.words.empty() || selection.narrows();
  if (line.flag("all") && chooses)
    throw UsageError("--all stops every run; leave the name out, or leave --all out");
  if (!line.flag("all") && !chooses) line.require("run", "a run, a sweep or --all");

  Store store(line.database(), OpenMode::read);
  const std::filesystem::path folder = store.run_folder("").parent_path();
  if (line.flag("all")) {
    StopSign::raise(stop_sign_of_all(folder));
    ask(line, store, store.list_runs({.states = {RunState::running}}));
    return exit_done;
  }
  const SelectedRuns selected = select_runs(store, selection);
  const std::set<std::int64_t> sweeps = whole_sweeps(store, selection, selected.runs);
  if (selected.runs.empty() && sweeps.empty()) throw UnknownRun(none_text(store, selection, selected));
  for (const std::int64_t sweep : sweeps) StopSign::raise(stop_sign_of_sweep(folder, sweep));
  ask(line, store, selected.runs);
  return exit_done;
}

}  // namespace encore
