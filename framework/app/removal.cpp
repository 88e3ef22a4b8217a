// Removes runs and garbage, after a question where they may not be meant.
#include "app/removal.hpp"

#include <algorithm>

namespace encore {

namespace {

std::vector<std::int64_t> numbers_of(const std::vector<RunRow>& runs) {
  std::vector<std::int64_t> numbers;
  for (const RunRow& run : runs) numbers.push_back(run.number);
  return numbers;
}

/// "a"; "3 runs, a, b, c,"; of very many the first ones and how many more.
std::string list_of(const std::vector<RunRow>& runs) {
  constexpr std::size_t most = 30;
  return (runs.size() > 1 ? std::to_string(runs.size()) + " runs, " : "") + names_text(runs, most) +
         (runs.size() > 1 ? "," : "");
}

RunSelection with_sight(const SelectionRequest& request, Sight sight) {
  RunSelection selection = selection_from(request);
  selection.sight = sight;
  return selection;
}

/// Throws Error where another run, which stays, starts or learns from one of these.
void require_unneeded(const RmRequest& request, Store& store, const std::vector<RunRow>& runs) {
  if (request.force) return;
  std::string text;
  for (const RunRow& run : runs) {
    std::vector<RunRow> children = store.list_children(run);
    std::erase_if(children, [&](const RunRow& child) {
      return std::ranges::find(runs, child.number, &RunRow::number) != runs.end();
    });
    if (children.empty()) continue;
    text += (text.empty() ? "" : "\n") + std::string("run ") + run.name + " (" + run.id +
            ") stays: " + list_of(children) + (children.size() > 1 ? " need" : " needs") +
            " its weights, which exp verify reads again";
  }
  if (!text.empty())
    throw Error(text + "\nName those that need it too, or give --force to remove it all the same.");
}

RmResult purge(const RmRequest& request, const App& app, Store& store) {
  RmResult result{.runs = selected_runs(app, store, with_sight(request.selection, Sight::any)).runs};
  for (const RunRow& run : result.runs) store.require_idle(run.number);
  require_unneeded(request, store, result.runs);
  result.declined = !confirmed(
      app, request.yes, "remove " + list_of(result.runs) + " for good, with checkpoints and predictions");
  if (result.declined) return result;
  for (const RunRow& run : result.runs) store.purge_run(run.number);
  return result;
}

/// Of all runs, and of what belongs to none; empty where somebody said no.
std::optional<std::vector<Garbage>> collect_all(const GcRequest& request, const App& app, Store& store) {
  std::vector<Garbage> list = find_garbage(store);
  if (request.dry_run) return list;
  const auto folders = std::count_if(
      list.begin(), list.end(), [](const Garbage& garbage) { return garbage.kind == GarbageKind::folder; });
  // Such a folder may be the only record of its run, when somebody lost the database.
  const bool sure =
      folders == 0 || confirmed(app, request.yes,
                                "remove " + std::to_string(folders) +
                                    (folders == 1 ? " folder of a run that " : " folders of runs that ") +
                                    store.path().string() + " does not know");
  if (!sure) return std::nullopt;
  return remove_garbage(store, folders > 0);
}

std::optional<std::vector<Garbage>> collect(const GcRequest& request, const App& app, Store& store) {
  RunSelection selection = selection_from(request.selection);
  selection.sight = Sight::any;
  if (selection.words.empty() && !selection.narrows()) return collect_all(request, app, store);
  const std::vector<RunRow> runs = selected_runs(app, store, selection).runs;
  return request.dry_run ? find_garbage(store, runs) : remove_garbage(store, runs);
}

}  // namespace

Form<RmRequest> rm_form() {
  using R = RmRequest;
  return Form<R>("rm",
                 {"rm RUN... [options]",
                  "Takes runs out of sight: ls does not show them, and run and plan treat what they asked "
                  "as never asked. Nothing is lost: exp undelete brings them back. Their names stay taken. "
                  "Runs that were not named one by one are listed first, and you are asked.",
                  {{"exp rm \"quick*\" -y", "all whose names begin so; ls --removed still shows them"}}})
      .flag("purge", &R::purge, "remove them for good, with their folders; removed ones too")
      .flag("force", &R::force, "also a run whose weights another one starts from ([model] from)")
      .flag("yes,y", &R::yes, "do not ask")
      .flag("json", &R::json, "as JSON")
      .include(&R::selection, run_arguments());
}

Form<UndeleteRequest> undelete_form() {
  using R = UndeleteRequest;
  return Form<R>("undelete", {"undelete RUN... [options]",
                              "Brings runs back that exp rm took out of sight (exp ls --removed lists them).",
                              {{"exp undelete \"quick*\"", "as if they had never been removed"}}})
      .flag("json", &R::json, "as JSON")
      .include(&R::selection, run_arguments());
}

RmResult remove_runs(const RmRequest& request, const App& app) {
  Store store(app.database, OpenMode::write);
  if (request.purge) return purge(request, app, store);
  const SelectedRuns selected = selected_runs(app, store, with_sight(request.selection, Sight::present));
  RmResult result{.runs = selected.runs};
  require_unneeded(request, store, result.runs);
  result.declined =
      !selected.named && !confirmed(app, request.yes, "take " + list_of(result.runs) + " out of sight",
                                    "exp undelete brings back what was removed.");
  if (!result.declined) store.set_removed(numbers_of(result.runs), true);
  return result;
}

std::vector<RunRow> undelete_runs(const UndeleteRequest& request, const App& app) {
  Store store(app.database, OpenMode::write);
  std::vector<RunRow> runs = selected_runs(app, store, with_sight(request.selection, Sight::removed)).runs;
  store.set_removed(numbers_of(runs), false);
  return runs;
}

Form<GcRequest> gc_form() {
  using R = GcRequest;
  return Form<R>("gc",
                 {"gc [RUN...] [options]",
                  "Removes checkpoints that are neither the best nor the last of their run, what "
                  "interrupted writes and verifications left, and folders of runs that the database does "
                  "not know (these only with -y, or when asked). Runs on which a process works are left "
                  "alone. With RUN only the folders of these runs are looked at.",
                  {{"exp gc --dry-run", "what would go, and how many bytes that is"},
                   {"exp gc -y", "remove it, without a question"}}})
      .flag("dry-run,n", &R::dry_run, "only show it")
      .flag("json", &R::json, "as JSON")
      .flag("csv", &R::csv, "as CSV")
      .flag("yes,y", &R::yes, "do not ask")
      .include(&R::selection, run_arguments())
      .exclude("json", "csv");
}

std::optional<std::vector<Garbage>> collect_garbage(const GcRequest& request, const App& app) {
  Store store(app.database, request.dry_run ? OpenMode::read : OpenMode::write);
  return collect(request, app, store);
}

}  // namespace encore
