// verify: trains runs again and compares digests; the verdicts go into the database.
// The flow: what is asked -> for each run a Verifier (refuses, trains, judges) -> recorded -> printed.
#include <algorithm>
#include <iostream>
#include <limits>
#include <memory>

#include "cli/access.hpp"
#include "cli/format.hpp"
#include "cli/planned_search.hpp"
#include "cli/run_display.hpp"
#include "cli/run_plugins.hpp"
#include "cli/run_selection.hpp"
#include "cli/search_text.hpp"
#include "cli/stop_requests.hpp"
#include "cli/verbs.hpp"
#include "cli/verdict_text.hpp"
#include "record/cores.hpp"
#include "runner/parent_weights.hpp"
#include "runner/verifier.hpp"

namespace encore {

namespace {

CommandLine make_verify_line() {
  namespace po = boost::program_options;
  CommandLine line(
      "verify",
      {"verify RUN...|SEARCH [options]",
       "Trains a run again from its stored settings, vocabulary and data, in a folder of its own, and "
       "compares\n"
       "the digests of parameters and optimizer state, bit by bit. The run itself is not touched; the "
       "verdict\n"
       "is kept beside it (exp show RUN). Exit code 0: equal; 3: the bits differ, whether the numeric\n"
       "environment is the same (different) or not (not comparable). Of several runs one is trained after "
       "the "
       "other. Of a search every decision is made again from what it had seen; nothing is trained.",
       {{"exp verify quickstart", "every step, as it was trained"},
        {"exp verify quickstart --steps 10 --threads 2", "the first ten steps, on two threads"},
        {"exp verify quickstart --kill-at 3",
         "with a kill -9 after step 3, and going on from a checkpoint"}}});
  const auto step = [] { return po::value<std::int64_t>()->value_name("STEP"); };
  line.options()("steps", po::value<std::int64_t>()->value_name("N"), "only the first N steps");
  line.options()("from-checkpoint", step(), "begin with the run's checkpoint of that step, if it is kept");
  line.options()("kill-at", step(), "kill -9 the verifying worker after that step, and go on");
  line.options()("threads,t", po::value<int>()->value_name("N")->default_value(0),
                 "threads of the worker; 0: all this process may use");
  line.options()("backend", po::value<std::string>()->value_name("NAME"),
                 "openmp, cuda or hip (default: that of the run)");
  add_run_plugin_option(line);
  line.options()("keep", po::bool_switch(), "keep the folder in which it was trained");
  line.options()("json", po::bool_switch(), "the verdict as JSON; a list where several runs are meant");
  line.options()("quiet,q", po::bool_switch(), "print only the verdict");
  add_run_arguments(line);
  return line;
}

std::optional<std::int64_t> step_option(const CommandLine& line, const std::string& name) {
  const std::optional<std::int64_t> step = line.step(name);
  if (step && *step < 1)
    throw UsageError("--" + name + " is " + std::to_string(*step) + "; steps count from 1");
  return step;
}

VerificationTask task_of(const CommandLine& line, Store& store, const RunRow& run) {
  VerificationTask task;
  task.run = run;
  const std::filesystem::path folder = store.run_folder(task.run.id);
  if (task.run.state == RunState::pending)
    throw Error("run " + task.run.name + " was never trained: there is nothing to verify");
  const Programs programs = installed_programs();
  const std::string backend = line.has("backend") ? line.text("backend") : task.run.backend;
  task.worker = worker_program(programs, backend);
  task.specification = Specification::load(folder);
  find_parent_files(store, task.run, task.specification);
  task.specification.plugin_folders = run_plugin_folders(line, store, task.run, task.specification, backend);
  task.specification.backend = backend;
  task.threads = line.integer("threads");
  task.steps = step_option(line, "steps");
  task.from_checkpoint = step_option(line, "from-checkpoint");
  task.kill_at = step_option(line, "kill-at");
  task.keep = line.flag("keep");
  return task;
}

nlohmann::ordered_json json_of(const RunRow& run, const VerificationOutcome& outcome, bool kept) {
  const VerificationRow& verification = outcome.verification;
  using Json = nlohmann::ordered_json;
  return {{"run", run.name},
          {"id", run.id},
          {"outcome", verification.outcome},
          {"first_step", verification.first_step ? Json(*verification.first_step) : Json()},
          {"scope", verification.scope},
          {"time", verification.time},
          {"folder", kept ? Json(outcome.folder.string()) : Json()},
          {"details", verification.details}};
}

void print(const CommandLine& line, const RunRow& run, const VerificationOutcome& outcome) {
  std::cout << run.name << ' ' << verdict_text(outcome.verification) << '\n'
            << verdict_details(outcome.verification);
  if (line.flag("keep")) std::cout << "  trained in " << outcome.folder.string() << '\n';
}

/// Adds to `verdicts` where JSON is asked for.
int verify(const CommandLine& line, Store& store, const RunRow& run, Verifier& verifier,
           nlohmann::ordered_json& verdicts) {
  const bool quiet = line.flag("quiet") || line.flag("json");
  LiveLines lines(stdout, terminal_of(stdout));
  RunDisplay display("verifying " + run.name, lines, 0, quiet);
  display.say("verifying " + run.name + "  " + std::to_string(verifier.digests()) + " digests of steps " +
              std::to_string(verifier.first_step()) + " to " + std::to_string(verifier.last_step()));
  const VerificationOutcome outcome = verifier.run(display);
  lines.hide();
  if (outcome.interrupted) {
    std::cerr << "exp: the verification of " << run.name << " was stopped; there is no verdict\n";
    return exit_interrupted;
  }
  if (line.flag("json"))
    verdicts.push_back(json_of(run, outcome, line.flag("keep")));
  else
    print(line, run, outcome);
  std::cout.flush();
  store.add_verification(run.number, outcome.verification);
  return outcome.verification.outcome == "equal" ? exit_done : exit_different;
}

}  // namespace

int verify_verb(const Arguments& arguments) {
  CommandLine line = make_verify_line();
  if (!line.parse(arguments)) return exit_done;
  require_threads(line.integer("threads"));

  Store store(line.database(), OpenMode::write);
  if (const auto search = named_search(store, line.texts("run"))) return verify_search(line, store, *search);
  const RunSelection selection = selection_from(line);
  const SelectedRuns selected = selected_runs(line, store, selection);
  // What is wrong with one of them is said before the first is trained.
  std::vector<VerificationTask> tasks;
  for (const RunRow& run : selected.runs) tasks.push_back(task_of(line, store, run));
  std::vector<std::unique_ptr<Verifier>> verifiers;
  for (VerificationTask& task : tasks)
    verifiers.push_back(std::make_unique<Verifier>(store, std::move(task), stop_requests()));
  listen_for_stop_requests();
  nlohmann::ordered_json verdicts = nlohmann::ordered_json::array();
  int exit_code = exit_done;
  // From here on something has been started: what goes wrong now is no longer a matter of usage.
  try {
    for (std::size_t i = 0; i < verifiers.size() && exit_code != exit_interrupted; ++i)
      if (const int code = verify(line, store, selected.runs[i], *verifiers[i], verdicts); code != exit_done)
        exit_code = code;
  } catch (const Error& error) {
    std::cerr << "exp: " << error.what() << '\n';
    exit_code = exit_failed;
  }
  if (line.flag("json") && !verdicts.empty())
    std::cout << (asks_for_one(selection, selected) ? verdicts.front() : verdicts).dump(2) << '\n';
  return exit_code;
}

}  // namespace encore
