// ls: the runs of the database with their scores, newest first or by a column.
#include <algorithm>
#include <iostream>

#include "cli/run_list.hpp"
#include "cli/run_selection.hpp"
#include "cli/search_text.hpp"
#include "cli/verbs.hpp"
#include "runner/launched_runs.hpp"

namespace encore {

namespace {

struct ListedRuns {
  std::vector<RunRow> runs;
  bool complete = true;       ///< there are no more
  bool of_one_sweep = false;  ///< all belong to the sweep that was named
};

/// At most `limit` runs, by the column of --sort or the newest; 0: all.
ListedRuns listed_runs(const CommandLine& line, Store& store, RunSelection selection, std::size_t limit) {
  // One more than asked for tells that there are more.
  if (limit > 0 && !line.has("sort")) selection.limit = static_cast<std::int64_t>(limit) + 1;
  SelectedRuns selected = select_runs(store, selection);
  std::vector<RunRow> runs = std::move(selected.runs);
  std::sort(runs.begin(), runs.end(), [](const RunRow& a, const RunRow& b) { return a.number > b.number; });
  if (line.has("sort"))
    sort_by(named_column(store, runs, "--sort", line.text("sort")), line.flag("reverse"), runs);
  else if (line.flag("reverse"))
    std::reverse(runs.begin(), runs.end());
  ListedRuns listing{.runs = std::move(runs), .of_one_sweep = !selected.sweep.empty()};
  listing.complete = limit == 0 || listing.runs.size() <= limit;
  if (!listing.complete) listing.runs.resize(limit);
  return listing;
}

/// Runs of one sweep are shown with the options that it varies; of very many that would be a long look.
bool shows_varied(const CommandLine& line, const RunSelection& selection, const std::vector<RunRow>& runs,
                  bool of_one_sweep) {
  constexpr std::size_t many = 1000;
  if (line.flag("varied")) return true;
  if (selection.words.empty() && !selection.narrows()) return false;
  return runs.size() > 1 && runs.size() <= many &&
         (of_one_sweep || std::all_of(runs.begin(), runs.end(), [&](const RunRow& run) {
            return !run.sweep.empty() && run.sweep == runs.front().sweep;
          }));
}

/// How many more there are is told where it costs next to nothing.
std::string more_text(const CommandLine& line, Store& store, const RunSelection& selection,
                      std::size_t shown) {
  const bool chosen = !selection.words.empty() || selection.narrows();
  std::string text = (line.has("sort") ? "the first " : "the newest ") + std::to_string(shown) +
                     (line.has("sort") ? " by " + line.text("sort") : "");
  if (!chosen)
    text += " of " +
            std::to_string(store.database()
                               .integer("SELECT count(*) FROM run WHERE " + condition_of(selection.sight))
                               .value_or(0));
  return text + (chosen ? "; there are more" : " runs") +
         ": -n N shows N, --all all; names, patterns, --state, --tag, --sweep and --where choose";
}

RunSelection selection_of(const CommandLine& line) {
  std::vector<std::string> words = line.texts("run");
  if (line.has("name")) words.push_back(line.text("name"));
  RunSelection selection = selection_from(line, words);
  if (line.flag("removed")) selection.sight = Sight::removed;
  return selection;
}

/// Why the list is empty.
std::string empty_text(Store& store, const RunSelection& selection) {
  const bool chosen = !selection.words.empty() || selection.narrows();
  if (!chosen && selection.sight == Sight::present) return "no runs yet";
  if (!chosen) return "no runs are removed";
  return none_text(store, selection, select_runs(store, selection));
}

CommandLine make_line() {
  namespace po = boost::program_options;
  CommandLine line(
      "ls",
      {"ls [RUN...] [options]",
       "Lists runs, the newest first, with state, the scores of the best checkpoint (so far, where a run "
       "still trains), epochs, time spent and age; runs of one sweep also with the options that it varies.",
       {{"exp ls \"quick*\" --state completed", "complete runs whose names begin with quick"},
        {"exp ls --where \"train.epochs > 1 AND test/f1 >= 0.0\" --sort test/f1", "the best score first"},
        {"exp ls --csv", "all runs for a spreadsheet"}}});
  line.options()("sort", po::value<std::string>()->value_name("COLUMN"),
                 "by a field, a setting or a measure (test/loss: the best first), not by age");
  line.options()("reverse,r", po::bool_switch(), "the other way round");
  line.options()("column", po::value<std::vector<std::string>>()->value_name("COLUMN"),
                 "show this field, setting or measure too (may be repeated)");
  line.options()("varied", po::bool_switch(), "show every option that is not the same in all of them");
  line.options()("name", po::value<std::string>()->value_name("GLOB"), "the same as GLOB as an argument");
  line.options()("removed", po::bool_switch(), "those that exp rm took out of sight instead");
  line.options()("number,n", po::value<int>()->value_name("N")->default_value(100),
                 "at most so many, the newest; 0: all (--json and --csv give all where -n is not written)");
  line.options()("all,a", po::bool_switch(), "short for -n 0");
  line.options()("search", po::bool_switch(), "the searches instead of the runs");
  line.options()("json", po::bool_switch(), "as JSON");
  line.options()("csv", po::bool_switch(), "as CSV");
  add_run_arguments(line);
  return line;
}

}  // namespace

int ls_verb(const Arguments& arguments) {
  CommandLine line = make_line();
  if (!line.parse(arguments)) return exit_done;
  if (line.flag("json") && line.flag("csv")) throw UsageError("--json and --csv exclude each other");
  if (line.flag("all") && !line.defaulted("number")) throw UsageError("--all and -n exclude each other");
  if (line.integer("number") < 0) throw UsageError("--number is negative; 0 means all");

  settle_launched_in_passing(line.database());
  Store store(line.database(), OpenMode::read);
  if (line.flag("search")) {
    if (line.flag("csv")) throw UsageError("--search has no CSV; --json has everything");
    if (line.flag("json"))
      std::cout << searches_json(store).dump(2) << '\n';
    else
      print_searches(std::cout, store, terminal_of(stdout));
    return exit_done;
  }
  const RunSelection selection = selection_of(line);
  const bool for_programs = line.flag("json") || line.flag("csv");
  const bool all = line.flag("all") || (for_programs && line.defaulted("number"));
  ListedRuns listing =
      listed_runs(line, store, selection, all ? 0 : static_cast<std::size_t>(line.integer("number")));
  RunList list = make_run_list(store, std::move(listing.runs));
  if (shows_varied(line, selection, list.runs, listing.of_one_sweep))
    list.columns = varied_columns(store, list.runs);
  for (const std::string& name : line.texts("column"))
    list.columns.push_back(named_column(store, list.runs, "--column", name));
  if (line.flag("json")) {
    print_json(std::cout, list);
  } else if (line.flag("csv")) {
    print_csv(std::cout, list);
  } else if (list.runs.empty()) {
    std::cout << empty_text(store, selection) << '\n';
  } else {
    print_table(std::cout, terminal_of(stdout), store, list);
    if (!listing.complete) std::cout << more_text(line, store, selection, list.runs.size()) << '\n';
  }
  return exit_done;
}

}  // namespace encore
