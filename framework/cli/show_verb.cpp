// show: everything the database knows about one run.
#include <iostream>

#include "cli/access.hpp"
#include "cli/run_json.hpp"
#include "cli/show_text.hpp"
#include "cli/verbs.hpp"

namespace encore {

int show_verb(const Arguments& arguments) {
  namespace po = boost::program_options;
  CommandLine line(
      "show",
      {"show RUN [options]",
       "Everything about one run: state, scores, curves, settings and where they come from, data, attempts,\n"
       "checkpoints, numeric environment. RUN is a name or the beginning of an id.",
       {{"exp show quickstart", "the quickstart's run"},
        {"exp show quickstart --json", "the same for a program, with every point of every curve"}}});
  line.options()("all", po::bool_switch(), "settings that have their default too");
  line.options()("json", po::bool_switch(), "as JSON");
  line.positional("run");
  if (!line.parse(arguments)) return exit_done;

  const std::string name = line.required("run", "a run");
  Store store(line.database(), OpenMode::read);
  const RunRow run = store.find_run(name);
  if (line.flag("json"))
    std::cout << run_json(store, run).dump(2) << '\n';
  else
    print_run(std::cout, store, run, terminal_of(stdout), line.flag("all"));
  return exit_done;
}

}  // namespace encore
