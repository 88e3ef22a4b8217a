// SPDX-License-Identifier: BSD-3-Clause
// run_search() is one session of a search; cli/run_verb.cpp calls it. It plans the search, asks for decisions
// (plan/search/decide.hpp), trains their runs, and stores decisions and observations until the search is over
// or the user stops it. A decision is stored before its runs start, and an observation after they have ended;
// `exp verify` makes all decisions again from this record, so the order must not change. Read next:
// search_session.hpp.
#include "app/search_session.hpp"

#include <fcntl.h>
#include <sys/file.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "app/planned_runs.hpp"
#include "app/run_session.hpp"
#include "record/run_paths.hpp"
#include "runner/check.hpp"
#include "runner/code_state.hpp"
#include "runner/launched_runs.hpp"
#include "store/run_score.hpp"
#include "world/file_descriptor.hpp"

namespace encore::app {

using plan::search::Decision;
using plan::search::DecisionKind;
using plan::search::Observation;
using plan::search::Outcome;

namespace {

/// Locks a search, because two processes would make conflicting decisions. The kernel releases the lock when
/// the process ends.
world::FileDescriptor lock_search(const store::Store& store, const store::SearchRow& row) {
  const std::filesystem::path path = store.runs_folder() / ("search-" + std::to_string(row.number) + ".lock");
  std::filesystem::create_directories(store.runs_folder());
  world::FileDescriptor file = world::open_file(path, O_RDWR | O_CREAT);
  if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0)
    throw Error("another exp run works on search " + row.name + "; this one does nothing");
  return file;
}

class SearchSession final : public runner::RunnerObserver {
 public:
  SearchSession(const SessionRequest& request, bool accept_plugin_change, const App& app,
                SessionEvents& events, store::Store& store, PlannedSearch& planned, std::int64_t sweep)
      : request_(request),
        accept_plugin_change_(accept_plugin_change),
        app_(app),
        events_(events),
        store_(store),
        planned_(planned),
        sweep_(sweep) {}

  /// Returns whether a trial is left to resume later.
  bool run(const std::vector<runner::WorkerPlace>& places, const runner::SessionFile& session);

  std::vector<runner::RunTask> more() override;
  runner::RunObserver& begun(std::size_t task, int retry) override;
  void ended(std::size_t task, const runner::RunOutcome& outcome, bool again) override;
  void noticed(const std::string& text) override { events_.noticed(text); }
  void glanced() override { events_.glanced(); }
  void queued(const std::string& text, const record::Progressed* progress) override {
    events_.queued(text, progress);
  }

 private:
  /// A run that was passed to the runner.
  struct Task {
    std::size_t trial = 0;
    std::int64_t run = 0;
    std::string name, id;
  };
  /// A trial in training, with the ends of its runs so far.
  struct Work {
    std::int64_t epochs = 0;
    bool confirms = false;                             // it trains the trial with fresh seeds
    std::size_t open = 0;                              // runs that have not ended
    bool unfinished = false;                           // one was interrupted: the trial resumes later
    std::map<std::int64_t, std::int64_t> paused = {};  // run -> step, at its rung
  };

