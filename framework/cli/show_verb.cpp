// show: everything the database knows about a run, or about several one after the other.
#include <iostream>

#include "cli/access.hpp"
#include "cli/run_json.hpp"
#include "cli/run_selection.hpp"
#include "cli/search_text.hpp"
#include "cli/show_text.hpp"
#include "cli/verbs.hpp"
#include "runner/launched_runs.hpp"

namespace encore {

int show_verb(const Arguments& arguments) {
  namespace po = boost::program_options;
  CommandLine line(
      "show",
      {"show RUN...|SEARCH [options]",
       "Everything about a run: state, scores, curves, settings and where they come from, data, attempts, "
       "checkpoints, numeric environment. Of a search: its trials, the best first.",
       {{"exp show quickstart", "the quickstart's run"},
        {"exp show --best dev/f1", "the run with the highest score on dev"},
        {"exp show quickstart --json",
         "the same for a program, with every point of every curve; a list where several runs are meant"}}});
  line.options()("all", po::bool_switch(), "settings that have their default too; of a search every trial");
  line.options()("json", po::bool_switch(), "as JSON");
  add_run_arguments(line);
  if (!line.parse(arguments)) return exit_done;

  settle_launched_in_passing(line.database());
  Store store(line.database(), OpenMode::read);
  if (const auto search = named_search(store, line.texts("run"))) {
    const Snapshot snapshot(store.database());
    const SearchRecord record = read_search(store, *search);
    if (line.flag("json"))
      std::cout << search_json(store, *search, record).dump(2) << '\n';
    else
      print_search(std::cout, store, *search, record, terminal_of(stdout), line.flag("all"));
    return exit_done;
  }
  const RunSelection selection = selection_from(line);
  const SelectedRuns selected = selected_runs(line, store, selection);
  if (line.flag("json") && asks_for_one(selection, selected)) {
    std::cout << run_json(store, selected.runs.front()).dump(2) << '\n';
  } else if (line.flag("json")) {
    write_runs_json(store, selected.runs, [](const std::string& text) { std::cout << text; });
  } else {
    for (const RunRow& run : selected.runs) {
      if (&run != &selected.runs.front()) std::cout << '\n';
      print_run(std::cout, store, run, terminal_of(stdout), line.flag("all"));
    }
  }
  return exit_done;
}

}  // namespace encore
