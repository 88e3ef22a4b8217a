// SPDX-License-Identifier: BSD-3-Clause
// The verbs rm, undelete and gc: rm hides or purges runs, undelete restores hidden ones, gc removes garbage.
// cli/rm_verb.cpp and cli/gc_verb.cpp call these functions. Three rules must stay: a run is purged, and a
// folder that the database does not know is removed, only after a question; a run that another one needs for
// `exp verify` is removed only with --force. Read next: removal.hpp.
#include "app/removal.hpp"

#include <algorithm>

namespace encore::app {

namespace {

std::vector<std::int64_t> numbers_of(const std::vector<store::RunRow>& runs) {
  std::vector<std::int64_t> numbers;
  for (const store::RunRow& run : runs) numbers.push_back(run.number);
  return numbers;
}

/// Returns "a" or "3 runs, a, b, c,". A long list has the first names and the number of the others.
std::string list_of(const std::vector<store::RunRow>& runs) {
  constexpr std::size_t most = 30;
  return (runs.size() > 1 ? std::to_string(runs.size()) + " runs, " : "") + store::names_text(runs, most) +
         (runs.size() > 1 ? "," : "");
}

/// Returns the selection of the request among present runs, hidden runs or both.
store::RunSelection with_sight(const SelectionRequest& request, store::Sight sight) {
  store::RunSelection selection = selection_from(request);
  selection.sight = sight;
  return selection;
}

/// Throws Error, unless --force, if a run that is kept starts from one of these or learns from it (its
/// teacher).
void require_unneeded(const RmRequest& request, store::Store& store, const std::vector<store::RunRow>& runs) {
  if (request.force) return;
  std::string text;
  for (const store::RunRow& run : runs) {
    std::vector<store::RunRow> children = store.list_children(run);
    std::erase_if(children, [&](const store::RunRow& child) {
      return std::ranges::find(runs, child.number, &store::RunRow::number) != runs.end();
    });
    if (children.empty()) continue;
    text += (text.empty() ? "" : "\n") + std::string("run ") + run.name + " (" + run.id +
            ") stays: " + list_of(children) + (children.size() > 1 ? " need" : " needs") +
            " its weights for exp verify";
  }
  if (!text.empty())
    throw Error(text + "\nAlso name the runs that need it, or pass --force to remove it anyway.");
}

RmResult purge(const RmRequest& request, const App& app, store::Store& store) {
  RmResult result{.runs = selected_runs(app, store, with_sight(request.selection, store::Sight::any)).runs};
  for (const store::RunRow& run : result.runs) store.require_idle(run.number);
  require_unneeded(request, store, result.runs);
  result.declined = !confirmed(
      app, request.yes, "remove " + list_of(result.runs) + " for good, with checkpoints and predictions");
  if (result.declined) return result;
  for (const store::RunRow& run : result.runs) store.purge_run(run.number);
  return result;
}

/// Removes the garbage of all runs and of folders without a run, and returns it. Returns std::nullopt if the
/// user answers no.
std::optional<std::vector<store::Garbage>> collect_all(const GcRequest& request, const App& app,
                                                       store::Store& store) {
  std::vector<store::Garbage> list = store::find_garbage(store);
  if (request.dry_run) return list;
  const auto folders = std::count_if(list.begin(), list.end(), [](const store::Garbage& garbage) {
    return garbage.kind == store::GarbageKind::folder;
  });
  // Such a folder may be the only record of its run, if the database was lost.
  const bool sure =
      folders == 0 || confirmed(app, request.yes,
                                "remove " + std::to_string(folders) +
                                    (folders == 1 ? " folder of a run that " : " folders of runs that ") +
                                    store.path().string() + " does not know");
  if (!sure) return std::nullopt;
  return store::remove_garbage(store, folders > 0);
}

/// As collect_all(), for the runs of the request if it selects any.
std::optional<std::vector<store::Garbage>> collect(const GcRequest& request, const App& app,
                                                   store::Store& store) {
  store::RunSelection selection = selection_from(request.selection);
  selection.sight = store::Sight::any;
  if (selection.words.empty() && !selection.narrows()) return collect_all(request, app, store);
  const std::vector<store::RunRow> runs = selected_runs(app, store, selection).runs;
  return request.dry_run ? store::find_garbage(store, runs) : store::remove_garbage(store, runs);
}

}  // namespace

Form<RmRequest> rm_form() {
  using R = RmRequest;
  return Form<R>("rm", {"rm RUN... [options]",
                        "Hides runs: ls does not list them, and run and plan treat their questions as new. "
                        "Nothing is lost: exp undelete restores them. Their names stay in use. Lists the "
                        "runs and asks first, unless they are named one by one.",
                        {{"exp rm \"quick*\" -y",
                          "hide all runs whose names begin with quick; ls --removed still lists them"}}})
      .flag("purge", &R::purge, "remove the runs for good, with their folders; also hidden runs")
      .flag("force", &R::force, "also remove runs that other runs start from, learn from or ask")
      .flag("yes,y", &R::yes, "do not ask")
      .flag("json", &R::json, "as JSON")
      .include(&R::selection, run_arguments());
}

Form<UndeleteRequest> undelete_form() {
  using R = UndeleteRequest;
  return Form<R>("undelete", {"undelete RUN... [options]",
                              "Restores runs that exp rm has hidden (exp ls --removed lists them).",
                              {{"exp undelete \"quick*\"", "restore all runs whose names begin with quick"}}})
      .flag("json", &R::json, "as JSON")
      .include(&R::selection, run_arguments());
}

RmResult remove_runs(const RmRequest& request, const App& app) {
  store::Store store(app.database, store::OpenMode::write);
  if (request.purge) return purge(request, app, store);
  const store::SelectedRuns selected =
      selected_runs(app, store, with_sight(request.selection, store::Sight::present));
  RmResult result{.runs = selected.runs};
  require_unneeded(request, store, result.runs);
  result.declined =
      !selected.named && !confirmed(app, request.yes, "hide " + list_of(result.runs) + " from exp ls",
                                    "exp undelete restores them.");
  if (!result.declined) store.set_removed(numbers_of(result.runs), true);
  return result;
}

std::vector<store::RunRow> undelete_runs(const UndeleteRequest& request, const App& app) {
  store::Store store(app.database, store::OpenMode::write);
  std::vector<store::RunRow> runs =
      selected_runs(app, store, with_sight(request.selection, store::Sight::removed)).runs;
  store.set_removed(numbers_of(runs), false);
  return runs;
}

Form<GcRequest> gc_form() {
  using R = GcRequest;
  return Form<R>("gc", {"gc [RUN...] [options]",
                        "Removes checkpoints that are neither the best nor the last of their run, leftovers "
                        "of interrupted writes and verifications, and folders of runs that the database does "
                        "not know (these only with -y or after a question). Skips runs that are being "
                        "trained. With RUN, cleans only the folders of these runs.",
                        {{"exp gc --dry-run", "list the garbage and its size"},
                         {"exp gc -y", "remove the garbage without a question"}}})
      .flag("dry-run,n", &R::dry_run, "only list the garbage")
      .flag("json", &R::json, "as JSON")
      .flag("csv", &R::csv, "as CSV")
      .flag("yes,y", &R::yes, "do not ask")
      .include(&R::selection, run_arguments())
      .exclude("json", "csv");
}

std::optional<std::vector<store::Garbage>> collect_garbage(const GcRequest& request, const App& app) {
  store::Store store(app.database, request.dry_run ? store::OpenMode::read : store::OpenMode::write);
  return collect(request, app, store);
}

}  // namespace encore::app