  std::size_t work(store::CodeVersion code, const std::vector<runner::WorkerPlace>& places,
                   const runner::SessionFile& session);
  std::vector<runner::RunTask> resumed();
  std::vector<runner::RunTask> resumed(std::size_t trial, const plan::search::TrialState& state);
  std::vector<runner::RunTask> propose(const plan::search::Decision& decision);
  std::vector<runner::RunTask> promote(const plan::search::Decision& decision);
  void prune(const plan::search::Decision& decision);
  std::vector<runner::RunTask> confirm(const plan::search::Decision& decision);
  void mark_as_pruned(std::size_t trial);
  std::vector<runner::RunTask> train(std::size_t trial, Work work, PlannedRuns runs);
  plan::search::TrialRuns replanned(std::size_t trial, std::int64_t fresh_seeds);
  PlannedRuns planned_runs(std::size_t trial, std::int64_t fresh_seeds = 0);
  std::vector<std::int64_t> added(PlannedRuns& runs);
  std::string worker_problem(const PlannedRuns& runs) const;
  std::string repeated_trial(const store::TrialRow& row) const;
  void record(const plan::search::Decision& decision, const plan::search::Trial& trial = {},
              const store::TrialRow& row = {});
  void observe(plan::search::Observation observation, const std::string& reason = "");
  void conclude(std::size_t trial);
  bool is_over(const store::RunRow& run, const Work& work);
  std::int64_t step_of(const store::RunRow& run, const Work& work);
  std::vector<double> values_of(const std::vector<std::int64_t>& runs, const Work& work);
  double seconds_since_last(std::size_t trial, bool confirms);
  void report(TrialNews::Kind kind, std::size_t trial, const std::string& detail = {},
              std::int64_t epochs = 0);
  std::string length(std::int64_t epochs) const;

