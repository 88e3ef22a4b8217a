// SPDX-License-Identifier: BSD-3-Clause
// SlurmRunner: the loop of `exp run --launcher slurm`: takes leases, packs and submits jobs, and learns what
// has ended. app/run_session.cpp and app/search_session.cpp call it. It may be killed at any time: files and
// the database hold everything that another process needs to continue. Read slurm_runner.hpp first.
#include "runner/slurm/slurm_runner.hpp"

#include <poll.h>

#include <algorithm>
#include <chrono>
#include <limits>

#include "runner/attempt_end.hpp"
#include "runner/launched_runs.hpp"
#include "runner/parent_weights.hpp"

namespace encore::runner {

namespace {

/// The time between two checks of the jobs' files.
constexpr auto look_interval = std::chrono::milliseconds(1000);

/// Returns whether the run of a search waits at one of its rungs.
bool is_paused(const store::RunRow& run, const std::optional<record::Ended>& last_word) {
  return run.state == store::RunState::interrupted && last_word && last_word->epochs;
}

}  // namespace

std::size_t SlurmRunner::run(std::vector<RunTask> tasks) {
  add(std::move(tasks));
  for (;;) {
    pass_on_requests();
    ask_for_more();
    begin_what_can();
    submitter_.close();
    submitter_.advance();
    notice_waiting();
    settle();
    if (settings_.detach && submitter_.waiting() == 0) break;
    if (open_.empty()) ask_for_more();
    if (open_.empty() && (waiting_.empty() || stopping_)) break;
    show();
    observer_.glanced();
    ::poll(nullptr, 0, static_cast<int>(look_interval.count()));
  }
  return waiting_.size();
}

void SlurmRunner::add(std::vector<RunTask> tasks) {
  for (RunTask& task : tasks) {
    waiting_.push_back(tasks_.size());
    retried_.push_back(0);
    tasks_.push_back(std::move(task));
  }
}

std::size_t SlurmRunner::most() const {
  return settings_.at_once > 0 ? settings_.at_once : std::numeric_limits<std::size_t>::max();
}

void SlurmRunner::ask_for_more() {
  while (!stopping_ && waiting_.empty() && open_.size() < most()) {
    std::vector<RunTask> tasks = observer_.more();
    if (tasks.empty()) return;
    add(std::move(tasks));
    begin_what_can();
  }
}

/// Takes the leases of all runs that wait for no other run, and packs their orders.
void SlurmRunner::begin_what_can() {
  if (stopping_) return;
  std::vector<std::size_t> later;
  for (const std::size_t task : waiting_)
    if (open_.size() >= most() || waits(task) || !begin(task)) later.push_back(task);
  waiting_ = std::move(later);
}

/// Returns whether the task waits for runs that it starts from or learns from.
bool SlurmRunner::waits(std::size_t task) const {
  return std::ranges::any_of(tasks_[task].after, [&](std::size_t parent) { return !over_.contains(parent); });
}

/// Takes the lease of a run and packs its order. Returns false if the database did not answer in time.
bool SlurmRunner::begin(std::size_t task) {
  RunTask now = tasks_[task];
  now.from_start = now.from_start && retried_[task] == 0;
  std::optional<store::Lease> lease;
  try {
    now.weights = take_weights(store_, now.specification, now.from_start);
    lease = store_.begin_attempt(now.run, holder_of(submitter_.next_job()), now.seen_attempts, code_);
    if (!lease) {
      leave_or_adopt(task);
      return true;
    }
    tasks_[task].seen_attempts = lease->ordinal;
    WorkerPlace place = settings_.place;
    submitter_.add(prepare_work(store_, now, *lease, place), place);
    open_[now.run] = task;
  } catch (const store::DatabaseError& error) {
    if (error.busy() && !lease) return false;
    throw;
  } catch (const store::LeaseLost&) {
    leave_or_adopt(task);
  } catch (const Error& error) {
    over_.insert(task);
    if (lease) {
      store_.finish_attempt(*lease, store::RunState::interrupted, error.what());
      tell_end(task, store_.read_run(now.run), {});
      return true;
    }
    store_.note_waiting(now.run, error.what());
    RunOutcome outcome;
    outcome.blocked = true;
    outcome.state = store::RunState::pending;
    outcome.reason = error.what();
    observer_.ended(task, outcome, false);
  }
  return true;
}

/// Handles a run that another process holds: leaves it to that process, or follows it if the settings say so.
void SlurmRunner::leave_or_adopt(std::size_t task) {
  const store::RunRow row = store_.read_run(tasks_[task].run);
  if (settings_.adopt && row.state == store::RunState::running && job_of(row.holder)) {
    adopted_.insert(task);
    open_[row.number] = task;
    return;
  }
  over_.insert(task);
  RunOutcome outcome;
  outcome.state = row.state;
  outcome.reason = row.reason;
  observer_.ended(task, outcome, false);
}

void SlurmRunner::settle() {
  try {
    for (const store::RunRow& run : settle_launched(store_)) take_end(run);
    working_.clear();
    // An `exp status` may have recorded the end before this process.
    const auto open = open_;
    for (const auto& [number, task] : open) {
      store::RunRow run = store_.read_run(number);
      if (run.state == store::RunState::running)
        working_.push_back(std::move(run));
      else
        take_end(run);
    }
  } catch (const store::DatabaseError& error) {
    if (!error.busy()) throw;
  }
}

void SlurmRunner::take_end(const store::RunRow& run) {
  const auto found = open_.find(run.number);
  if (found == open_.end()) return;
  const std::size_t task = found->second;
  open_.erase(found);
  tasks_[task].seen_attempts = run.attempts;
  const std::optional<record::Ended> last_word = last_word_of(store_, run.number, run.attempts);
  const bool paused = is_paused(run, last_word);
  const bool lost = run.state == store::RunState::lost && retried_[task] < settings_.retries;
  // The program that gave it to Slurm may have died before its job was submitted.
  const bool left = adopted_.erase(task) > 0 && !paused &&
                    (run.state == store::RunState::lost || run.state == store::RunState::interrupted);
  if ((lost || left) && !stopping_) {
    if (!left) ++retried_[task];
    waiting_.push_back(task);
    RunOutcome outcome;
    outcome.began = true;
    outcome.state = run.state;
    outcome.reason = run.reason;
    outcome.step = run.progress ? run.progress->step : 0;
    observer_.ended(task, outcome, true);
    return;
  }
  over_.insert(task);
  tell_end(task, run, last_word);
}

void SlurmRunner::tell_end(std::size_t task, const store::RunRow& run,
                           const std::optional<record::Ended>& last_word) {
  RunOutcome outcome;
  outcome.began = true;
  outcome.state = run.state;
  outcome.reason = run.reason;
  outcome.paused = is_paused(run, last_word);
  outcome.step = run.progress ? run.progress->step : 0;
  if (last_word) outcome.step = std::max(outcome.step, last_word->step.value_or(0));
  for (const store::AttemptRow& attempt : store_.read_attempts(run.number))
    outcome.seconds += attempt.finished ? *attempt.finished - attempt.started : 0.0;
  const bool bad = run.state == store::RunState::failed || run.state == store::RunState::lost;
  if (bad) outcome.log_tail = tail_of(store_.run_folder(run.id) / log_name(static_cast<int>(run.attempts)));
  observer_.ended(task, outcome, false);
  if (bad && settings_.fail_fast && !stopping_)
    stop_all("a run failed and --fail-fast was given", StopWish::checkpoint);
}

void SlurmRunner::pass_on_requests() {
  const int requests = stop_requests_.load();
  if (settings_.detach && requests > 0) {
    stopping_ = true;
    return;
  }
  if (requests > passed_on_) {
    stop_all(requests == 1 ? "stopping" : "killing the workers",
             requests == 1 ? StopWish::checkpoint : StopWish::kill);
    passed_on_ = requests;
  }
  if (settings_.stop_wish() != StopWish::none && !stopping_) {
    observer_.noticed("asked to stop by exp stop");
    stopping_ = true;
  }
}

void SlurmRunner::stop_all(const std::string& why, StopWish wish) {
  stopping_ = true;
  std::set<std::int64_t> runs;
  for (const auto& entry : open_) {
    const store::RunRow run = store_.read_run(entry.first);
    runs.insert(run.number);
    request_stop(store_.run_folder(run.id), static_cast<int>(run.attempts), wish);
  }
  observer_.noticed(why + ": jobs that wait are cancelled, " +
                    (wish == StopWish::kill ? "workers are killed"
                                            : "workers write a checkpoint first (ask again to kill them)"));
  for (const store::RunRow& run : stop_queued(store_, runs)) take_end(run);
}

void SlurmRunner::notice_waiting() {
  if (submitter_.waits_for().empty() || submitter_.waits_for() == told_) return;
  told_ = submitter_.waits_for();
  observer_.noticed("jobs wait to be submitted: " + told_);
}

void SlurmRunner::show() {
  std::size_t working = 0;
  std::string last;
  std::optional<record::Progressed> progress;
  for (const store::RunRow& run : working_) {
    if (!open_.contains(run.number)) continue;
    const std::optional<SchedulerNote> note = scheduler_note(store_, run);
    if (!note) continue;
    if (note->begun) ++working;
    last = note->text;
    progress = note->begun ? run.progress : std::nullopt;
  }
  if (open_.size() == 1 && !last.empty())
    observer_.queued(tasks_[open_.begin()->second].specification.name + ": " + last,
                     progress ? &*progress : nullptr);
  else
    observer_.queued(std::to_string(open_.size() - working) + " queued, " + std::to_string(working) +
                         " running, " + std::to_string(over_.size()) + " of " +
                         std::to_string(tasks_.size()) + " ended",
                     nullptr);
}

}  // namespace encore::runner
