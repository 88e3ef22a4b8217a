// SPDX-License-Identifier: BSD-3-Clause
// Runner is the loop of `exp run`. It fills free places with attempts, advances them, waits for a worker, and
// reports each end to the observer; run() returns the number of tasks that were not begun. A "seat" is a
// place (WorkerPlace) with the attempt that runs there. Attempt follows one run from its start to its end.
// Nothing but wait() may block, because all workers and Ctrl-C are served by one thread. app/run_session.cpp
// and app/search_session.cpp call it. Read runner.hpp first.
#include "runner/runner.hpp"

#include <poll.h>

#include <algorithm>

#include "runner/launched_runs.hpp"
#include "runner/parent_weights.hpp"

namespace encore::runner {

namespace {

/// The time between two updates of the screen and checks for requests.
constexpr auto glance = std::chrono::milliseconds(100);
/// The pause after a busy database.
constexpr auto pause_before_next_try = std::chrono::milliseconds(500);
/// The time between two checks for free machines.
constexpr auto host_look_interval = std::chrono::seconds(1);

bool ended_badly(const RunOutcome& outcome) {
  return outcome.began && outcome.state != store::RunState::completed &&
         outcome.state != store::RunState::stopped && outcome.state != store::RunState::interrupted;
}

std::string workers_text(std::size_t count) {
  return count == 1 ? "the worker" : "all " + std::to_string(count) + " workers";
}

}  // namespace

std::size_t Runner::run(std::vector<RunTask> tasks) {
  add(std::move(tasks));
  for (;;) {
    pass_on_requests();
    ask_for_more();
    fill();
    if (working() == 0 && queue_.empty()) look_again();
    if (working() == 0) ask_for_more();
    if (working() == 0 && (queue_.empty() || stopping_ || all_closed())) break;
    wait();
    collect();
    observer_.glanced();
  }
  return queue_.size();
}

void Runner::add(std::vector<RunTask> tasks) {
  for (RunTask& task : tasks) {
    queue_.push_back(tasks_.size());
    retried_.push_back(0);
    over_.push_back(false);
    seen_attempts_.push_back(task.seen_attempts);
    tasks_.push_back(std::move(task));
  }
}

void Runner::ask_for_more() {
  if (!stopping_ && queue_.empty() && working() < seats_.size()) add(observer_.more());
}

std::size_t Runner::working() const {
  return static_cast<std::size_t>(
      std::count_if(seats_.begin(), seats_.end(), [](const Seat& seat) { return seat.attempt != nullptr; }));
}

void Runner::fill() {
  for (std::size_t seat = 0; seat < seats_.size(); ++seat) {
    while (is_free(seat) && !stopping_ && !queue_.empty()) {
      if (std::chrono::steady_clock::now() < not_before_) return;
      const auto next =
          std::find_if(queue_.begin(), queue_.end(), [&](std::size_t task) { return !waits(task); });
      if (next == queue_.end()) return;
      const std::size_t task = *next;
      if (!begin(task, seat)) return;
      queue_.erase(std::find(queue_.begin(), queue_.end(), task));
    }
  }
}

/// Returns whether a place is free. On another machine a worker that an earlier exp run launched may still
/// work.
bool Runner::is_free(std::size_t seat) {
  const WorkerPlace& place = settings_.places[seat];
  if (seats_[seat].attempt || seats_[seat].closed) return false;
  if (!place.launcher) return true;
  if (const auto time = std::chrono::steady_clock::now(); time - hosts_looked_at_ > host_look_interval) {
    hosts_looked_at_ = time;
    try {
      const ShortPatience patience(store_.database());
      settle_launched(store_);
      busy_hosts_.clear();
      for (const store::HeldByJob& held : store_.attempts_of_jobs()) busy_hosts_.insert(held.holder.host);
    } catch (const store::DatabaseError&) {
      return false;  // it is asked again
    }
  }
  return !busy_hosts_.contains(place.host);
}

bool Runner::all_closed() const {
  return std::ranges::all_of(seats_, [](const Seat& seat) { return seat.closed; });
}

/// Returns whether the task waits for runs whose weights it needs (RunTask::after).
bool Runner::waits(std::size_t task) const {
  return std::ranges::any_of(tasks_[task].after, [&](std::size_t parent) { return !over_[parent]; });
}

void Runner::tell_end(std::size_t task, const RunOutcome& outcome, bool again) {
  over_[task] = !again;
  observer_.ended(task, outcome, again);
}

/// Takes the lease of a run and starts its attempt. Returns false if the database did not answer in time; the
/// caller tries again.
bool Runner::begin(std::size_t task, std::size_t seat) {
  const WorkerPlace& place = settings_.places[seat];
  std::optional<store::Lease> lease;
  RunTask task_now = tasks_[task];
  task_now.from_start = task_now.from_start && retried_[task] == 0;
  try {
    const ShortPatience patience(store_.database());
    if (!provide_parent(task, task_now)) return true;
    lease =
        store_.begin_attempt(tasks_[task].run, launcher_of(place).holder(place), seen_attempts_[task], code_);
    if (!lease) {
      RunOutcome outcome;
      const store::RunRow row = store_.read_run(tasks_[task].run);
      outcome.state = row.state;
      outcome.reason = row.reason;
      over_[task] = true;
      if (row.state == store::RunState::running && !looked_again_)
        held_elsewhere_.push_back(task);
      else
        tell_end(task, outcome, false);
      return true;
    }
  } catch (const store::DatabaseError& error) {
    if (!error.busy()) {
      give_up(task, error);
      return true;
    }
    if (busy_.long_enough() && told_ != error.what()) {
      told_ = error.what();
      observer_.noticed(told_ + "; the next run waits for it");
    }
    not_before_ = std::chrono::steady_clock::now() + pause_before_next_try;
    return false;
  } catch (const Error& error) {
    give_up(task, error);
    return true;
  }
  told_.clear();
  busy_.over();
  seen_attempts_[task] = lease->ordinal;
  RunObserver& observer = observer_.begun(task, retried_[task]);
  seats_[seat] = {task, std::make_unique<Attempt>(store_, task_now, place, *lease, observer)};
  return true;
}

/// Ends a task whose run the store cannot begin, because the disk is full or the database was removed. Other
/// runs continue.
void Runner::give_up(std::size_t task, const Error& error) {
  RunOutcome outcome;
  outcome.began = true;
  outcome.state = store::RunState::interrupted;
  outcome.reason = error.what();
  tell_end(task, outcome, false);
}

/// Finds the weights of the runs that the run needs. Returns false if one of those runs has no weights; the
/// run is then not begun, and its row says why.
bool Runner::provide_parent(std::size_t task, RunTask& task_now) {
  try {
    task_now.weights = take_weights(store_, task_now.specification, task_now.from_start);
    return true;
  } catch (const store::DatabaseError&) {
    throw;
  } catch (const Error& error) {
    RunOutcome outcome;
    outcome.blocked = true;
    outcome.state = store::RunState::pending;
    outcome.reason = error.what();
    store_.note_waiting(tasks_[task].run, outcome.reason);
    tell_end(task, outcome, false);
    return false;
  }
}

/// Checks again, once, the runs that other processes held: those processes may have died without ending them.
void Runner::look_again() {
  if (looked_again_ || stopping_) return;
  looked_again_ = true;
  queue_.assign(held_elsewhere_.begin(), held_elsewhere_.end());
  fill();
}

void Runner::ask_all(StopCause cause, const std::string& why) {
  stopping_ = true;
  const std::size_t count =
      static_cast<std::size_t>(std::count_if(seats_.begin(), seats_.end(), [](const Seat& seat) {
        return seat.attempt != nullptr && seat.attempt->working();
      }));
  if (count > 0)
    observer_.noticed(why + ": " + workers_text(count) +
                      (count == 1 ? " writes a checkpoint first" : " write a checkpoint first") +
                      (cause != StopCause::user ? ""
                       : count == 1             ? " (ask again to kill it)"
                                                : " (ask again to kill them)"));
  else if (cause == StopCause::command)
    observer_.noticed(why + ": no more runs are started");
  for (Seat& seat : seats_)
    if (seat.attempt) seat.attempt->ask_to_stop(cause);
}

void Runner::pass_on_requests() {
  const int requests = stop_requests_.load();
  if (requests >= 1 && passed_on_ < 1) {
    ask_all(StopCause::user, "stopping");
    passed_on_ = 1;
  }
  if (requests >= 2 && passed_on_ < 2) {
    observer_.noticed(
        "killing " + workers_text(working()) +
        "; the next time, their runs resume from the last checkpoint, or start again without one");
    for (Seat& seat : seats_)
      if (seat.attempt) seat.attempt->kill();
    passed_on_ = 2;
  }
  const StopWish wish = settings_.stop_wish();
  if (wish == StopWish::kill) {
    stopping_ = true;
    for (Seat& seat : seats_)
      if (seat.attempt) seat.attempt->kill_by_command();
  } else if (wish == StopWish::checkpoint && !stopping_) {
    ask_all(StopCause::command, "asked to stop by exp stop");
  }
}

void Runner::collect() {
  for (Seat& seat : seats_)
    if (seat.attempt && seat.attempt->advance()) end(seat);
}

void Runner::end(Seat& seat) {
  const std::unique_ptr<Attempt> attempt = std::move(seat.attempt);
  const RunOutcome& outcome = attempt->outcome();
  const std::size_t task = seat.task;
  const std::string& host = settings_.places[static_cast<std::size_t>(&seat - seats_.data())].host;
  busy_hosts_.erase(host);
  const bool crashed = outcome.state == store::RunState::lost && !outcome.taken_over && outcome.recorded;
  const bool going_on = !stopping_ && stop_requests_.load() == 0;
  const bool failed_launch = !outcome.launched && outcome.state == store::RunState::interrupted && going_on;
  seat.closed = failed_launch;
  const bool retry = crashed && going_on && retried_[task] < settings_.retries;
  const bool again = retry || (failed_launch && !all_closed());
  if (retry) ++retried_[task];
  if (again) queue_.push_front(task);
  if (failed_launch)
    observer_.noticed(host + " gets no more runs of this exp run: a worker could not be started there");
  tell_end(task, outcome, again);
  if (settings_.fail_fast && !again && !stopping_ && ended_badly(outcome))
    ask_all(StopCause::failure, "a run failed and --fail-fast was given");
}

/// Waits until a worker ends, the user sends something, or an update is due.
void Runner::wait() const {
  std::vector<pollfd> ends;
  for (const Seat& seat : seats_)
    if (seat.attempt && seat.attempt->working() && seat.attempt->exit_descriptor() >= 0)
      ends.push_back({seat.attempt->exit_descriptor(), POLLIN, 0});
  ::poll(ends.data(), ends.size(), static_cast<int>(glance.count()));
}

}  // namespace encore::runner
