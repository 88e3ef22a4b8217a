// stop: asks whoever works on a run to checkpoint and end, on this machine or on another that sees the same
// folder.
#include <iostream>

#include "cli/access.hpp"
#include "cli/verbs.hpp"
#include "runner/runner.hpp"

namespace encore {

int stop_verb(const Arguments& arguments) {
  CommandLine line("stop", {"stop RUN",
                            "Asks a running run to write a checkpoint and to end. The exp run that works on "
                            "it goes on with its next\n"
                            "run; the same exp run command later goes on with the stopped one.",
                            {{"exp stop quickstart", "stop the quickstart, wherever it is running"}}});
  line.positional("run");
  if (!line.parse(arguments)) return exit_done;

  const std::string name = line.required("run", "a run");
  Store store(line.database(), OpenMode::read);
  const RunRow run = store.find_run(name);
  if (run.state != RunState::running) {
    std::cout << run.name << " is " << name_of(run.state) << ", there is nothing to stop\n";
    return exit_done;
  }
  request_stop(store.run_folder(run.id));
  std::cout << run.name << " was asked to stop; it writes a checkpoint first (" << suggestion(line, "status")
            << " shows it)\n";
  return exit_done;
}

}  // namespace encore
