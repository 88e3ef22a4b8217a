// stop: asks whoever works on a run, on a sweep, or on anything in the database to checkpoint and end, or to
// kill the worker, on this machine or on another that sees the same folder.
#include <iostream>

#include "cli/access.hpp"
#include "cli/format.hpp"
#include "cli/run_display.hpp"
#include "cli/run_summary.hpp"
#include "cli/verbs.hpp"
#include "runner/stop_request.hpp"

namespace encore {

namespace {

void ask(const CommandLine& line, const Store& store, const std::vector<RunRow>& runs, StopWish wish) {
  std::size_t asked = 0;
  for (const RunRow& run : runs) {
    if (run.state != RunState::running) continue;
    request_stop(store.run_folder(run.id), wish);
    ++asked;
    const Silence silence = silence_of(run.progress, run.started.value_or(now()), now());
    if (wish == StopWish::kill)
      std::cout << run.name
                << ": its worker is killed now; the same exp run takes it up: " << resume_text(store, run.id)
                << '\n';
    else if (silence.noticeable())
      std::cout << run.name
                << " was asked to stop, which it does only after a step: " << silence_text(silence) << "; "
                << suggestion(line, "stop " + run.name + " --kill") << " ends it now\n";
    else
      std::cout << run.name << " was asked to stop; it writes a checkpoint first\n";
  }
  if (asked > 0)
    std::cout << "  next      " << suggestion(line, "status") << '\n';
  else if (runs.size() == 1)
    std::cout << runs.front().name << " is " << name_of(runs.front().state) << ", there is nothing to stop\n";
  else
    std::cout << "nothing is running, there is nothing to stop\n";
}

}  // namespace

int stop_verb(const Arguments& arguments) {
  CommandLine line(
      "stop",
      {"stop RUN|SWEEP|--all",
       "Asks a running run to write a checkpoint and to end; the exp run that works on it goes on with its\n"
       "next run. Asks all running runs of a sweep, by its name, and every exp run that works on the sweep\n"
       "starts no more of it. The same exp run command later goes on with what was stopped. With --kill the\n"
       "worker is killed at once, for one that hangs in a step and would never write its checkpoint; the run "
       "is\n"
       "stopped all the same, and goes on from the checkpoint it has.",
       {{"exp stop quickstart", "stop the quickstart, wherever it is running"},
        {"exp stop quickstart --kill", "kill its worker: a step that never ends cannot be waited for"},
        {"exp stop --all", "stop everything that works on this database"}}});
  line.options()("all", boost::program_options::bool_switch(),
                 "every run and sweep that is worked on in this database");
  line.options()("kill", boost::program_options::bool_switch(),
                 "kill the worker now instead of waiting for a checkpoint");
  line.positional("run");
  if (!line.parse(arguments)) return exit_done;
  if (line.flag("all") && line.has("run"))
    throw UsageError("--all stops every run; leave the name out, or leave --all out");

  const StopWish wish = line.flag("kill") ? StopWish::kill : StopWish::checkpoint;
  Store store(line.database(), OpenMode::read);
  const std::filesystem::path folder = store.run_folder("").parent_path();
  if (line.flag("all")) {
    StopSign::raise(stop_sign_of_all(folder), wish);
    ask(line, store, store.list_runs({.states = {RunState::running}}), wish);
    return exit_done;
  }
  const std::string name = line.required("run", "a run, a sweep or --all");
  const std::vector<RunRow> runs = store.find_runs_or_sweep(name);
  for (std::int64_t sweep : store.find_sweeps(name)) StopSign::raise(stop_sign_of_sweep(folder, sweep), wish);
  ask(line, store, runs, wish);
  return exit_done;
}

}  // namespace encore
