// SPDX-License-Identifier: BSD-3-Clause
// `exp verify`: for each run, a Verifier (runner/verifier.hpp) checks the request, trains and compares; the
// verdict is then stored and reported. cli/verify_verb.cpp and cli/bundle_verify.cpp call verify_runs() and
// verify_search(). A verification must never write into the run itself. Read next: verify.hpp.
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

namespace encore::app {

namespace {

using plan::search::Decision;
using plan::search::DecisionKind;

void take_ranks(const RankRequest& request, const std::string& backend, runner::VerificationTask& task) {
  task.ranks = request.ranks;
  if (task.ranks == 1) return;
  require_rank_backend(task.ranks, backend);
  if (task.kill_at) throw UsageError("--kill-at kills one process; remove --ranks, or remove --kill-at");
  require_ranks_divide(task.ranks, task.specification);
  require_rank_programs(request, false, task.worker);
  const runner::PlacesWanted wanted{
      .threads = task.threads, .wishes = world::openmp_wishes(), .backend = backend, .ranks = task.ranks};
  task.threads = runner::make_places(world::usable_cores(), wanted).front().threads;
  task.rank_launcher = rank_launcher(request, task.threads);
}

runner::VerificationTask task_of(const VerifyRequest& request, const App& app, store::Store& store,
                                 const store::RunRow& run, const PlaceFiles& place) {
  runner::VerificationTask task;
  task.run = run;
  const std::filesystem::path folder = store.run_folder(task.run.id);
  if (task.run.state == store::RunState::pending)
    throw Error("run " + task.run.name + " was never trained, so there is nothing to verify");
  const runner::Programs programs = runner::installed_programs();
  const std::string backend = request.backend.value_or(task.run.backend);
  task.worker = runner::worker_program(programs, backend);
  task.specification = record::Specification::load(folder);
  runner::find_parent_files(store, task.run, task.specification);
  if (place) place(task.run, task.specification);
  task.specification.plugin_folders =
      run_plugin_folders(app, request.plugin_path, store, task.run, task.specification, backend);
  task.specification.backend = backend;
  task.threads = request.threads;
  task.steps = request.steps;
  task.from_checkpoint = request.from_checkpoint;
  task.kill_at = request.kill_at;
  const bool whole = !task.steps && !task.from_checkpoint;
  // A reviewer of a bundle needs its scores verified, not only its parameters.
  task.scores = request.scores || (place && whole && run.state == store::RunState::completed);
  task.everything = place && whole && task.scores;
  task.keep = request.keep;
  take_ranks(request.ranks, backend, task);
  return task;
}

/// Returns the existing runs whose mean is the observation `one`: those of the trial, or those of its
/// confirmation number `nth` (a confirmation trains the trial with fresh seeds). Returns none if the record
/// does not show them.
std::vector<std::int64_t> runs_behind(const store::SearchRecord& record, const plan::search::Observation& one,
                                      const plan::search::TrialState& state, std::size_t nth) {
  const store::TrialRow& trial = record.trials[one.trial];
  if (one.outcome == plan::search::Outcome::complete) return trial.runs;
  if (one.outcome != plan::search::Outcome::confirmed) return {};
  const auto seeds = static_cast<std::size_t>(state.confirmations.at(nth));
  if (trial.confirmations.size() < seeds) return {};
  return {trial.confirmations.begin(), trial.confirmations.begin() + static_cast<std::ptrdiff_t>(seeds)};
}

/// Returns whether two means differ by more than rounding, because their terms may have been added in another
/// order.
bool differ(double a, double b) {
  return std::fabs(a - b) > 1e-12 * std::max(std::fabs(a), std::fabs(b));
}

/// Returns a description of the first observation of a complete or confirmed trial that differs from its
/// runs' current values, or "".
std::string changed_observation(store::Store& store, const store::SearchRow& row,
                                const store::SearchRecord& record) {
  const plan::search::SearchOptions options = plan::search::options_from_json(row.settings);
  const std::vector<plan::search::TrialState> states = plan::search::trial_states(record.history);
  std::vector<std::size_t> confirmed(states.size(), 0);
  for (std::size_t i = 0; i < record.history.observations.size(); ++i) {
    const plan::search::Observation& one = record.history.observations[i];
    const bool confirms = one.outcome == plan::search::Outcome::confirmed;
    const std::vector<std::int64_t> runs =
        runs_behind(record, one, states[one.trial], confirms ? confirmed[one.trial]++ : 0);
    for (std::size_t j = 0; j < options.objectives.size() && !runs.empty(); ++j) {
      double sum = 0.0;
      bool known = true;
      for (const std::int64_t run : runs) {
        const auto value = store::judged_measure(store, store.read_run(run), options.objectives[j].metric);
        known = known && value.has_value();
        sum += value.value_or(0.0);
      }
      if (known && differ(sum / static_cast<double>(runs.size()), one.values[j]))
        return "observation " + std::to_string(i + 1) + ", of trial " + std::to_string(one.trial + 1) +
               ", has " + options.objectives[j].metric + " " + std::to_string(one.values[j]) +
               ", but its runs have " + std::to_string(sum / static_cast<double>(runs.size()));
    }
  }
  return "";
}

std::string description_of(const store::SearchRow& row, const Decision& decision) {
  std::string text = std::string(plan::search::name_of(decision.kind));
  if (decision.kind == DecisionKind::wait || decision.kind == DecisionKind::finish) return text;
  text += " trial " + std::to_string(decision.trial + 1) + " (" +
          length_text(plan::search::options_from_json(row.settings).unit, decision.epochs) + ")";
  if (decision.kind == DecisionKind::propose)
    text += "  " + plan::search::text_of(plan::search::space_from_json(row.space),
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
       "Trains a run again from its stored settings, vocabulary and data, in a separate folder, and compares "
       "the digests of parameters and optimizer state bit by bit. The run is not changed; the verdict is "
       "stored with it (exp show RUN). Exit code 0: equal; 3: the bits differ, in the same numeric "
       "environment (different) or in another one (not comparable). Several runs are trained one after the "
       "other. For a search, all decisions are made again from its observations; nothing is trained. BUNDLE "
       "is a file of exp bundle, NAME.tar.zst, followed by the runs to verify (default: all). It is unpacked "
       "into a temporary folder, its parts are compared, and missing files are listed before the training.",
       {{"exp verify quickstart", "train and compare every step"},
        {"exp verify quickstart --steps 10 --threads 2", "verify the first ten steps, with two threads"},
        {"exp verify quickstart --kill-at 3", "kill the worker after step 3, and resume from a checkpoint"},
        {"exp verify quickstart.tar.zst --data experiments",
         "verify a bundle from another person, with data in this folder"}}});
  form.option("steps", &R::steps, "N", "only the first N steps")
      .option("from-checkpoint", &R::from_checkpoint, "STEP",
              "start from the run's checkpoint of this step, if it exists")
      .option("kill-at", &R::kill_at, "STEP", "kill -9 the verifying worker after this step, and resume")
      .flag("scores", &R::scores,
            "train to the end, score dev and test as the run did, and compare every score (always done for a "
            "bundle)")
      .option("threads,t", &R::threads, "N", "threads of the worker; 0: all CPUs of this process")
      .option("backend", &R::backend, "NAME", "openmp, serial, cuda or hip (default: backend of the run)")
      .include(&R::ranks, rank_options())
      .option("plugin-path", &R::plugin_path, "DIR", run_plugin_help)
      .flag("keep", &R::keep, "keep the folder of the training")
      .option("data", &R::data, "DIR",
              "for a bundle: a folder with its data (may be repeated; default: this folder and the tree of "
              "this program)")
      .option("report", &R::report, "FILE",
              "for a bundle: write a report of the checked rows and the verdicts as HTML")
      .flag("build", &R::build,
            "for a bundle: build the recorded commit from a clone, and verify with this build")
      .option("clone", &R::clone, "DIR", "the clone for --build (default: the tree of this program)")
      .flag("with-diff", &R::with_diff,
            "with --build: apply the recorded changes to the commit, which are code from the bundle's author")
      .flag("json", &R::json, "print the verdict as JSON; a list for several runs")
      .flag("quiet,q", &R::quiet, "print only the verdict")
      .include(&R::selection, run_arguments())
      .exclude("scores", "steps", "--scores needs the whole training; remove --steps")
      .refuse([](const R& request) {
        world::require_threads(request.threads);
        return std::string();
      });
  for (const char* step : {"steps", "from-checkpoint", "kill-at"})
    form.least(step, 1, std::string("invalid --") + step + " {}: expected at least 1");
  form.refuse([form](const R& request) -> std::string {
    if (request.names_bundle()) return "";
    for (const char* option : {"data", "clone", "report", "build", "with-diff"})
      if (form.is_given(option, &request))
        return std::string("--") + option + " needs a bundle: exp verify NAME.tar.zst";
    return "";
  });
  return form.needs("clone", "build", "--clone needs --build")
      .needs("with-diff", "build", "--with-diff needs --build");
}

namespace {

/// Adds a prediction interval for a run with another seed to each final score of a verdict, from the complete
/// runs that differ from this one only in the seed.
void add_seed_intervals(store::Store& store, const store::RunRow& run, store::VerificationRow& verification) {
  if (!verification.details.contains("final_scores")) return;
  nlohmann::json& recorded = verification.details["final_scores"];
  auto scores = from_json_object<std::vector<runner::RecordedScore>>(recorded);
  std::vector<store::RunRow> seeds;
  for (store::RunRow& other : store.list_runs())
    if (other.group == run.group && other.backend == run.backend && other.state == store::RunState::completed)
      seeds.push_back(std::move(other));
  const store::Metrics metrics = store::read_metrics(store.database(), seeds);
  for (runner::RecordedScore& score : scores) {
    const Metric metric = metrics.of(score.metric);
    std::vector<double> values;
    for (const store::RunRow& other : seeds)
      if (const std::optional<double> value = store::result_measure(other, metric.name))
        values.push_back(*value);
    score.seeds = values.size();
    const std::optional<analysis::Interval> interval = analysis::prediction_interval(metric, values);
    if (!interval) continue;
    score.low = interval->low;
    score.high = interval->high;
  }
  recorded = to_json_object(scores);
}

}  // namespace

VerificationEnd verify_runs(const VerifyRequest& request, const App& app, VerifyEvents& events,
                            store::Store& store, const std::vector<store::RunRow>& runs,
                            const PlaceFiles& place) {
  // All runs are checked before the first is trained.
  std::vector<runner::VerificationTask> tasks;
  for (const store::RunRow& run : runs) tasks.push_back(task_of(request, app, store, run, place));
  std::vector<std::unique_ptr<runner::Verifier>> verifiers;
  for (runner::VerificationTask& task : tasks)
    verifiers.push_back(std::make_unique<runner::Verifier>(store, std::move(task), app.stop));
  app.events.started();
  VerificationEnd end = VerificationEnd::equal;
  // Work has started: errors from here on are WorkErrors, not UsageErrors.
  try {
    for (std::size_t i = 0; i < verifiers.size(); ++i) {
      runner::VerificationOutcome outcome = verifiers[i]->run(events.verifies(runs[i], *verifiers[i]));
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

SearchVerdict verify_search(store::Store& store, const store::SearchRow& row) {
  const store::Snapshot snapshot(store.database());
  const store::SearchRecord record = store::read_search(store, row);
  const std::vector<plan::RandomVariable> space = plan::search::space_from_json(row.space);
  const plan::search::SearchOptions options = plan::search::options_from_json(row.settings);
  SearchVerdict verdict{.decisions = record.history.decisions.size(),
                        .observations = record.history.observations.size()};
  verdict.first_different = plan::search::first_different(space, options, record.history);
  verdict.changed_observation = changed_observation(store, row, record);
  if (!verdict.first_different) return verdict;
  const Decision& made = record.history.decisions[*verdict.first_different];
  const Decision again = plan::search::decide(
      space, options, made.limits, plan::search::known_to(record.history, *verdict.first_different));
  verdict.stored = description_of(row, made);
  verdict.recomputed = description_of(row, again);
  verdict.seen = static_cast<std::size_t>(again.observations);
  return verdict;
}

}  // namespace encore::app
