// gc: removes what nothing needs any more from the folders of runs.
#include <algorithm>
#include <iostream>
#include <optional>

#include <nlohmann/json.hpp>

#include "cli/access.hpp"
#include "cli/confirm.hpp"
#include "cli/format.hpp"
#include "cli/run_selection.hpp"
#include "cli/verbs.hpp"
#include "store/garbage.hpp"

namespace encore {

namespace {

std::uint64_t bytes_of(const std::vector<Garbage>& list) {
  std::uint64_t bytes = 0;
  for (const Garbage& garbage : list) bytes += garbage.bytes;
  return bytes;
}

void print_json(const std::vector<Garbage>& list, bool removed) {
  nlohmann::ordered_json items = nlohmann::ordered_json::array();
  for (const Garbage& garbage : list)
    items.push_back({{"kind", name_of(garbage.kind)},
                     {"run", garbage.run},
                     {"path", garbage.path.string()},
                     {"bytes", garbage.bytes}});
  std::cout << nlohmann::ordered_json{{"removed", removed}, {"bytes", bytes_of(list)}, {"items", items}}.dump(
                   2)
            << '\n';
}

void print_table(const std::vector<Garbage>& list, bool removed) {
  if (list.empty()) {
    std::cout << "nothing to remove\n";
    return;
  }
  Table table({{"WHAT"}, {"RUN"}, {"SIZE", Align::right}, {"FILE"}});
  for (const Garbage& garbage : list)
    table.add({name_of(garbage.kind), garbage.run, bytes_text(garbage.bytes), garbage.path.string()});
  table.print(std::cout, terminal_of(stdout));
  std::cout << '\n'
            << bytes_text(bytes_of(list)) << (removed ? " removed\n" : " would be removed; nothing was\n");
}

/// Of all runs, and of what belongs to none; empty where somebody said no.
std::optional<std::vector<Garbage>> collect_all(const CommandLine& line, Store& store) {
  std::vector<Garbage> list = find_garbage(store);
  if (line.flag("dry-run")) return list;
  const auto folders = std::count_if(
      list.begin(), list.end(), [](const Garbage& garbage) { return garbage.kind == GarbageKind::folder; });
  // Such a folder may be the only record of its run, when somebody lost the database.
  const bool sure =
      folders == 0 || confirm(line, "remove " + std::to_string(folders) +
                                        (folders == 1 ? " folder of a run that " : " folders of runs that ") +
                                        store.path().string() + " does not know");
  if (!sure) return std::nullopt;
  return remove_garbage(store, folders > 0);
}

std::optional<std::vector<Garbage>> collect(const CommandLine& line, Store& store) {
  RunSelection selection = selection_from(line);
  selection.sight = Sight::any;
  if (selection.words.empty() && !selection.narrows()) return collect_all(line, store);
  const std::vector<RunRow> runs = selected_runs(line, store, selection).runs;
  return line.flag("dry-run") ? find_garbage(store, runs) : remove_garbage(store, runs);
}

}  // namespace

int gc_verb(const Arguments& arguments) {
  namespace po = boost::program_options;
  CommandLine line("gc", {"gc [RUN...] [options]",
                          "Removes checkpoints that are neither the best nor the last of their run, what "
                          "interrupted writes and verifications left, and folders of runs that the database "
                          "does not know (these only with -y, or when asked). Runs on which a process works "
                          "are left alone. With RUN only the folders of these runs are looked at.",
                          {{"exp gc --dry-run", "what would go, and how many bytes that is"},
                           {"exp gc -y", "remove it, without a question"}}});
  line.options()("dry-run,n", po::bool_switch(), "only show it");
  line.options()("json", po::bool_switch(), "as JSON");
  add_yes_option(line);
  add_run_arguments(line);
  if (!line.parse(arguments)) return exit_done;

  const bool dry = line.flag("dry-run");
  Store store(line.database(), dry ? OpenMode::read : OpenMode::write);
  const std::optional<std::vector<Garbage>> list = collect(line, store);
  if (!list) return exit_done;
  if (line.flag("json"))
    print_json(*list, !dry);
  else
    print_table(*list, !dry);
  return exit_done;
}

}  // namespace encore
