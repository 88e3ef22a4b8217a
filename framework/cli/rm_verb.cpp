// rm and undelete: runs out of sight and back; with --purge for good.
#include <algorithm>
#include <iostream>

#include "cli/access.hpp"
#include "cli/confirm.hpp"
#include "cli/run_selection.hpp"
#include "cli/verbs.hpp"

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

RunSelection with_sight(const CommandLine& line, Sight sight) {
  RunSelection selection = selection_from(line);
  selection.sight = sight;
  return selection;
}

/// Throws Error where another run, which stays, starts or learns from one of these.
void require_unneeded(const CommandLine& line, Store& store, const std::vector<RunRow>& runs) {
  if (line.flag("force")) return;
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

int purge(const CommandLine& line, Store& store) {
  const std::vector<RunRow> runs = selected_runs(line, store, with_sight(line, Sight::any)).runs;
  for (const RunRow& run : runs) store.require_idle(run.number);
  require_unneeded(line, store, runs);
  if (!confirm(line, "remove " + list_of(runs) + " for good, with checkpoints and predictions"))
    return exit_done;
  for (const RunRow& run : runs) {
    store.purge_run(run.number);
    std::cout << run.name << " (" << run.id << ") is gone for good\n";
  }
  return exit_done;
}

}  // namespace

int rm_verb(const Arguments& arguments) {
  CommandLine line("rm",
                   {"rm RUN... [options]",
                    "Takes runs out of sight: ls does not show them, and run and plan treat what they asked "
                    "as never asked. Nothing is lost: exp undelete brings them back. Their names stay taken. "
                    "Runs that were not named one by one are listed first, and you are asked.",
                    {{"exp rm \"quick*\" -y", "all whose names begin so; ls --removed still shows them"}}});
  line.options()("purge", boost::program_options::bool_switch(),
                 "remove them for good, with their folders; removed ones too");
  line.options()("force", boost::program_options::bool_switch(),
                 "also a run whose weights another one starts from ([model] from)");
  add_yes_option(line);
  add_run_arguments(line);
  if (!line.parse(arguments)) return exit_done;

  Store store(line.database(), OpenMode::write);
  if (line.flag("purge")) return purge(line, store);
  const SelectedRuns selected = selected_runs(line, store, with_sight(line, Sight::present));
  const std::vector<RunRow>& runs = selected.runs;
  require_unneeded(line, store, runs);
  if (!selected.named &&
      !confirm(line, "take " + list_of(runs) + " out of sight", "exp undelete brings back what was removed."))
    return exit_done;
  store.set_removed(numbers_of(runs), true);
  for (const RunRow& run : runs)
    std::cout << run.name << " is out of sight; " << suggestion(line, {"undelete", run.name})
              << " brings it back\n";
  return exit_done;
}

int undelete_verb(const Arguments& arguments) {
  CommandLine line("undelete",
                   {"undelete RUN... [options]",
                    "Brings runs back that exp rm took out of sight (exp ls --removed lists them).",
                    {{"exp undelete \"quick*\"", "as if they had never been removed"}}});
  add_run_arguments(line);
  if (!line.parse(arguments)) return exit_done;

  Store store(line.database(), OpenMode::write);
  const std::vector<RunRow> runs = selected_runs(line, store, with_sight(line, Sight::removed)).runs;
  store.set_removed(numbers_of(runs), false);
  for (const RunRow& run : runs) std::cout << run.name << " (" << name_of(run.state) << ") is back\n";
  return exit_done;
}

}  // namespace encore
