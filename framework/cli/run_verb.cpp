// SPDX-License-Identifier: BSD-3-Clause
// exp run, exp retry and exp import: print the session of runs (session_screen.hpp), and the cases without
// work. app/run.cpp, app/retry.cpp, app/import.cpp and app/search_session.cpp do the work; help_verb.cpp
// lists the verbs. Scripts read the exit code and the JSON, so both stay.
#include "app/run.hpp"

#include <nlohmann/json.hpp>

#include "app/import.hpp"
#include "app/planned_search.hpp"
#include "app/retry.hpp"
#include "app/search_session.hpp"
#include "cli/run_json.hpp"
#include "cli/run_summary.hpp"
#include "cli/search_text.hpp"
#include "cli/session_screen.hpp"
#include "cli/verbs.hpp"

namespace encore::cli {

namespace {

/// Prints the JSON of a call that trains nothing.
void print_nothing(Console& console, const std::vector<store::RunRow>& runs) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const store::RunRow& run : runs) list.push_back(run_head_json(run));
  console.print({{"version", 1}, {"runs", list}, {"not_recorded", nullptr}, {"not_started", 0}});
}

int search(const app::RunRequest& request, app::App& app, Console& console) {
  SessionScreen screen(console, request.session.quiet, request.json);
  const app::SearchResult result =
      app::run_search(request.plan, request.session, request.accept_plugin_change, app, screen);
  const app::PlannedSearch& planned = *result.planned;
  store::Store store(app.database, store::OpenMode::read);
  if (request.json) {
    console.print(search_json(store, planned.row, planned.record));
  } else {
    if (result.was_over) console.out << "nothing to do: search " << planned.row.name << " is complete\n";
    print_search(console.out, store, planned.row, planned.record, console.terminal, false);
  }
  console.out.flush();
  if (result.was_over) return exit_done;
  if (!result.is_over) {
    console.noticed("search unfinished; run the same command to resume it");
    return exit_interrupted;
  }
  return result.any_complete ? exit_done : exit_failed;
}

int run_verb(const app::RunRequest& request, app::App& app, Console& console) {
  if (app::names_search(request.plan)) return search(request, app, console);
  SessionScreen screen(console, request.session.quiet, request.json);
  const app::RunResult result = app::run(request, app, screen);
  if (result.session) return exit_code_of(app, *result.session);
  std::optional<store::Store> store;
  if (result.has_database) store.emplace(app.database, store::OpenMode::read);
  if (request.json) {
    std::vector<store::RunRow> known;
    for (const app::PlannedRun& run : result.planned.runs)
      if (run.before) known.push_back(*run.before);
    print_nothing(console, known);
  } else {
    print_nothing_to_do(console.out, console, store ? &*store : nullptr, result.planned);
  }
  return result.gaps ? exit_failed : exit_done;
}

int retry_verb(const app::RetryRequest& request, app::App& app, Console& console) {
  SessionScreen screen(console, request.session.quiet, request.json);
  const app::RetryResult result = app::retry(request, app, screen);
  if (result.session) return exit_code_of(app, *result.session);
  if (request.json)
    print_nothing(console, {});
  else
    console.out << "nothing to do: " << result.nothing << '\n';
  return exit_done;
}

int import_verb(const app::ImportRequest& request, app::App& app, Console& console) {
  SessionScreen screen(console, request.session.quiet, request.json);
  const app::ImportResult result = app::import(request, app, screen);
  if (result.session) return exit_code_of(app, *result.session);
  const store::RunRow& run = *result.known;
  if (request.json)
    print_nothing(console, {run});
  else
    console.out << run.name
                << (run.state == store::RunState::completed ? " has this model already" : " is running")
                << "; nothing to do\n";
  return exit_done;
}

}  // namespace

Verb run_verb() {
  return make_verb("run", "train the unfinished runs of an experiment file", app::run_form, run_verb);
}

Verb retry_verb() {
  return make_verb("retry", "start failed or lost runs again", app::retry_form, retry_verb);
}

Verb import_verb() {
  return make_verb("import", "make a run from a model of another program, without training", app::import_form,
                   import_verb);
}

}  // namespace encore::cli