  const SessionRequest& request_;
  const bool accept_plugin_change_;
  const App& app_;
  SessionEvents& events_;
  store::Store& store_;
  PlannedSearch& planned_;
  const std::int64_t sweep_;
  std::vector<Task> tasks_;
  std::map<std::size_t, Work> work_;  // by trial
  bool resumed_ = false;
  bool asked_ = false;       // no decision is due before the next observation
  bool unfinished_ = false;  // a trial resumes later
};

bool SearchSession::run(const std::vector<runner::WorkerPlace>& places, const runner::SessionFile& session) {
  runner::CodeState code =
      runner::read_code_state(std::filesystem::absolute(planned_.file.file).parent_path());
  const std::size_t left = work({std::move(code.commit), std::move(code.diff)}, places, session);
  return left > 0 || unfinished_;
}

/// Returns how many runs were not started.
std::size_t SearchSession::work(store::CodeVersion code, const std::vector<runner::WorkerPlace>& places,
                                const runner::SessionFile& session) {
  if (request_.uses_slurm()) {
    runner::SlurmSettings settings = slurm_settings(request_, places.front(), session);
    settings.at_once = static_cast<std::size_t>(request_.jobs.value_or(1));
    settings.adopt = true;
    return runner::SlurmRunner(store_, std::move(code), slurm_submitter(request_, store_),
                               std::move(settings), app_.stop, *this)
        .run({});
  }
  events_.placed(places);
  runner::RunnerSettings settings{places, request_.retries, request_.fail_fast};
  settings.stop_wish = [&session] { return session.asked(); };
  return runner::Runner(store_, std::move(code), std::move(settings), app_.stop, *this).run({});
}

/// Makes decisions until there is a run to train, or until no decision is possible before a trial ends.
/// Returns the runs.
std::vector<runner::RunTask> SearchSession::more() {
  if (!resumed_) {
    resumed_ = true;
    if (std::vector<runner::RunTask> tasks = resumed(); !tasks.empty()) return tasks;
  }
  while (!asked_) {
    const Decision decision = planned_.next();
    std::vector<runner::RunTask> tasks;
    switch (decision.kind) {
      case DecisionKind::propose:
        tasks = propose(decision);
        break;
      case DecisionKind::promote:
        tasks = promote(decision);
        break;
      case DecisionKind::prune:
        prune(decision);
        break;
      case DecisionKind::confirm:
        tasks = confirm(decision);
        break;
      case DecisionKind::wait:
      case DecisionKind::finish:
        asked_ = true;
        break;
    }
    if (!tasks.empty()) return tasks;
  }
  return {};
}

/// Resumes trials that an earlier session decided but did not observe.
std::vector<runner::RunTask> SearchSession::resumed() {
  std::vector<runner::RunTask> tasks;
  const std::vector<plan::search::TrialState> states = plan::search::trial_states(planned_.record.history);
  for (std::size_t trial = 0; trial < states.size(); ++trial) {
    // The session may have ended between the decision and its record.
    if (states[trial].rests() && states[trial].pruned) mark_as_pruned(trial);
    if (states[trial].active || states[trial].is_confirming())
      std::ranges::move(resumed(trial, states[trial]), std::back_inserter(tasks));
  }
  return tasks;
}

std::vector<runner::RunTask> SearchSession::resumed(std::size_t trial,
                                                    const plan::search::TrialState& state) {
  std::int64_t epochs = 0;
  for (const Decision& decision : planned_.record.history.decisions)
    if (decision.trial == trial) epochs = decision.epochs;
  if (state.is_confirming())
    return train(trial, {.epochs = epochs, .confirms = true},
                 planned_runs(trial, state.confirmations.back()));
  const store::TrialRow& row = planned_.record.trials[trial];
  if (!row.problem.empty()) {
    observe({.trial = trial, .epochs = epochs, .outcome = Outcome::failed}, row.problem);
    return {};
  }
  if (const std::string earlier = repeated_trial(row); !earlier.empty()) {
    observe({.trial = trial, .epochs = epochs, .outcome = Outcome::repeated}, earlier);
    return {};
  }
  return train(trial, {.epochs = epochs}, planned_runs(trial));
}

std::vector<runner::RunTask> SearchSession::propose(const Decision& decision) {
  plan::search::TrialRuns made = planned_.plan->make(decision.point);
  const plan::search::Trial trial{.point = decision.point, .active = made.active};
  store::TrialRow row{.problem = made.problem, .runs = {}, .excluded = made.excluded};
  PlannedRuns runs = runs_of(store_, planned_, std::move(made), app_);
  if (row.problem.empty()) row.problem = worker_problem(runs);
  if (row.problem.empty()) {
    row.runs = added(runs);
    compare_with(store_, runs, app_);
  }
  const std::string earlier = repeated_trial(row);
  record(decision, trial, row);
  if (!row.problem.empty()) {
    if (row.excluded)
      report(TrialNews::Kind::excluded, decision.trial,
             row.problem + ": " + text_of(planned_.space(), trial));
    else
      report(TrialNews::Kind::not_trainable, decision.trial, row.problem);
    observe({.trial = decision.trial, .epochs = decision.epochs, .outcome = Outcome::failed}, row.problem);
    return {};
  }
  if (!earlier.empty()) {
    report(TrialNews::Kind::repeated, decision.trial, earlier);
    observe({.trial = decision.trial, .epochs = decision.epochs, .outcome = Outcome::repeated}, earlier);
    return {};
  }
  report(TrialNews::Kind::proposed, decision.trial, text_of(planned_.space(), trial));
  return train(decision.trial, {.epochs = decision.epochs}, std::move(runs));
}

/// Adds the runs to the database and returns their numbers.
std::vector<std::int64_t> SearchSession::added(PlannedRuns& runs) {
  std::vector<store::Store::RunToAdd> wanted;
  for (PlannedRun& run : runs.runs)
    wanted.push_back({&run.specification, {sweep_, runs.plan.note, runs.plan.tags}});
  std::vector<std::int64_t> numbers;
  for (const store::AddedRun& one : store_.add_runs(wanted)) numbers.push_back(one.run.number);
  return numbers;
}

std::vector<runner::RunTask> SearchSession::promote(const Decision& decision) {
  record(decision);
  report(TrialNews::Kind::promoted, decision.trial, {}, decision.epochs);
  return train(decision.trial, {.epochs = decision.epochs}, planned_runs(decision.trial));
}

std::vector<runner::RunTask> SearchSession::confirm(const Decision& decision) {
  PlannedRuns runs =
      runs_of(store_, planned_, replanned(decision.trial, decision.limits.confirm_seeds), app_);
  record(decision, {}, {.problem = {}, .runs = {}, .confirmations = added(runs)});
  events_.decided({.kind = TrialNews::Kind::confirmed,
                   .trial = decision.trial,
                   .trials = static_cast<std::size_t>(planned_.plan->search().limits.trials),
                   .seeds = decision.limits.confirm_seeds});
  return train(decision.trial, {.epochs = decision.epochs, .confirms = true},
               planned_runs(decision.trial, decision.limits.confirm_seeds));
}

void SearchSession::prune(const Decision& decision) {
  record(decision);
  mark_as_pruned(decision.trial);
  report(TrialNews::Kind::pruned, decision.trial, {}, decision.epochs);
}

void SearchSession::mark_as_pruned(std::size_t trial) {
  const auto last = std::ranges::find_if(planned_.record.history.observations.rbegin(),
                                         planned_.record.history.observations.rend(),
                                         [&](const Observation& one) { return one.trial == trial; });
  for (const std::int64_t run : planned_.record.trials[trial].runs)
    store_.set_pruned(run, "pruned by search " + planned_.row.name + " after " + length(last->epochs));
}

/// Plans a started trial again, with its own seeds or with fresh ones.
plan::search::TrialRuns SearchSession::replanned(std::size_t trial, std::int64_t fresh_seeds) {
  const plan::search::Point& point = planned_.record.history.trials[trial].point;
  plan::search::TrialRuns runs =
      fresh_seeds > 0 ? planned_.plan->make_fresh(point, fresh_seeds) : planned_.plan->make(point);
  if (!runs.problem.empty())
    throw Error("trial " + std::to_string(trial + 1) + " of search " + planned_.row.name +
                " has started, but can no longer be planned: " + runs.problem);
  return runs;
}

PlannedRuns SearchSession::planned_runs(std::size_t trial, std::int64_t fresh_seeds) {
  PlannedRuns runs = runs_of(store_, planned_, replanned(trial, fresh_seeds), app_);
  for (const PlannedRun& run : runs.runs)
    if (!run.before)
      throw Error(
          "trial " + std::to_string(trial + 1) + " of search " + planned_.row.name +
          " cannot continue: its run " + run.specification.name +
          " was removed; run exp undelete to restore it, or set another seed in [search] for a new search");
  if (!accept_plugin_change_) require_same_plugins(runs);
  return runs;
}

/// Returns the tasks of its unfinished runs. If all have ended, the trial is observed at once.
std::vector<runner::RunTask> SearchSession::train(std::size_t trial, Work wanted, PlannedRuns runs) {
  Work& work = work_[trial] = std::move(wanted);
  std::vector<runner::RunTask> tasks;
  for (PlannedRun& planned : runs.runs) {
    if (planned.action == Action::skip) continue;
    const store::RunRow& row = *planned.before;
    runner::RunTask& task = tasks.emplace_back();
    task.specification = std::move(planned.specification);
    task.specification.run = row.id;
    task.specification.name = row.name;
    task.run = row.number;
    task.seen_attempts = row.attempts;
    task.worker = runs.worker;
    task.step_timeout = std::chrono::seconds(request_.step_timeout);
    const plan::search::SearchOptions& options = planned_.plan->search().options;
    if (work.epochs < options.epochs)
      (options.unit == plan::search::LengthUnit::steps ? task.pause_after_step : task.stop_after_epoch) =
          work.epochs;
    if (planned.goes_on())
      for (const PluginChange& change : planned.changed_plugins)
        task.plugin_change["plugins"].push_back(change.json());
    tasks_.push_back({.trial = trial, .run = row.number, .name = row.name, .id = row.id});
  }
  work.open = tasks.size();
  if (tasks.empty()) conclude(trial);
  return tasks;
}

/// Returns the worker's error about the runs, which no schema can detect, or "".
std::string SearchSession::worker_problem(const PlannedRuns& runs) const {
  std::vector<const record::Specification*> specifications;
  for (const PlannedRun& run : runs.runs)
    if (run.to_do()) specifications.push_back(&run.specification);
  const std::vector<config::Problem> problems = runner::check_with_worker(runs.worker, specifications);
  return problems.empty() ? "" : problems.front().text();
}

/// Returns "has the same runs as trial 3" for a trial with runs of an earlier trial, or "".
std::string SearchSession::repeated_trial(const store::TrialRow& row) const {
  for (std::size_t earlier = 0; earlier < planned_.record.trials.size(); ++earlier) {
    const store::TrialRow& other = planned_.record.trials[earlier];
    if (&other == &row) return "";
    for (const std::int64_t run : row.runs)
      if (std::ranges::find(other.runs, run) != other.runs.end())
        return "has the same runs as trial " + std::to_string(earlier + 1);
  }
  return "";
}

void SearchSession::record(const Decision& decision, const plan::search::Trial& trial,
                           const store::TrialRow& row) {
  store::add_decision(store_, planned_.row.number, planned_.record, decision, trial, row);
  if (decision.kind == DecisionKind::propose) {
    planned_.record.history.trials.push_back(trial);
    planned_.record.trials.push_back(row);
  }
  if (decision.kind == DecisionKind::confirm)
    planned_.record.trials[decision.trial].confirmations = row.confirmations;
  planned_.record.history.decisions.push_back(decision);
}

void SearchSession::observe(Observation observation, const std::string& reason) {
  store::add_observation(store_, planned_.row.number, planned_.record, observation, reason);
  planned_.record.history.observations.push_back(std::move(observation));
  planned_.record.notes.push_back({reason, 0.0});
  asked_ = false;
}

runner::RunObserver& SearchSession::begun(std::size_t task, int retry) {
  return events_.begun({.task = task,
                        .name = tasks_[task].name,
                        .id = tasks_[task].id,
                        .select = planned_.plan->select(),
                        .retry = retry});
}

void SearchSession::ended(std::size_t task, const runner::RunOutcome& outcome, bool again) {
  const std::size_t trial = tasks_[task].trial;
  const store::RunRow run = store_.read_run(tasks_[task].run);
  events_.ended({.task = task, .name = tasks_[task].name, .outcome = outcome, .again = again, .run = run});
  if (again) return;
  Work& work = work_[trial];
  const bool over = outcome.recorded && (outcome.paused || outcome.state == store::RunState::completed ||
                                         outcome.state == store::RunState::failed);
  if (outcome.paused) work.paused[run.number] = outcome.step;
  work.unfinished |= !over;
  if (--work.open == 0) conclude(trial);
}

/// Records the observation of a trial after all its runs have ended.
void SearchSession::conclude(std::size_t trial) {
  const Work work = work_[trial];
  work_.erase(trial);
  if (work.unfinished) {
    unfinished_ = true;
    return;
  }
  const store::TrialRow& row = planned_.record.trials[trial];
  const std::vector<std::int64_t>& runs = work.confirms ? row.confirmations : row.runs;
  Observation observation{.trial = trial,
                          .epochs = work.epochs,
                          .outcome = work.confirms ? Outcome::confirmed : Outcome::complete};
  std::string reason;
  for (const std::int64_t number : runs) {
    const store::RunRow run = store_.read_run(number);
    if (run.state == store::RunState::failed) {
      // A confirmation with a failed seed has no mean: its value is not a number.
      if (!work.confirms) observation.outcome = Outcome::failed;
      reason = run.name + ": " + run.reason;
    } else if (observation.outcome == Outcome::complete && !is_over(run, work)) {
      observation.outcome = Outcome::measured;
    }
  }
  observation.seconds = seconds_since_last(trial, work.confirms);
  if (observation.outcome != Outcome::failed) observation.values = values_of(runs, work);
  observe(std::move(observation), reason);
}

/// Returns whether the run ended exactly at the rung. An older run may have trained longer.
bool SearchSession::is_over(const store::RunRow& run, const Work& work) {
  return ends_by(store_, run, planned_.plan->search().options, planned_.plan->select(), work.epochs);
}

/// Returns the step after which the run is judged.
std::int64_t SearchSession::step_of(const store::RunRow& run, const Work& work) {
  const std::int64_t rung =
      rung_step(store_, run, planned_.plan->search().options, planned_.plan->select(), work.epochs);
  const auto paused = work.paused.find(run.number);
  return paused != work.paused.end() ? std::min(paused->second, rung) : rung;
}

/// Returns the mean over the seeds for each objective.
std::vector<double> SearchSession::values_of(const std::vector<std::int64_t>& runs, const Work& work) {
  const std::string& select = planned_.plan->select();
  std::vector<double> values;
  for (const plan::search::Objective& objective : planned_.plan->search().options.objectives) {
    double sum = 0.0;
    for (const std::int64_t number : runs) {
      const store::RunRow run = store_.read_run(number);
      sum += work.confirms || is_over(run, work)
                 ? store::judged_measure(store_, run, objective.metric)
                       .value_or(std::numeric_limits<double>::quiet_NaN())
                 : store::value_at(store_, number, select, objective.metric, step_of(run, work));
    }
    values.push_back(sum / static_cast<double>(runs.size()));
  }
  return values;
}

double SearchSession::seconds_since_last(std::size_t trial, bool confirms) {
  double before = 0.0;
  for (const Observation& observation : planned_.record.history.observations)
    if (observation.trial == trial && confirms == (observation.outcome == Outcome::confirmed))
      before += observation.seconds;
  const store::TrialRow& row = planned_.record.trials[trial];
  return std::max(store::seconds_of(store_, confirms ? row.confirmations : row.runs) - before, 0.0);
}

void SearchSession::report(TrialNews::Kind kind, std::size_t trial, const std::string& detail,
                           std::int64_t epochs) {
  events_.decided({.kind = kind,
                   .trial = trial,
                   .trials = static_cast<std::size_t>(planned_.plan->search().limits.trials),
                   .detail = detail,
                   .length = epochs > 0 ? length(epochs) : ""});
}

std::string SearchSession::length(std::int64_t epochs) const {
  return length_text(planned_.plan->search().options.unit, epochs);
}

}  // namespace

