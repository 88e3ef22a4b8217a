// stop: asks whoever works on a run, on a sweep, or on anything in the database to checkpoint and end, or to
// kill the worker, on this machine or on another that sees the same folder. An exp run that still plans is
// asked as well.
#include <algorithm>
#include <iostream>
#include <set>

#include "cli/access.hpp"
#include "cli/format.hpp"
#include "cli/run_display.hpp"
#include "cli/run_selection.hpp"
#include "cli/run_summary.hpp"
#include "cli/verbs.hpp"
#include "record/run_paths.hpp"
#include "runner/launched_runs.hpp"
#include "runner/session_file.hpp"
#include "runner/slurm/stop_queued.hpp"
#include "runner/stop_request.hpp"

namespace encore {

namespace {

/// Asks those of them that are running; the ones that were asked.
std::vector<RunRow> ask_runs(const CommandLine& line, Store& store, const std::vector<RunRow>& runs,
                             StopWish wish) {
  std::vector<RunRow> asked;
  std::set<std::int64_t> queued;
  for (const RunRow& run : runs) {
    if (run.state != RunState::running) continue;
    request_stop(store.run_folder(run.id), static_cast<int>(run.attempts), wish);
    asked.push_back(run);
    if (const std::optional<SchedulerNote> note = scheduler_note(store, run); note && !note->begun) {
      queued.insert(run.number);
      continue;
    }
    const Inactivity inactivity = inactivity_of(run, now());
    if (wish == StopWish::kill)
      std::cout << run.name
                << ": its worker is killed now; the same exp run takes it up: " << resume_text(store, run.id)
                << '\n';
    else if (inactivity.noticeable())
      std::cout << run.name
                << " was asked to stop, which it does only after a step: " << inactivity_text(inactivity)
                << "; " << suggestion(line, {"stop", run.name, "--kill"}) << " ends it now\n";
    else
      std::cout << run.name << " was asked to stop; it writes a checkpoint first\n";
  }
  if (queued.empty()) return asked;
  Store writing(line.database(), OpenMode::write);
  for (const RunRow& run : stop_queued(writing, queued)) {
    std::cout << run.name << " is stopped; its job had not begun with it\n";
    queued.erase(run.number);
  }
  for (const RunRow& run : asked)
    if (queued.contains(run.number)) std::cout << run.name << " was asked to stop; it has just begun\n";
  return asked;
}

/// Asks every session for an end of its work on this sweep, or of all; those that are meant for certain. One
/// that has not read its plan yet may turn out to work on the sweep.
std::vector<OpenSession> ask_sessions(const CommandLine& line, const std::string& sweep, StopWish wish) {
  std::vector<OpenSession> meant;
  for (const OpenSession& session : open_sessions(runs_folder_of(line.database())))
    if (request_stop(session, wish, sweep) && (sweep.empty() || session.sweep == sweep))
      meant.push_back(session);
  return meant;
}

/// Names the sessions to which none of the runs just asked belongs; how many those are.
std::size_t name_idle(const std::vector<OpenSession>& sessions, const std::vector<RunRow>& asked) {
  std::size_t named = 0;
  for (const OpenSession& session : sessions) {
    if (std::ranges::find(asked, session.process, &RunRow::holder) != asked.end()) continue;
    std::cout << session.command << " (process " << session.process.pid << " on " << session.process.host
              << ") was asked to stop; it starts no more runs\n";
    ++named;
  }
  return named;
}

void print_end(const CommandLine& line, const std::vector<RunRow>& runs, std::size_t asked) {
  if (asked > 0)
    std::cout << "  next      " << suggestion(line, {"status"}) << '\n';
  else if (runs.size() == 1)
    std::cout << runs.front().name << " is " << name_of(runs.front().state) << ", there is nothing to stop\n";
  else
    std::cout << "nothing is running, there is nothing to stop\n";
}

/// The sessions are asked first: what they start until then is running when the runs are looked at.
void stop_all(const CommandLine& line, StopWish wish) {
  const std::vector<OpenSession> sessions = ask_sessions(line, "", wish);
  std::vector<RunRow> asked;
  if (sessions.empty() || std::filesystem::exists(line.database())) {
    Store store(line.database(), OpenMode::read);
    asked = ask_runs(line, store, store.list_runs({.states = {RunState::running}}), wish);
  }
  print_end(line, {}, asked.size() + name_idle(sessions, asked));
}

/// Sweeps of which no run is left out.
std::set<std::string> whole_sweeps(Store& store, const std::vector<RunRow>& runs) {
  std::set<std::string> names, sweeps;
  std::set<std::int64_t> selected;
  for (const RunRow& run : runs) {
    names.insert(run.sweep);
    selected.insert(run.number);
  }
  names.erase("");
  for (const std::string& name : names)
    if (std::ranges::all_of(store.list_runs({.sweeps = {name}}),
                            [&](const RunRow& run) { return selected.contains(run.number); }))
      sweeps.insert(name);
  return sweeps;
}

/// A word may name a sweep of which nothing is stored yet, so sessions are asked by the words too.
void stop_selected(const CommandLine& line, const RunSelection& selection, StopWish wish) {
  std::vector<OpenSession> sessions;
  const auto ask_sweep = [&](const std::string& sweep) {
    for (OpenSession& session : ask_sessions(line, sweep, wish))
      if (std::ranges::find(sessions, session.process, &OpenSession::process) == sessions.end())
        sessions.push_back(std::move(session));
  };
  if (!selection.narrows())
    for (const std::string& word : selection.words) ask_sweep(word);
  std::vector<RunRow> runs, asked;
  if (sessions.empty() || std::filesystem::exists(line.database())) {
    Store store(line.database(), OpenMode::read);
    for (const std::string& sweep : whole_sweeps(store, select_runs(store, selection).runs)) ask_sweep(sweep);
    SelectedRuns selected = select_runs(store, selection);
    if (selected.runs.empty() && sessions.empty()) throw UnknownRun(none_text(store, selection, selected));
    runs = std::move(selected.runs);
    asked = ask_runs(line, store, runs, wish);
  }
  print_end(line, runs, asked.size() + name_idle(sessions, asked));
}

}  // namespace

int stop_verb(const Arguments& arguments) {
  CommandLine line(
      "stop",
      {"stop RUN...|--all [options]",
       "Asks a running run to write a checkpoint and to end; the exp run that works on it goes on with its "
       "next run. Where all runs of a sweep are meant, by its name or otherwise, every exp run that works on "
       "the sweep starts no more of it; with --all every exp run on this database, also one that is still "
       "planning. The same exp run command later goes on with what was stopped. With --kill the worker is "
       "killed at once, for one that hangs in a step and would never write its checkpoint; the run is "
       "stopped all the same, and goes on from the checkpoint it has.",
       {{"exp stop quickstart", "stop the quickstart, wherever it is running"},
        {"exp stop quickstart --kill", "kill its worker: a step that never ends cannot be waited for"},
        {"exp stop \"quick*\" --where \"step > 0\"", "those of several that have trained a step"},
        {"exp stop --all", "stop everything that works on this database"}}});
  line.options()("all", boost::program_options::bool_switch(),
                 "every run and sweep that is worked on in this database");
  line.options()("kill", boost::program_options::bool_switch(),
                 "kill the worker now instead of waiting for a checkpoint");
  add_run_arguments(line);
  if (!line.parse(arguments)) return exit_done;
  const RunSelection selection = selection_from(line);
  const bool chooses = !selection.words.empty() || selection.narrows();
  if (line.flag("all") && chooses)
    throw UsageError("--all stops every run; leave the name out, or leave --all out");
  if (!line.flag("all") && !chooses) line.require("run", "a run, a sweep or --all");
  settle_launched_in_passing(line.database());
  const StopWish wish = line.flag("kill") ? StopWish::kill : StopWish::checkpoint;
  if (line.flag("all"))
    stop_all(line, wish);
  else
    stop_selected(line, selection, wish);
  return exit_done;
}

}  // namespace encore
