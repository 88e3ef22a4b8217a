// stop: asks whoever works on a run, on a sweep, or on anything in the database to checkpoint and end, on
// this machine or on another that sees the same folder. An exp run that still plans is asked as well.
#include <algorithm>
#include <iostream>

#include "cli/access.hpp"
#include "cli/verbs.hpp"
#include "record/run_paths.hpp"
#include "runner/session_file.hpp"
#include "runner/stop_request.hpp"

namespace encore {

namespace {

/// Asks those of them that are running; the ones that were asked.
std::vector<RunRow> ask_runs(const Store& store, const std::vector<RunRow>& runs) {
  std::vector<RunRow> asked;
  for (const RunRow& run : runs) {
    if (run.state != RunState::running) continue;
    request_stop(store.run_folder(run.id), static_cast<int>(run.attempts));
    std::cout << run.name << " was asked to stop; it writes a checkpoint first\n";
    asked.push_back(run);
  }
  return asked;
}

/// Asks every session for an end of its work on this sweep, or of all; those that are meant for certain. One
/// that has not read its plan yet may turn out to work on the sweep.
std::vector<OpenSession> ask_sessions(const CommandLine& line, const std::string& sweep) {
  std::vector<OpenSession> meant;
  for (const OpenSession& session : open_sessions(runs_folder_of(line.database())))
    if (request_stop(session, sweep) && (sweep.empty() || session.sweep == sweep)) meant.push_back(session);
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
    std::cout << "  next      " << suggestion(line, "status") << '\n';
  else if (runs.size() == 1)
    std::cout << runs.front().name << " is " << name_of(runs.front().state) << ", there is nothing to stop\n";
  else
    std::cout << "nothing is running, there is nothing to stop\n";
}

/// The sessions are asked first: what they start until then is running when the runs are looked at.
void stop_all(const CommandLine& line) {
  const std::vector<OpenSession> sessions = ask_sessions(line, "");
  std::vector<RunRow> asked;
  if (sessions.empty() || std::filesystem::exists(line.database())) {
    Store store(line.database(), OpenMode::read);
    asked = ask_runs(store, store.list_runs({.states = {RunState::running}}));
  }
  print_end(line, {}, asked.size() + name_idle(sessions, asked));
}

void stop_one(const CommandLine& line, const std::string& name) {
  const std::vector<OpenSession> sessions = ask_sessions(line, name);
  std::vector<RunRow> runs, asked;
  if (sessions.empty() || std::filesystem::exists(line.database())) {
    Store store(line.database(), OpenMode::read);
    try {
      runs = store.find_runs_or_sweep(name);
    } catch (const UnknownRun&) {
      if (sessions.empty()) throw;  // otherwise it is a sweep of which nothing is stored yet
    }
    asked = ask_runs(store, runs);
  }
  print_end(line, runs, asked.size() + name_idle(sessions, asked));
}

}  // namespace

int stop_verb(const Arguments& arguments) {
  CommandLine line(
      "stop",
      {"stop RUN|SWEEP|--all",
       "Asks a running run to write a checkpoint and to end; the exp run that works on it goes on with its\n"
       "next run. Asks all running runs of a sweep, by its name, and every exp run that works on the sweep\n"
       "starts no more of it; with --all every exp run on this database, also one that is still planning.\n"
       "The same exp run command later goes on with what was stopped.",
       {{"exp stop quickstart", "stop the quickstart, wherever it is running"},
        {"exp stop --all", "stop everything that works on this database"}}});
  line.options()("all", boost::program_options::bool_switch(),
                 "every run and sweep that is worked on in this database");
  line.positional("run");
  if (!line.parse(arguments)) return exit_done;
  if (line.flag("all") && line.has("run"))
    throw UsageError("--all stops every run; leave the name out, or leave --all out");
  if (line.flag("all"))
    stop_all(line);
  else
    stop_one(line, line.required("run", "a run, a sweep or --all"));
  return exit_done;
}

}  // namespace encore