SearchResult run_search(const PlanRequest& plan, const SessionRequest& request, bool accept_plugin_change,
                        const App& app, SessionEvents& events) {
  if (request.detach)
    throw UsageError(
        "--detach cannot be used in a search, which decides by ended runs: keep exp run in tmux, for "
        "example; after a stop or kill, the same command resumes");
  if (request.ranks.ranks > 1)
    throw UsageError("--ranks cannot be used with [search]: use -j to train several trials at once");
  runner::SessionFile session(record::runs_folder_of(app.database), "exp run " + plan.file);
  SearchResult result{.planned = read_search_plan(plan, app)};
  PlannedSearch& planned = *result.planned;
  notice_unused_tables(app, planned.file.sources);
  session.works_on(planned.plan->header().name);
  const std::vector<runner::WorkerPlace> places =
      session_places(request, planned.file.backend, static_cast<std::size_t>(request.jobs.value_or(1)));
  store::Store store(app.database, store::OpenMode::create);
  store.settle();
  runner::settle_launched(store);
  compare_with(store, planned);
  const std::int64_t sweep = add_sweep(store, planned.file);
  if (planned.row.number == 0) {
    planned.row.sweep = sweep;
    store::add_search(store, planned.row);
  }
  const world::FileDescriptor lock = lock_search(store, planned.row);
  compare_with(store, planned);  // another process may have trained it before it released the lock
  result.was_over = result.is_over = planned.next().kind == DecisionKind::finish;
  if (result.was_over) return result;
  app.events.started();
  events.opened(store);
  // Work has started: errors from here on are WorkErrors, not UsageErrors.
  try {
    const bool unfinished =
        SearchSession(request, accept_plugin_change, app, events, store, planned, sweep).run(places, session);
    result.is_over = !unfinished && planned.next().kind == DecisionKind::finish;
  } catch (const Error& error) {
    throw WorkError(error.what());
  }
  result.any_complete = std::ranges::any_of(
      planned.record.history.observations,
      [](const Observation& observation) { return observation.outcome == Outcome::complete; });
  return result;
}

}  // namespace encore::app
