// SPDX-License-Identifier: BSD-3-Clause
// exp show: prints everything about one or several runs, or about a search. app/show.cpp selects them;
// show_text.hpp, run_json.hpp and search_text.hpp print them and define the JSON, whose members keep their
// names; help_verb.cpp lists the verb.
#include "app/show.hpp"

#include <nlohmann/json.hpp>

#include "cli/run_json.hpp"
#include "cli/search_text.hpp"
#include "cli/show_text.hpp"
#include "cli/verbs.hpp"
#include "runner/launched_runs.hpp"

namespace encore::cli {

namespace {

void write_search(const app::ShowRequest& request, store::Store& store, const store::SearchRow& search,
                  Console& console) {
  const store::Snapshot snapshot(store.database());
  const store::SearchRecord record = store::read_search(store, search);
  if (request.csv) throw app::UsageError("--csv is not available for a search; use --json");
  if (request.json)
    console.print(search_json(store, search, record));
  else
    print_search(console.out, store, search, record, console.terminal, request.all);
}

int show_verb(const app::ShowRequest& request, app::App& app, Console& console) {
  // The one call that may write: it ends attempts whose job is gone, so that their state is shown correctly.
  runner::settle_launched_in_passing(app.database);
  store::Store store(app.database, store::OpenMode::read);
  const app::ShownRuns shown = app::show(request, app, store);
  if (shown.search) {
    write_search(request, store, *shown.search, console);
  } else if (request.json && shown.one) {
    console.print(run_json(store, shown.runs.front()));
  } else if (request.json) {
    write_runs_json(store, shown.runs, [&](const std::string& text) { console.out << text; });
  } else if (request.csv) {
    print_best_scores_csv(console.out, shown.runs);
  } else {
    for (const store::RunRow& run : shown.runs) {
      if (&run != &shown.runs.front()) console.out << '\n';
      print_run(console.out, store, run, console.terminal, request.all);
    }
  }
  return exit_done;
}

}  // namespace

Verb show_verb() {
  return make_verb("show", "show everything about a run", app::show_form, show_verb);
}

}  // namespace encore::cli
