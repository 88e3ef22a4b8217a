// Verifications one after the other; see verify_runs.hpp. The flow: for each run a Verifier (refuses, trains,
// judges) -> recorded -> printed.
#include "cli/verify_runs.hpp"

#include <iostream>
#include <memory>

#include "cli/access.hpp"
#include "cli/run_display.hpp"
#include "cli/run_plugins.hpp"
#include "cli/run_ranks.hpp"
#include "cli/stop_requests.hpp"
#include "cli/verdict_text.hpp"
#include "runner/parent_weights.hpp"
#include "runner/places.hpp"
#include "runner/verifier.hpp"
#include "world/cores.hpp"

namespace encore {

namespace {

std::optional<std::int64_t> step_option(const CommandLine& line, const std::string& name) {
  const std::optional<std::int64_t> step = line.step(name);
  if (step && *step < 1)
    throw UsageError("--" + name + " is " + std::to_string(*step) + "; steps count from 1");
  return step;
}

void take_ranks(const CommandLine& line, const std::string& backend, VerificationTask& task) {
  task.ranks = line.integer("ranks");
  if (task.ranks == 1) return;
  require_rank_backend(task.ranks, backend);
  if (task.kill_at) throw UsageError("--kill-at kills one process; leave --ranks out, or --kill-at");
  require_ranks_divide(task.ranks, task.specification);
  require_rank_programs(line, task.ranks, task.worker);
  const PlacesWanted wanted{
      .threads = task.threads, .wishes = openmp_wishes(), .backend = backend, .ranks = task.ranks};
  task.threads = make_places(usable_cores(), wanted).front().threads;
  task.rank_launcher = rank_launcher(line, task.ranks, task.threads);
}

VerificationTask task_of(const CommandLine& line, Store& store, const RunRow& run, const PlaceFiles& place) {
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
  if (place) place(task.run, task.specification);
  task.specification.plugin_folders = run_plugin_folders(line, store, task.run, task.specification, backend);
  task.specification.backend = backend;
  task.threads = line.integer("threads");
  task.steps = step_option(line, "steps");
  task.from_checkpoint = step_option(line, "from-checkpoint");
  task.kill_at = step_option(line, "kill-at");
  const bool whole = !task.steps && !task.from_checkpoint;
  if (line.flag("scores") && task.steps)
    throw UsageError("--scores needs the whole training; leave --steps out");
  // Whoever looks at a bundle asks whether its table is true, not only whether its parameters are.
  task.scores = line.flag("scores") || (place && whole && run.state == RunState::completed);
  task.everything = place && whole && task.scores;
  task.keep = line.flag("keep");
  take_ranks(line, backend, task);
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

int verify_runs(const CommandLine& line, Store& store, const std::vector<RunRow>& runs, bool one,
                const PlaceFiles& place) {
  // What is wrong with one of them is said before the first is trained.
  std::vector<VerificationTask> tasks;
  for (const RunRow& run : runs) tasks.push_back(task_of(line, store, run, place));
  std::vector<std::unique_ptr<Verifier>> verifiers;
  for (VerificationTask& task : tasks)
    verifiers.push_back(std::make_unique<Verifier>(store, std::move(task), stop_requests()));
  listen_for_stop_requests();
  nlohmann::ordered_json verdicts = nlohmann::ordered_json::array();
  int exit_code = exit_done;
  // From here on something has been started: what goes wrong now is no longer a matter of usage.
  try {
    for (std::size_t i = 0; i < verifiers.size() && exit_code != exit_interrupted; ++i)
      if (const int code = verify(line, store, runs[i], *verifiers[i], verdicts); code != exit_done)
        exit_code = code;
  } catch (const Error& error) {
    std::cerr << "exp: " << error.what() << '\n';
    exit_code = exit_failed;
  }
  if (line.flag("json") && !verdicts.empty())
    std::cout << (one ? verdicts.front() : verdicts).dump(2) << '\n';
  return exit_code;
}

}  // namespace encore
