// SPDX-License-Identifier: BSD-3-Clause
// show(): decides for `exp show` whether the words of the request mean runs or a search, and selects them.
// cli/show_verb.cpp calls it and prints everything about the result. A run comes before a search with its
// name; scripts depend on this order. Read next: show.hpp.
#include "app/show.hpp"

#include "app/planned_search.hpp"

namespace encore::app {

Form<ShowRequest> show_form() {
  using R = ShowRequest;
  return Form<R>("show",
                 {"show RUN...|SEARCH [options]",
                  "Everything about a run: state, scores, curves, settings and where they come from, data, "
                  "attempts, checkpoints, numeric environment. Of a search: its trials, the best first.",
                  {{"exp show quickstart", "the quickstart's run"},
                   {"exp show --best dev/f1", "the run with the highest score on dev"},
                   {"exp show quickstart --json",
                    "the same for a program, with every point of every curve; a list where several runs are "
                    "meant"}}})
      .flag("all", &R::all, "settings that have their default too; of a search every trial")
      .flag("json", &R::json, "as JSON")
      .flag("csv", &R::csv, "print all scores of the best checkpoints as CSV")
      .exclude("json", "csv")
      .include(&R::selection, run_arguments());
}

ShownRuns show(const ShowRequest& request, const App& app, store::Store& store) {
  if (auto search = named_search(store, request.selection.runs)) return {.runs = {}, .search = search};
  const store::RunSelection selection = selection_from(request.selection);
  store::SelectedRuns selected = selected_runs(app, store, selection);
  const bool one = asks_for_one(selection, selected);
  return {.runs = std::move(selected.runs), .one = one};
}

}  // namespace encore::app
