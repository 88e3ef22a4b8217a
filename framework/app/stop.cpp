// SPDX-License-Identifier: BSD-3-Clause
// stop(): sends requests to stop to runs in training, waiting jobs and sessions, for cli/stop_verb.cpp, which
// prints who was asked. Sessions are asked before runs, so that no run starts between the two; this order
// must stay. Read next: stop.hpp.
#include "app/stop.hpp"

#include <algorithm>
#include <set>

#include "record/run_paths.hpp"
#include "runner/launched_runs.hpp"
#include "runner/stop_request.hpp"
#include "world/lease_clock.hpp"

namespace encore::app {

namespace {

/// Asks the runs that are running to stop.
std::vector<AskedRun> ask_runs(const App& app, store::Store& store, const std::vector<store::RunRow>& runs,
                               runner::StopWish wish) {
  std::vector<AskedRun> asked;
  std::set<std::int64_t> queued;
  for (const store::RunRow& run : runs) {
    if (run.state != store::RunState::running) continue;
    runner::request_stop(store.run_folder(run.id), static_cast<int>(run.attempts), wish);
    AskedRun& one = asked.emplace_back(run);
    if (const std::optional<runner::SchedulerNote> note = runner::scheduler_note(store, run);
        note && !note->begun) {
      one.how = AskedRun::How::begun;
      queued.insert(run.number);
      continue;
    }
    one.inactivity = runner::inactivity_of(run, world::now_seconds());
    one.how = wish == runner::StopWish::kill ? AskedRun::How::killed
              : one.inactivity.noticeable()  ? AskedRun::How::inactive
                                             : AskedRun::How::asked;
  }
  if (queued.empty()) return asked;
  store::Store writing(app.database, store::OpenMode::write);
  for (const store::RunRow& run : runner::stop_queued(writing, queued))
    std::ranges::find(asked, run.number, [](const AskedRun& one) { return one.run.number; })->how =
        AskedRun::How::withdrawn;
  return asked;
}

/// Asks every session to end its work on this sweep, or all work, and returns the sessions that certainly
/// work on it. A session without a plan yet may turn out to work on the sweep.
std::vector<runner::OpenSession> ask_sessions(const App& app, const std::string& sweep,
                                              runner::StopWish wish) {
  std::vector<runner::OpenSession> meant;
  for (const runner::OpenSession& session : runner::open_sessions(record::runs_folder_of(app.database)))
    if (runner::request_stop(session, wish, sweep) && (sweep.empty() || session.sweep == sweep))
      meant.push_back(session);
  return meant;
}

/// Returns the sweeps whose runs are all selected.
std::set<std::string> whole_sweeps(store::Store& store, const std::vector<store::RunRow>& runs) {
  std::set<std::string> names, sweeps;
  std::set<std::int64_t> selected;
  for (const store::RunRow& run : runs) {
    names.insert(run.sweep);
    selected.insert(run.number);
  }
  names.erase("");
  for (const std::string& name : names)
    if (std::ranges::all_of(store.list_runs({.sweeps = {name}}),
                            [&](const store::RunRow& run) { return selected.contains(run.number); }))
      sweeps.insert(name);
  return sweeps;
}

/// Removes the sessions of runs that were just asked.
std::vector<runner::OpenSession> idle(std::vector<runner::OpenSession> sessions,
                                      const std::vector<AskedRun>& asked) {
  std::erase_if(sessions, [&](const runner::OpenSession& session) {
    return std::ranges::any_of(asked, [&](const AskedRun& one) { return one.run.holder == session.process; });
  });
  return sessions;
}

/// Asks the sessions first, so that the runs that they have started are found running afterwards.
StopResult stop_all(const App& app, runner::StopWish wish) {
  const std::vector<runner::OpenSession> sessions = ask_sessions(app, "", wish);
  StopResult result;
  if (sessions.empty() || std::filesystem::exists(app.database)) {
    store::Store store(app.database, store::OpenMode::read);
    result.asked = ask_runs(app, store, store.list_runs({.states = {store::RunState::running}}), wish);
  }
  result.sessions = idle(sessions, result.asked);
  return result;
}

/// A word may name a sweep without stored runs, so sessions are also asked by the words.
StopResult stop_selected(const App& app, const store::RunSelection& selection, runner::StopWish wish) {
  std::vector<runner::OpenSession> sessions;
  const auto ask_sweep = [&](const std::string& sweep) {
    for (runner::OpenSession& session : ask_sessions(app, sweep, wish))
      if (std::ranges::find(sessions, session.process, &runner::OpenSession::process) == sessions.end())
        sessions.push_back(std::move(session));
  };
  if (!selection.narrows())
    for (const std::string& word : selection.words) ask_sweep(word);
  StopResult result;
  if (sessions.empty() || std::filesystem::exists(app.database)) {
    store::Store store(app.database, store::OpenMode::read);
    for (const std::string& sweep : whole_sweeps(store, store::select_runs(store, selection).runs))
      ask_sweep(sweep);
    store::SelectedRuns selected = store::select_runs(store, selection);
    if (selected.runs.empty() && sessions.empty())
      throw store::UnknownRun(none_text(store, selection, selected));
    result.runs = std::move(selected.runs);
    result.asked = ask_runs(app, store, result.runs, wish);
  }
  result.sessions = idle(std::move(sessions), result.asked);
  return result;
}

}  // namespace

const char* name_of(AskedRun::How how) {
  switch (how) {
    case AskedRun::How::asked:
      return "asked";
    case AskedRun::How::inactive:
      return "inactive";
    case AskedRun::How::killed:
      return "killed";
    case AskedRun::How::withdrawn:
      return "withdrawn";
    case AskedRun::How::begun:
      return "begun";
  }
  return "";
}

Form<StopRequest> stop_form() {
  using R = StopRequest;
  return Form<R>(
             "stop",
             {"stop RUN...|--all [options]",
              "Asks a training run to write a checkpoint and end; its exp run continues with the next run. "
              "If all runs of a sweep are selected, every exp run of the sweep starts no more of them; with "
              "--all, the same for every exp run on this database, even while it plans. The same exp run "
              "command later resumes the stopped runs. --kill kills the worker at once, for a step that "
              "hangs and would never write its checkpoint; the run resumes from its last checkpoint.",
              {{"exp stop quickstart", "stop the quickstart on any machine"},
               {"exp stop quickstart --kill", "kill its worker, if a step never ends"},
               {"exp stop \"quick*\" --where \"step > 0\"", "stop the runs that have trained a step"},
               {"exp stop --all", "stop all work on this database"}}})
      .flag("all", &R::all, "stop every run and sweep of this database")
      .flag("kill", &R::kill, "kill the worker without waiting for a checkpoint")
      .flag("json", &R::json, "as JSON")
      .include(&R::selection, run_arguments())
      .refuse([](const R& request) -> std::string {
        const store::RunSelection selection = selection_from(request.selection);
        const bool chooses = !selection.words.empty() || selection.narrows();
        if (request.all && chooses) return "--all stops every run; remove the name, or remove --all";
        return request.all || chooses
                   ? ""
                   : "exp stop needs a run, a sweep or --all (exp stop -h shows an example)";
      });
}

StopResult stop(const StopRequest& request, const App& app) {
  runner::settle_launched_in_passing(app.database);
  const runner::StopWish wish = request.kill ? runner::StopWish::kill : runner::StopWish::checkpoint;
  return request.all ? stop_all(app, wish) : stop_selected(app, selection_from(request.selection), wish);
}

}  // namespace encore::app
