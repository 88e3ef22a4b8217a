// SPDX-License-Identifier: BSD-3-Clause
// Attempt: one process's work on one run, from the taken lease to the recorded end. Runner (runner.hpp) has
// many and calls advance() of each repeatedly; nothing here waits. An attempt starts the worker, follows its
// spool, merges it every half second, and writes the final state only after the last byte is merged. A locked
// database or a full disk only delays the record: the spool holds everything, and training must never wait
// for either.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "runner/attempt_end.hpp"
#include "runner/prepare_work.hpp"
#include "runner/recorder.hpp"
#include "runner/run_observer.hpp"
#include "runner/spool_follower.hpp"
#include "runner/worker.hpp"
#include "store/store.hpp"

namespace encore::runner {

/// How an attempt ended, for the runner and the screen. Nothing stores it: the database has its own record.
struct RunOutcome {
  bool began =
      false;  ///< false: another process works on it, or has worked on it meanwhile; or it is blocked
  bool blocked = false;  ///< a run whose weights it needs has none; `reason` says why
  store::RunState state = store::RunState::lost;
  std::string reason;     ///< a sentence for the user; empty for a complete run
  std::int64_t step = 0;  ///< the last one that the worker reported
  bool paused = false;    ///< ended in order at a rung, as the task demanded
  std::optional<record::Concluded> result;
  std::string log_tail;  ///< last lines of the worker's log, if it ended without a report
  std::string plugin;    ///< file of the plugin whose code ran when a signal ended the worker, or empty
  bool recorded = true;  ///< false: the store did not take the end yet; the next `exp run` merges it
  std::string not_recorded_because;
  bool launched = true;     ///< false: its worker never began to work on that place
  bool taken_over = false;  ///< another process works on it now, because the lease had expired
  double seconds = 0.0;     ///< how long the attempt took
};

class Attempt {
 public:
  /// Starts the worker. If that fails, outcome() says why; nothing is thrown.
  Attempt(store::Store& store, const RunTask& task, const WorkerPlace& place, const store::Lease& lease,
          RunObserver& observer);

  /// Processes what has happened since the last call, without waiting. Returns true once the attempt is over
  /// and outcome() is final.
  bool advance();
  /// Asks the worker to write a checkpoint and to end. While the end is being recorded, the attempt stops
  /// waiting for a busy database.
  void ask_to_stop(StopCause cause);
  /// Makes the worker report what it was doing, and kills it: `exp stop --kill`.
  void kill_by_command();
  /// Kills the worker at once.
  void kill();

  const RunOutcome& outcome() const { return outcome_; }
  const store::Lease& lease() const { return lease_; }
  /// Becomes readable once the worker has ended; -1 if nothing reports that.
  int exit_descriptor() const { return worker_ ? worker_->exit_descriptor() : -1; }
  /// Returns whether the worker may still run, so that its end is not being recorded yet.
  bool working() const { return phase_ == Phase::working; }

 private:
  using Clock = std::chrono::steady_clock;
  enum class Phase { working, dispossessed, recording, over };

  void start(const RunTask& task, const WorkerPlace& place);
  void work();
  void follow();
  void look_at_requests();
  void check_inactivity();
  void end_worker();
  void judge(WorkerEnd end);
  void record();
  void dispossess(const store::LeaseLost& error);
  bool ended_in_passing();
  void finish();

  store::Store& store_;
  const store::Lease lease_;
  RunObserver& observer_;
  const std::filesystem::path folder_;
  const std::filesystem::path log_;
  Recorder recorder_;
  SpoolFollower follower_;
  std::string unreadable_;  ///< why its spool could not be read last, as the observer knows
  std::unique_ptr<Worker> worker_;
  std::optional<WorkerEnd> end_;
  RunOutcome outcome_;
  Phase phase_ = Phase::working;
  std::optional<StopCause> asked_;
  const bool launched_;  ///< by a launcher: others may bring its end into the store (launched_runs.hpp)
  const std::chrono::seconds step_timeout_;   ///< 0 for a launched worker, because its keeper checks it
  std::chrono::seconds silent_{0};            ///< how long it was silent when it was killed for that
  std::string ended_because_;                 ///< empty unless a command ended the worker
  std::optional<Clock::time_point> kill_at_;  ///< the end of its time to report
  bool impatient_ = false;                    ///< asked to stop while the end is being recorded
  const Clock::time_point begun_ = Clock::now();
  Clock::time_point deadline_{};  ///< of a worker without a lease
};

}  // namespace encore::runner
