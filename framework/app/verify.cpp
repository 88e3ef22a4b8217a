// Verifications one after the other. The flow: for each run a Verifier (refuses, trains, judges) -> recorded
// -> reported.
#include "app/verify.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

#include "analysis/statistics.hpp"
#include "plan/search/search_plan.hpp"
#include "runner/parent_weights.hpp"
#include "runner/places.hpp"
#include "runner/score_comparison.hpp"
#include "store/run_score.hpp"
#include "world/cores.hpp"

namespace encore {

namespace {

using search::Decision;
using search::DecisionKind;

void take_ranks(const RankRequest& request, const std::string& backend, VerificationTask& task) {
  task.ranks = request.ranks;
  if (task.ranks == 1) return;
  require_rank_backend(task.ranks, backend);
  if (task.kill_at) throw UsageError("--kill-at kills one process; leave --ranks out, or --kill-at");
  require_ranks_divide(task.ranks, task.specification);
  require_rank_programs(request, false, task.worker);
  const PlacesWanted wanted{
      .threads = task.threads, .wishes = openmp_wishes(), .backend = backend, .ranks = task.ranks};
  task.threads = make_places(usable_cores(), wanted).front().threads;
  task.rank_launcher = rank_launcher(request, task.threads);
}

VerificationTask task_of(const VerifyRequest& request, const App& app, Store& store, const RunRow& run,
                         const PlaceFiles& place) {
  VerificationTask task;
  task.run = run;
  const std::filesystem::path folder = store.run_folder(task.run.id);
  if (task.run.state == RunState::pending)
    throw Error("run " + task.run.name + " was never trained: there is nothing to verify");
  const Programs programs = installed_programs();
  const std::string backend = request.backend.value_or(task.run.backend);
  task.worker = worker_program(programs, backend);
  task.specification = Specification::load(folder);
  find_parent_files(store, task.run, task.specification);
  if (place) place(task.run, task.specification);
  task.specification.plugin_folders =
      run_plugin_folders(app, request.plugin_path, store, task.run, task.specification, backend);
  task.specification.backend = backend;
  task.threads = request.threads;
  task.steps = request.steps;
  task.from_checkpoint = request.from_checkpoint;
  task.kill_at = request.kill_at;
  const bool whole = !task.steps && !task.from_checkpoint;
  // Whoever looks at a bundle asks whether its table is true, not only whether its parameters are.
  task.scores = request.scores || (place && whole && run.state == RunState::completed);
  task.everything = place && whole && task.scores;
  task.keep = request.keep;
  take_ranks(request.ranks, backend, task);
  return task;
}

/// The runs whose mean an observation is, as far as they are still there: those of the trial, or those that
/// confirmation `nth` of the trial had. None where the runs do not say it.
std::vector<std::int64_t> runs_behind(const SearchRecord& record, const search::Observation& one,
                                      const search::TrialState& state, std::size_t nth) {
  const TrialRow& trial = record.trials[one.trial];
  if (one.outcome == search::Outcome::complete) return trial.runs;
  if (one.outcome != search::Outcome::confirmed) return {};
  const auto seeds = static_cast<std::size_t>(state.confirmations.at(nth));
  if (trial.confirmations.size() < seeds) return {};
  return {trial.confirmations.begin(), trial.confirmations.begin() + static_cast<std::ptrdiff_t>(seeds)};
}

/// Beyond what the order of a sum may change.
bool differ(double a, double b) {
  return std::fabs(a - b) > 1e-12 * std::max(std::fabs(a), std::fabs(b));
}

/// The first observation of a complete or confirmed trial that is not what its runs answer now; empty where
/// none is.
std::string changed_observation(Store& store, const SearchRow& row, const SearchRecord& record) {
  const search::SearchOptions options = search::options_from_json(row.settings);
  const std::vector<search::TrialState> states = search::trial_states(record.history);
  std::vector<std::size_t> confirmed(states.size(), 0);
  for (std::size_t i = 0; i < record.history.observations.size(); ++i) {
    const search::Observation& one = record.history.observations[i];
    const bool confirms = one.outcome == search::Outcome::confirmed;
    const std::vector<std::int64_t> runs =
        runs_behind(record, one, states[one.trial], confirms ? confirmed[one.trial]++ : 0);
    for (std::size_t j = 0; j < options.objectives.size() && !runs.empty(); ++j) {
      double sum = 0.0;
      bool known = true;
      for (const std::int64_t run : runs) {
        const auto value = judged_measure(store, store.read_run(run), options.objectives[j].metric);
        known = known && value.has_value();
        sum += value.value_or(0.0);
      }
      if (known && differ(sum / static_cast<double>(runs.size()), one.values[j]))
        return "observation " + std::to_string(i + 1) + ", of trial " + std::to_string(one.trial + 1) +
               ", says " + options.objectives[j].metric + " " + std::to_string(one.values[j]) +
               ", its runs answered " + std::to_string(sum / static_cast<double>(runs.size()));
    }
  }
  return "";
}

std::string description_of(const SearchRow& row, const Decision& decision) {
  std::string text = std::string(search::name_of(decision.kind));
  if (decision.kind == DecisionKind::wait || decision.kind == DecisionKind::finish) return text;
  text += " trial " + std::to_string(decision.trial + 1) + " (" +
          length_text(search::options_from_json(row.settings).unit, decision.epochs) + ")";
  if (decision.kind == DecisionKind::propose)
    text += "  " + search::text_of(search::space_from_json(row.space),
                                   {decision.point, std::vector<bool>(decision.point.size(), true)});
  return text;
}

}  // namespace

bool VerifyRequest::names_bundle() const {
  return !selection.runs.empty() && selection.runs.front().ends_with(bundle_ending);
}

Form<VerifyRequest> verify_form() {
  using R = VerifyRequest;
  Form<R> form(
      "verify",
      {"verify RUN...|SEARCH|BUNDLE [options]",
       "Trains a run again from its stored settings, vocabulary and data, in a folder of its own, and "
       "compares the digests of parameters and optimizer state, bit by bit. The run itself is not "
       "touched; the verdict is kept beside it (exp show RUN). Exit code 0: equal; 3: the bits differ, "
       "whether the numeric environment is the same (different) or not (not comparable). Of several "
       "runs one is trained after the other. Of a search every decision is made again from what it had "
       "seen; nothing is trained. BUNDLE is a file of exp bundle, NAME.tar.zst, with runs of it behind "
       "it (without: all of them). It is unpacked into a temporary folder, its parts are compared, and "
       "what is missing here is listed before anything is trained.",
       {{"exp verify quickstart", "every step, as it was trained"},
        {"exp verify quickstart --steps 10 --threads 2", "the first ten steps, on two threads"},
        {"exp verify quickstart --kill-at 3", "with a kill -9 after step 3, and going on from a checkpoint"},
        {"exp verify quickstart.tar.zst --data experiments",
         "what somebody else has bundled; its data are looked for in that folder"}}});
  form.option("steps", &R::steps, "N", "only the first N steps")
      .option("from-checkpoint", &R::from_checkpoint, "STEP",
              "begin with the run's checkpoint of that step, if it is kept")
      .option("kill-at", &R::kill_at, "STEP", "kill -9 the verifying worker after that step, and go on")
      .flag("scores", &R::scores,
            "train to the end, score dev and test as the run did, and compare every score (of a bundle it is "
            "done anyway)")
      .option("threads,t", &R::threads, "N", "threads of the worker; 0: all this process may use")
      .option("backend", &R::backend, "NAME", "openmp, cuda or hip (default: that of the run)")
      .include(&R::ranks, rank_options())
      .option("plugin-path", &R::plugin_path, "DIR", run_plugin_help)
      .flag("keep", &R::keep, "keep the folder in which it was trained")
      .option(
          "data", &R::data, "DIR",
          "of a bundle: where its data are looked for (may be repeated; default: this folder and the tree "
          "of this program)")
      .option("report", &R::report, "FILE",
              "of a bundle: write a report of the checked rows, with the verdicts, as HTML")
      .flag("build", &R::build,
            "of a bundle: build the recorded commit, out of a clone, and verify with that")
      .option("clone", &R::clone, "DIR", "the clone for --build (default: the tree of this program)")
      .flag("with-diff", &R::with_diff,
            "with --build: apply what was changed in the commit, which is code of whoever made the bundle")
      .flag("json", &R::json, "the verdict as JSON; a list where several runs are meant")
      .flag("quiet,q", &R::quiet, "print only the verdict")
      .include(&R::selection, run_arguments())
      .exclude("scores", "steps", "--scores needs the whole training; leave --steps out")
      .refuse([](const R& request) {
        require_threads(request.threads);
        return std::string();
      });
  for (const char* step : {"steps", "from-checkpoint", "kill-at"})
    form.least(step, 1, std::string("--") + step + " is {}; steps count from 1");
  form.refuse([form](const R& request) -> std::string {
    if (request.names_bundle()) return "";
    for (const char* option : {"data", "clone", "report", "build", "with-diff"})
      if (form.is_given(option, &request))
        return std::string("--") + option + " is for bundles: exp verify NAME.tar.zst";
    return "";
  });
  return form.needs("clone", "build", "--clone goes with --build")
      .needs("with-diff", "build", "--with-diff goes with --build");
}

namespace {

/// Adds to each final score of a verdict where a run with one more seed would lie, by the complete runs that
/// differ from this one in the seed alone.
void add_seed_intervals(Store& store, const RunRow& run, VerificationRow& verification) {
  if (!verification.details.contains("final_scores")) return;
  nlohmann::json& recorded = verification.details["final_scores"];
  auto scores = from_json_object<std::vector<RecordedScore>>(recorded);
  std::vector<RunRow> seeds;
  for (RunRow& other : store.list_runs())
    if (other.group == run.group && other.backend == run.backend && other.state == RunState::completed)
      seeds.push_back(std::move(other));
  const Metrics metrics = read_metrics(store.database(), seeds);
  for (RecordedScore& score : scores) {
    const Metric metric = metrics.of(score.metric);
    std::vector<double> values;
    for (const RunRow& other : seeds)
      if (const std::optional<double> value = result_measure(other, metric.name)) values.push_back(*value);
    score.seeds = values.size();
    const std::optional<Interval> interval = prediction_interval(metric, values);
    if (!interval) continue;
    score.low = interval->low;
    score.high = interval->high;
  }
  recorded = to_json_object(scores);
}

}  // namespace

VerificationEnd verify_runs(const VerifyRequest& request, const App& app, VerifyEvents& events, Store& store,
                            const std::vector<RunRow>& runs, const PlaceFiles& place) {
  // What is wrong with one of them is said before the first is trained.
  std::vector<VerificationTask> tasks;
  for (const RunRow& run : runs) tasks.push_back(task_of(request, app, store, run, place));
  std::vector<std::unique_ptr<Verifier>> verifiers;
  for (VerificationTask& task : tasks)
    verifiers.push_back(std::make_unique<Verifier>(store, std::move(task), app.stop));
  app.events.started();
  VerificationEnd end = VerificationEnd::equal;
  // From here on something has been started: what goes wrong now is no longer a matter of usage.
  try {
    for (std::size_t i = 0; i < verifiers.size(); ++i) {
      VerificationOutcome outcome = verifiers[i]->run(events.verifies(runs[i], *verifiers[i]));
      add_seed_intervals(store, runs[i], outcome.verification);
      events.judged(runs[i], outcome);
      if (outcome.interrupted) return VerificationEnd::interrupted;
      store.add_verification(runs[i].number, outcome.verification);
      if (outcome.verification.outcome != "equal") end = VerificationEnd::different;
    }
  } catch (const Error& error) {
    throw WorkError(error.what());
  }
  return end;
}

SearchVerdict verify_search(Store& store, const SearchRow& row) {
  const Snapshot snapshot(store.database());
  const SearchRecord record = read_search(store, row);
  const std::vector<RandomVariable> space = search::space_from_json(row.space);
  const search::SearchOptions options = search::options_from_json(row.settings);
  SearchVerdict verdict{.decisions = record.history.decisions.size(),
                        .observations = record.history.observations.size()};
  verdict.first_different = search::first_different(space, options, record.history);
  verdict.changed_observation = changed_observation(store, row, record);
  if (!verdict.first_different) return verdict;
  const Decision& made = record.history.decisions[*verdict.first_different];
  const Decision again =
      search::decide(space, options, made.limits, search::known_to(record.history, *verdict.first_different));
  verdict.stored = description_of(row, made);
  verdict.recomputed = description_of(row, again);
  verdict.seen = static_cast<std::size_t>(again.observations);
  return verdict;
}

}  // namespace encore
