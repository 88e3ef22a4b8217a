// See search_session.hpp.
#include "cli/search_session.hpp"

#include <algorithm>
#include <cmath>
#include <iostream>
#include <limits>

#include "cli/access.hpp"
#include "cli/plan_comparison.hpp"
#include "cli/run_summary.hpp"
#include "cli/search_rung.hpp"
#include "cli/search_text.hpp"
#include "cli/slurm_session.hpp"
#include "cli/stop_requests.hpp"
#include "runner/check.hpp"
#include "runner/code_state.hpp"
#include "store/run_score.hpp"
#include "world/cores.hpp"

namespace encore {

using search::Decision;
using search::DecisionKind;
using search::Observation;
using search::Outcome;

SearchSession::SearchSession(const CommandLine& line, Store& store, PlannedSearch& planned,
                             std::int64_t sweep)
    : line_(line),
      store_(store),
      planned_(planned),
      sweep_(sweep),
      lines_(stdout, terminal_of(stdout)),
      queue_(lines_, line.flag("quiet")) {}

int SearchSession::run(const std::vector<WorkerPlace>& places, const SessionFile& session) {
  CodeState code = read_code_state(std::filesystem::absolute(planned_.file.file).parent_path());
  const std::size_t left = work({std::move(code.commit), std::move(code.diff)}, places, session);
  lines_.hide();
  const bool finished = planned_.next().kind == DecisionKind::finish;
  print_search(std::cout, store_, planned_.row, planned_.record, terminal_of(stdout), false);
  std::cout.flush();
  if (!finished || left > 0 || unfinished_) {
    std::cerr << "exp: the search is not over; the same command goes on\n";
    return exit_interrupted;
  }
  const bool any_complete = std::ranges::any_of(
      planned_.record.history.observations,
      [](const Observation& observation) { return observation.outcome == Outcome::complete; });
  return any_complete ? exit_done : exit_failed;
}

/// Returns how many runs were not started.
std::size_t SearchSession::work(CodeVersion code, const std::vector<WorkerPlace>& places,
                                const SessionFile& session) {
  if (uses_slurm(line_)) {
    SlurmSettings settings = slurm_settings(line_, places.front(), session);
    settings.at_once = static_cast<std::size_t>(line_.integer("jobs"));
    settings.adopt = true;
    return SlurmRunner(store_, std::move(code), slurm_submitter(line_, store_), std::move(settings),
                       stop_requests(), *this)
        .run({});
  }
  say(places_text(places, why_unpinned(usable_cores(), openmp_wishes())));
  RunnerSettings settings{places, line_.integer("retries"), line_.flag("fail-fast")};
  settings.stop_wish = [&session] { return session.asked(); };
  return Runner(store_, std::move(code), std::move(settings), stop_requests(), *this).run({});
}

/// What is decided until something is to be trained, or nothing more can be said before a trial ends.
std::vector<RunTask> SearchSession::more() {
  if (!resumed_) {
    resumed_ = true;
    if (std::vector<RunTask> tasks = resumed(); !tasks.empty()) return tasks;
  }
  while (!asked_) {
    const Decision decision = planned_.next();
    std::vector<RunTask> tasks;
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

/// Trials that were decided about, and not observed, when an earlier session ended.
std::vector<RunTask> SearchSession::resumed() {
  std::vector<RunTask> tasks;
  const std::vector<search::TrialState> states = search::trial_states(planned_.record.history);
  for (std::size_t trial = 0; trial < states.size(); ++trial) {
    // The session may have ended between the decision and its mark.
    if (states[trial].rests() && states[trial].pruned) mark_as_pruned(trial);
    if (states[trial].active || states[trial].is_confirming())
      std::ranges::move(resumed(trial, states[trial]), std::back_inserter(tasks));
  }
  return tasks;
}

std::vector<RunTask> SearchSession::resumed(std::size_t trial, const search::TrialState& state) {
  std::int64_t epochs = 0;
  for (const Decision& decision : planned_.record.history.decisions)
    if (decision.trial == trial) epochs = decision.epochs;
  if (state.is_confirming())
    return train(trial, {.epochs = epochs, .confirms = true},
                 planned_runs(trial, state.confirmations.back()));
  const TrialRow& row = planned_.record.trials[trial];
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

std::vector<RunTask> SearchSession::propose(const Decision& decision) {
  search::TrialRuns made = planned_.plan->make(decision.point);
  const search::Trial trial{.point = decision.point, .active = made.active};
  TrialRow row{.problem = made.problem, .runs = {}, .excluded = made.excluded};
  PlannedRuns runs = runs_of(store_, planned_, std::move(made));
  if (row.problem.empty()) row.problem = worker_problem(runs);
  if (row.problem.empty()) {
    row.runs = added(runs);
    compare_with(store_, runs);
  }
  const std::string earlier = repeated_trial(row);
  record(decision, trial, row);
  if (!row.problem.empty()) {
    if (row.excluded)
      say(title(decision.trial) + " is " + row.problem + ": " + text_of(planned_.space(), trial));
    else
      noticed(title(decision.trial) + " cannot be trained: " + row.problem);
    observe({.trial = decision.trial, .epochs = decision.epochs, .outcome = Outcome::failed}, row.problem);
    return {};
  }
  if (!earlier.empty()) {
    say(title(decision.trial) + " " + earlier);
    observe({.trial = decision.trial, .epochs = decision.epochs, .outcome = Outcome::repeated}, earlier);
    return {};
  }
  say(title(decision.trial) + "  " + text_of(planned_.space(), trial));
  return train(decision.trial, {.epochs = decision.epochs}, std::move(runs));
}

/// Puts the runs into the database; their numbers.
std::vector<std::int64_t> SearchSession::added(PlannedRuns& runs) {
  std::vector<Store::RunToAdd> wanted;
  for (PlannedRun& run : runs.runs)
    wanted.push_back({&run.specification, {sweep_, runs.plan.note, runs.plan.tags}});
  std::vector<std::int64_t> numbers;
  for (const AddedRun& one : store_.add_runs(wanted)) numbers.push_back(one.run.number);
  return numbers;
}

std::vector<RunTask> SearchSession::promote(const Decision& decision) {
  record(decision);
  say(title(decision.trial) + " is promoted to " + length(decision.epochs));
  return train(decision.trial, {.epochs = decision.epochs}, planned_runs(decision.trial));
}

std::vector<RunTask> SearchSession::confirm(const Decision& decision) {
  PlannedRuns runs = runs_of(store_, planned_, replanned(decision.trial, decision.limits.confirm_seeds));
  record(decision, {}, {.problem = {}, .runs = {}, .confirmations = added(runs)});
  say(title(decision.trial) + " is trained again with " + std::to_string(decision.limits.confirm_seeds) +
      " fresh seeds");
  return train(decision.trial, {.epochs = decision.epochs, .confirms = true},
               planned_runs(decision.trial, decision.limits.confirm_seeds));
}

void SearchSession::prune(const Decision& decision) {
  record(decision);
  mark_as_pruned(decision.trial);
  say(title(decision.trial) + " is pruned after " + length(decision.epochs));
}

void SearchSession::mark_as_pruned(std::size_t trial) {
  const auto last = std::ranges::find_if(planned_.record.history.observations.rbegin(),
                                         planned_.record.history.observations.rend(),
                                         [&](const Observation& one) { return one.trial == trial; });
  for (const std::int64_t run : planned_.record.trials[trial].runs)
    store_.set_pruned(run, "pruned by search " + planned_.row.name + " after " + length(last->epochs));
}

/// A trial that was begun, with its own seeds or with fresh ones.
search::TrialRuns SearchSession::replanned(std::size_t trial, std::int64_t fresh_seeds) {
  const search::Point& point = planned_.record.history.trials[trial].point;
  search::TrialRuns runs =
      fresh_seeds > 0 ? planned_.plan->make_fresh(point, fresh_seeds) : planned_.plan->make(point);
  if (!runs.problem.empty())
    throw Error("trial " + std::to_string(trial + 1) + " of search " + planned_.row.name +
                " was begun, but can no longer be planned: " + runs.problem);
  return runs;
}

PlannedRuns SearchSession::planned_runs(std::size_t trial, std::int64_t fresh_seeds) {
  PlannedRuns runs = runs_of(store_, planned_, replanned(trial, fresh_seeds));
  for (const PlannedRun& run : runs.runs)
    if (!run.before)
      throw Error(
          "trial " + std::to_string(trial + 1) + " of search " + planned_.row.name +
          " cannot go on: its run " + run.specification.name +
          " was removed; exp undelete brings it back, another seed in [search] begins another search");
  if (!line_.flag("accept-plugin-change")) require_same_plugins(runs);
  return runs;
}

/// Tasks for those of its runs that are not over. Where all are, the trial is observed at once.
std::vector<RunTask> SearchSession::train(std::size_t trial, Work wanted, PlannedRuns runs) {
  Work& work = work_[trial] = std::move(wanted);
  std::vector<RunTask> tasks;
  for (PlannedRun& planned : runs.runs) {
    if (planned.action == Action::skip) continue;
    const RunRow& row = *planned.before;
    RunTask& task = tasks.emplace_back();
    task.specification = std::move(planned.specification);
    task.specification.run = row.id;
    task.specification.name = row.name;
    task.run = row.number;
    task.seen_attempts = row.attempts;
    task.worker = runs.worker;
    task.step_timeout = std::chrono::seconds(line_.integer("step-timeout"));
    const search::SearchOptions& options = planned_.plan->search().options;
    if (work.epochs < options.epochs)
      (options.unit == search::LengthUnit::steps ? task.pause_after_step : task.stop_after_epoch) =
          work.epochs;
    if (planned.goes_on())
      for (const PluginChange& change : planned.changed_plugins)
        task.plugin_change["plugins"].push_back(change.json());
    tasks_.push_back({.trial = trial, .run = row.number, .name = row.name});
  }
  work.open = tasks.size();
  if (tasks.empty()) conclude(trial);
  return tasks;
}

/// What the worker finds wrong with the runs, which no schema can say; empty where that is nothing.
std::string SearchSession::worker_problem(const PlannedRuns& runs) const {
  std::vector<const Specification*> specifications;
  for (const PlannedRun& run : runs.runs)
    if (run.to_do()) specifications.push_back(&run.specification);
  const std::vector<Problem> problems = check_with_worker(runs.worker, specifications);
  return problems.empty() ? "" : problems.front().text();
}

/// "asks what trial 3 asks", of a trial whose runs an earlier one has.
std::string SearchSession::repeated_trial(const TrialRow& row) const {
  for (std::size_t earlier = 0; earlier < planned_.record.trials.size(); ++earlier) {
    const TrialRow& other = planned_.record.trials[earlier];
    if (&other == &row) return "";
    for (const std::int64_t run : row.runs)
      if (std::ranges::find(other.runs, run) != other.runs.end())
        return "asks what trial " + std::to_string(earlier + 1) + " asks";
  }
  return "";
}

void SearchSession::record(const Decision& decision, const search::Trial& trial, const TrialRow& row) {
  add_decision(store_, planned_.row.number, planned_.record, decision, trial, row);
  if (decision.kind == DecisionKind::propose) {
    planned_.record.history.trials.push_back(trial);
    planned_.record.trials.push_back(row);
  }
  if (decision.kind == DecisionKind::confirm)
    planned_.record.trials[decision.trial].confirmations = row.confirmations;
  planned_.record.history.decisions.push_back(decision);
}

void SearchSession::observe(Observation observation, const std::string& reason) {
  add_observation(store_, planned_.row.number, planned_.record, observation, reason);
  planned_.record.history.observations.push_back(std::move(observation));
  planned_.record.notes.push_back({reason, 0.0});
  asked_ = false;
}

RunObserver& SearchSession::begun(std::size_t task, int retry) {
  const std::string& select = planned_.plan->select();
  auto& display = tasks_[task].display = std::make_unique<RunDisplay>(
      tasks_[task].name, lines_, static_cast<int>(task), line_.flag("quiet"), selected_metric(select));
  if (retry > 0) display->say(tasks_[task].name + " is tried again");
  return *display;
}

void SearchSession::ended(std::size_t task, const RunOutcome& outcome, bool again) {
  const std::size_t trial = tasks_[task].trial;
  tasks_[task].display.reset();
  lines_.hide();
  if (again) {
    noticed(tasks_[task].name + " was cut off at step " + std::to_string(outcome.step) + ": " +
            outcome.reason + "; trying again");
    return;
  }
  Work& work = work_[trial];
  const RunRow run = store_.read_run(tasks_[task].run);
  const bool over = outcome.recorded && (outcome.paused || outcome.state == RunState::completed ||
                                         outcome.state == RunState::failed);
  if (outcome.paused) work.paused[run.number] = outcome.step;
  if (!outcome.began && !over) {
    if (!line_.flag("quiet")) print_left_alone(std::cout, tasks_[task].name, outcome);
  } else if (outcome.state == RunState::completed) {
    if (!line_.flag("quiet")) print_completed(std::cout, line_, store_, run, outcome, {}, false);
  } else if (!outcome.paused) {
    print_not_completed(std::cerr, line_, store_, run, outcome);
  }
  work.unfinished |= !over;
  if (--work.open == 0) conclude(trial);
}

/// All its runs have ended: what is known of the trial now.
void SearchSession::conclude(std::size_t trial) {
  const Work work = work_[trial];
  work_.erase(trial);
  if (work.unfinished) {
    unfinished_ = true;
    return;
  }
  const TrialRow& row = planned_.record.trials[trial];
  const std::vector<std::int64_t>& runs = work.confirms ? row.confirmations : row.runs;
  Observation observation{.trial = trial,
                          .epochs = work.epochs,
                          .outcome = work.confirms ? Outcome::confirmed : Outcome::complete};
  std::string reason;
  for (const std::int64_t number : runs) {
    const RunRow run = store_.read_run(number);
    if (run.state == RunState::failed) {
      // A confirmation with a failed seed has no mean, and says so: its value is not a number.
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

/// Whether the run has ended by itself where the trial is judged. One that existed before may have been
/// trained further.
bool SearchSession::is_over(const RunRow& run, const Work& work) {
  return ends_by(store_, run, planned_.plan->search().options, planned_.plan->select(), work.epochs);
}

/// The step after which the run is judged.
std::int64_t SearchSession::step_of(const RunRow& run, const Work& work) {
  const std::int64_t rung =
      rung_step(store_, run, planned_.plan->search().options, planned_.plan->select(), work.epochs);
  const auto paused = work.paused.find(run.number);
  return paused != work.paused.end() ? std::min(paused->second, rung) : rung;
}

/// By objective, the mean over the seeds.
std::vector<double> SearchSession::values_of(const std::vector<std::int64_t>& runs, const Work& work) {
  const std::string& select = planned_.plan->select();
  std::vector<double> values;
  for (const search::Objective& objective : planned_.plan->search().options.objectives) {
    double sum = 0.0;
    for (const std::int64_t number : runs) {
      const RunRow run = store_.read_run(number);
      sum += work.confirms || is_over(run, work)
                 ? judged_measure(store_, run, objective.metric)
                       .value_or(std::numeric_limits<double>::quiet_NaN())
                 : value_at(store_, number, select, objective.metric, step_of(run, work));
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
  const TrialRow& row = planned_.record.trials[trial];
  return std::max(seconds_of(store_, confirms ? row.confirmations : row.runs) - before, 0.0);
}

void SearchSession::noticed(const std::string& text) {
  lines_.hide();
  std::cerr << "exp: " << text << '\n';
}

void SearchSession::say(const std::string& text) {
  if (line_.flag("quiet")) return;
  lines_.hide();
  std::cout << text << std::endl;
}

std::string SearchSession::length(std::int64_t epochs) const {
  return length_text(planned_.plan->search().options.unit, epochs);
}

std::string SearchSession::title(std::size_t trial) const {
  return "trial " + std::to_string(trial + 1) + "/" + std::to_string(planned_.plan->search().limits.trials);
}

}  // namespace encore
