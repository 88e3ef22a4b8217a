// SPDX-License-Identifier: BSD-3-Clause
// Attempt: one worker on one run, from its start to the recorded end: working, or dispossessed (another
// process took the lease), then recording, then over. Runner calls advance() in its loop. The final state is
// written only after the last byte of the spool is merged. Read attempt.hpp first.
#include "runner/attempt.hpp"

#include <algorithm>

#include "record/spool.hpp"
#include "runner/prepare_work.hpp"
#include "runner/stop_request.hpp"

namespace encore::runner {

namespace {

/// The time that a worker without a lease has to end by itself. Its work no longer counts.
constexpr auto dispossessed_patience = std::chrono::seconds(10);

}  // namespace

Attempt::Attempt(store::Store& store, const RunTask& task, const WorkerPlace& place,
                 const store::Lease& lease, RunObserver& observer)
    : store_(store),
      lease_(lease),
      observer_(observer),
      folder_(store.run_folder(lease.run_id)),
      log_(folder_ / log_name(lease.ordinal)),
      recorder_(store, lease_, observer),
      follower_(folder_ / record::spool_name(lease.ordinal), observer, {lease.run_id, lease.ordinal}),
      launched_(place.launcher != nullptr),
      step_timeout_(launched_ ? std::chrono::seconds(0) : task.step_timeout) {
  outcome_.began = true;
  try {
    start(task, place);
  } catch (const store::LeaseLost& error) {
    dispossess(error);
  } catch (const Error& error) {
    // The failure does not count against the run itself: the disk may be full, or a worker cannot be started.
    outcome_.state = store::RunState::interrupted;
    outcome_.reason = error.what();
    phase_ = Phase::recording;
  }
}

void Attempt::start(const RunTask& task, const WorkerPlace& place) {
  WorkerPlace where = place;
  const WorkOrder order = prepare_work(store_, task, lease_, where);
  worker_ = launcher_of(where).start(order, where);
}

bool Attempt::advance() {
  try {
    if (phase_ == Phase::working) work();
    if (phase_ == Phase::recording) record();
  } catch (const store::LeaseLost& error) {
    dispossess(error);
  }
  if (phase_ == Phase::dispossessed && (!worker_ || worker_->end() || Clock::now() > deadline_)) finish();
  return phase_ == Phase::over;
}

void Attempt::work() {
  end_ = worker_->end();
  follow();
  if (end_) {
    judge(*end_);
    phase_ = Phase::recording;
    return;
  }
  look_at_requests();
  check_inactivity();
  if (kill_at_ && Clock::now() > *kill_at_) worker_->kill();
  recorder_.merge_when_due();
}

/// Reads the spool. An error of the file system is only reported: it says nothing about the worker, and other
/// runs must not suffer.
void Attempt::follow() {
  try {
    follower_.poll();
    unreadable_.clear();
  } catch (const Error& error) {
    if (unreadable_ == error.what()) return;
    unreadable_ = error.what();
    observer_.noticed(unreadable_ + "; retrying");
  }
}

void Attempt::look_at_requests() {
  const StopWish wish = requested_stop(folder_, lease_.ordinal);
  if (wish == StopWish::kill) {
    kill_by_command();
  } else if (wish == StopWish::checkpoint && !asked_) {
    observer_.noticed("asked to stop by exp stop: the worker writes a checkpoint first");
    ask_to_stop(StopCause::command);
  }
}

void Attempt::check_inactivity() {
  const Inactivity inactivity = follower_.inactivity();
  if (inactivity.noticeable()) observer_.silent(inactivity);
  const auto passed = passed_limit(follower_.stage(), follower_.unheard(), step_timeout_);
  if (!passed || kill_at_) return;
  silent_ = *passed;
  observer_.noticed(no_sign_text(silent_) + ": it is killed (--step-timeout " +
                    std::to_string(step_timeout_.count()) + ")");
  end_worker();
}

/// Ends a worker that reports nothing: a signal makes it write its crash line, and a worker that cannot do
/// that is killed a little later.
void Attempt::end_worker() {
  worker_->quit();
  kill_at_ = Clock::now() + last_word_patience;
}

void Attempt::kill_by_command() {
  if (phase_ != Phase::working || kill_at_) return;
  observer_.noticed("asked to stop by exp stop --kill: the worker is killed now");
  asked_ = StopCause::command;
  ended_because_ = "its worker was killed by exp stop --kill";
  end_worker();
}

void Attempt::ask_to_stop(StopCause cause) {
  if (phase_ == Phase::recording) impatient_ = true;
  if (phase_ != Phase::working || asked_) return;
  asked_ = cause;
  worker_->send(record::ControlCommand::stop);
}

void Attempt::kill() {
  if (phase_ == Phase::recording) impatient_ = true;
  if (!asked_) asked_ = StopCause::user;
  if (worker_) worker_->kill();
}

void Attempt::judge(WorkerEnd end) {
  if (silent_.count() > 0) end.silent = silent_;
  JudgedEnd judged = judge_end({.last_word = follower_.ended(),
                                .end = end,
                                .asked = asked_,
                                .ended_because = ended_because_,
                                .step = follower_.step()},
                               log_);
  outcome_.state = judged.state;
  outcome_.reason = std::move(judged.reason);
  outcome_.paused = judged.paused;
  outcome_.log_tail = std::move(judged.log_tail);
  outcome_.plugin = std::move(judged.plugin);
  outcome_.launched = end.launched;
}

void Attempt::record() {
  if (!unreadable_.empty()) {  // the end was judged without the last events
    follow();
    if (unreadable_.empty() && end_) judge(*end_);
  }
  Recorder::Finish how = Recorder::Finish::later;
  try {
    how = recorder_.finish(outcome_.state, outcome_.reason);
  } catch (const store::LeaseLost&) {
    throw;
  } catch (const Error& error) {
    // Its spool is incomplete, so the attempt cannot be completed; or it cannot be read at all.
    if (outcome_.state == store::RunState::completed) {
      outcome_.state = store::RunState::lost;
      outcome_.reason = error.what();
    } else {
      how = recorder_.failed(error);
    }
  }
  if (how == Recorder::Finish::later && !impatient_) return;
  outcome_.recorded = how == Recorder::Finish::done;
  if (!outcome_.recorded) outcome_.not_recorded_because = recorder_.problem();
  finish();
}

/// Returns whether another process, such as exp status, has recorded the end first. It has written the result
/// that this process would have written.
bool Attempt::ended_in_passing() {
  if (!launched_) return false;
  const store::RunRow row = store_.read_run(lease_.run);
  if (row.attempts != lease_.ordinal || row.state == store::RunState::running) return false;
  follow();
  outcome_.state = row.state;
  outcome_.reason = row.reason;
  finish();
  return true;
}

void Attempt::dispossess(const store::LeaseLost& error) {
  if (ended_in_passing()) return;
  outcome_.state = store::RunState::lost;
  outcome_.reason = error.what();
  outcome_.taken_over = true;
  if (worker_) worker_->send(record::ControlCommand::stop);
  deadline_ = Clock::now() + dispossessed_patience;
  phase_ = Phase::dispossessed;
}

void Attempt::finish() {
  outcome_.result = follower_.result();
  // A worker that had nothing left to train reports its step only in its last event.
  const std::int64_t last = follower_.ended() ? follower_.ended()->step.value_or(0) : 0;
  outcome_.step = std::max(follower_.step(), last);
  outcome_.seconds = std::chrono::duration<double>(Clock::now() - begun_).count();
  phase_ = Phase::over;
}

}  // namespace encore::runner
