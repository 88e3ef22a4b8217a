// rm and undelete: runs out of sight and back; with --purge for good.
#include <algorithm>
#include <iostream>

#include "cli/access.hpp"
#include "cli/confirm.hpp"
#include "cli/verbs.hpp"

namespace encore {

namespace {

/// All of them, before anything is done to the first; each once.
std::vector<RunRow> find_runs(const CommandLine& line, Store& store, Sight sight) {
  std::vector<RunRow> runs;
  for (const std::string& name : line.required_list("run", "a run")) {
    RunRow run = store.find_run(name, sight);
    const auto same = [&](const RunRow& other) { return other.number == run.number; };
    if (std::none_of(runs.begin(), runs.end(), same)) runs.push_back(std::move(run));
  }
  return runs;
}

std::vector<std::int64_t> numbers_of(const std::vector<RunRow>& runs) {
  std::vector<std::int64_t> numbers;
  for (const RunRow& run : runs) numbers.push_back(run.number);
  return numbers;
}

std::string names_of(const std::vector<RunRow>& runs) {
  std::string names;
  for (const RunRow& run : runs) names += (names.empty() ? "" : ", ") + run.name;
  return names;
}

int purge(const CommandLine& line, Store& store) {
  const std::vector<RunRow> runs = find_runs(line, store, Sight::any);
  for (const RunRow& run : runs) store.require_idle(run.number);
  if (!confirm(line, "remove " + names_of(runs) + " for good, with checkpoints and predictions"))
    return exit_done;
  for (const RunRow& run : runs) {
    store.purge_run(run.number);
    std::cout << run.name << " (" << run.id << ") is gone for good\n";
  }
  return exit_done;
}

}  // namespace

int rm_verb(const Arguments& arguments) {
  CommandLine line(
      "rm", {"rm RUN... [options]",
             "Takes runs out of sight: ls does not show them, and run and plan treat what they asked as "
             "never asked.\nNothing is lost: exp undelete brings them back. Their names stay taken.",
             {{"exp rm quickstart", "out of sight; ls --removed still shows it"}}});
  line.options()("purge", boost::program_options::bool_switch(),
                 "remove them for good, with their folders; removed ones too");
  add_yes_option(line);
  line.positional("run", -1);
  if (!line.parse(arguments)) return exit_done;
  line.required_list("run", "a run");

  Store store(line.database(), OpenMode::write);
  if (line.flag("purge")) return purge(line, store);
  const std::vector<RunRow> runs = find_runs(line, store, Sight::present);
  store.set_removed(numbers_of(runs), true);
  for (const RunRow& run : runs)
    std::cout << run.name << " is out of sight; " << suggestion(line, "undelete " + run.name)
              << " brings it back\n";
  return exit_done;
}

int undelete_verb(const Arguments& arguments) {
  CommandLine line("undelete",
                   {"undelete RUN...",
                    "Brings runs back that exp rm took out of sight (exp ls --removed lists them).",
                    {{"exp undelete quickstart", "as if it had never been removed"}}});
  line.positional("run", -1);
  if (!line.parse(arguments)) return exit_done;
  line.required_list("run", "a run");

  Store store(line.database(), OpenMode::write);
  const std::vector<RunRow> runs = find_runs(line, store, Sight::removed);
  store.set_removed(numbers_of(runs), false);
  for (const RunRow& run : runs) std::cout << run.name << " (" << name_of(run.state) << ") is back\n";
  return exit_done;
}

}  // namespace encore
