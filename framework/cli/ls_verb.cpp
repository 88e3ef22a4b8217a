// SPDX-License-Identifier: BSD-3-Clause
// exp ls: prints the list of runs, or of searches. app/ls.cpp selects the runs, run_list.hpp and
// search_text.hpp print them and define JSON and CSV, whose names must stay; help_verb.cpp lists the verb.
#include "app/ls.hpp"
#include "cli/run_list.hpp"
#include "cli/search_text.hpp"
#include "cli/verbs.hpp"
#include "runner/launched_runs.hpp"

namespace encore::cli {

namespace {

std::string more_text(const app::LsRequest& request, const app::LsResult& result) {
  std::string text = (request.sort ? "the first " : "the newest ") + std::to_string(result.list.runs.size()) +
                     (request.sort ? " by " + *request.sort : "");
  if (result.present) text += " of " + std::to_string(*result.present) + " runs";
  return text + (result.present ? "" : "; there are more") +
         ": -n N shows N, --all shows all; names, patterns, --state, --tag, --sweep and --where select";
}

void write_searches(const app::LsRequest& request, store::Store& store, Console& console) {
  if (request.json)
    console.print(searches_json(store));
  else
    print_searches(console.out, store, console.terminal);
}

int ls(const app::LsRequest& request, app::App& app, Console& console) {
  runner::settle_launched_in_passing(app.database);
  store::Store store(app.database, store::OpenMode::read);
  if (request.search) {
    write_searches(request, store, console);
    return exit_done;
  }
  const app::LsResult result = app::list_runs(request, store);
  if (request.json) {
    print_json(console.out, result.list);
  } else if (request.csv) {
    print_csv(console.out, result.list);
  } else if (result.list.runs.empty()) {
    console.out << result.why_empty << '\n';
  } else {
    print_table(console.out, console.terminal, store, result.list);
    if (!result.complete) console.out << more_text(request, result) << '\n';
  }
  return exit_done;
}

}  // namespace

Verb ls_verb() {
  return make_verb("ls", "list runs with their scores", app::ls_form, ls);
}

}  // namespace encore::cli
