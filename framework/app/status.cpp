// SPDX-License-Identifier: BSD-3-Clause
// status(): reads the progress of the selected runs and finds runs whose process is gone. cli/status_verb.cpp
// calls it, also repeatedly, so it must stay cheap and must not write. Read next: status.hpp.
#include "app/status.hpp"

#include "world/lease_clock.hpp"

namespace encore::app {

namespace {

std::vector<store::RunRow> watched_runs(store::Store& store, const store::RunSelection& selection) {
  if (selection.words.empty() && !selection.narrows())
    return store.list_runs({.states = {store::RunState::running, store::RunState::lost}});
  const store::SelectedRuns selected = store::select_runs(store, selection);
  if (selected.runs.empty()) throw store::UnknownRun(none_text(store, selection, selected));
  return selected.runs;
}

}  // namespace

Form<StatusRequest> status_form() {
  using R = StatusRequest;
  return Form<R>(
             "status",
             {"status [RUN...] [options]",
              "Shows every run in training, with step, loss, the dev score that chooses its checkpoints "
              "(newest and best so far), speed and time left, and runs without a process; or the named runs.",
              {{"exp status -w", "update every second until no run is training"},
               {"exp status \"quick*\"", "show these runs in any state"}}})
      .flag("watch,w", &R::watch, "update every second until no run is training")
      .flag("json", &R::json, "as JSON")
      .flag("csv", &R::csv, "as CSV")
      .include(&R::selection, run_arguments())
      .exclude("watch", "json")
      .exclude("watch", "csv")
      .exclude("json", "csv");
}

std::vector<RunStatus> status(const StatusRequest& request, const App& app) {
  runner::settle_launched_in_passing(app.database);
  store::Store store(app.database, store::OpenMode::read);
  const std::vector<store::RunRow> runs = watched_runs(store, selection_from(request.selection));
  const std::vector<store::RunScore> scores = store::scores_of(store, runs);
  std::vector<RunStatus> all;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    RunStatus& one = all.emplace_back(runs[i], scores[i], runner::scheduler_note(store, runs[i]));
    if (one.run.state == store::RunState::running && (!one.note || one.note->begun))
      one.inactivity = runner::inactivity_of(one.run, world::now_seconds());
  }
  return all;
}

}  // namespace encore::app
