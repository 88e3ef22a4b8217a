// SPDX-License-Identifier: BSD-3-Clause
// Runner: the loop behind `exp run`: works on many runs, some of them at once, until each is completed, has
// failed, or was left to others. It has one thread and one database connection. Several times a second it
// starts workers in free places, lets each attempt (attempt.hpp) process what happened, and passes on
// requests to stop. Several control programs may get the same runs: one of them begins each run.
// app/run_session.cpp and app/search_session.cpp make it; slurm/slurm_runner.hpp does the same with jobs of
// Slurm. Only its wait may block, because one thread serves all workers and Ctrl-C.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <set>
#include <vector>

#include "runner/attempt.hpp"
#include "runner/stop_request.hpp"

namespace encore::runner {

struct RunnerSettings {
  std::vector<WorkerPlace> places = std::vector<WorkerPlace>(1);  ///< as many workers at once
  int retries = 0;         ///< further attempts at a run whose worker crashed, each from its last checkpoint
  bool fail_fast = false;  ///< the first run that ends badly ends all
  /// Returns what another process has asked for, for all of it; checked several times a second.
  std::function<StopWish()> stop_wish = [] { return StopWish::none; };
};

/// Receives what the control program learns about a list of runs, in the order in which it happens. `task` is
/// an index, from 0, in the list that was given to the runner.
class RunnerObserver {
 public:
  virtual ~RunnerObserver() = default;
  /// An attempt begins; the returned observer receives what its worker does, until `ended`. `retry`: 1 for
  /// the first one after a crash.
  virtual RunObserver& begun(std::size_t task, int retry) = 0;
  /// Reports the end of an attempt. `again`: another attempt follows.
  virtual void ended(std::size_t task, const RunOutcome& outcome, bool again) = 0;
  /// Reports facts about all runs: the database is locked, all workers were asked to stop.
  virtual void noticed(const std::string& text) = 0;
  /// Is called several times a second: the screen may be drawn again.
  virtual void glanced() = 0;
  /// A place is free and no task waits for one. Returns further tasks, which are numbered on. A search
  /// decides here, by what has ended, what is trained next.
  virtual std::vector<RunTask> more() { return {}; }
  /// Reports repeatedly the state of a scheduler's jobs, and the progress of the run if there is only one.
  virtual void queued(const std::string& /*text*/, const record::Progressed* /*progress*/) {}
};

class Runner {
 public:
  /// `stop_requests` counts what the user has sent (Ctrl-C): the first asks the workers to checkpoint and
  /// end, the second kills them. A signal handler may raise it.
  Runner(store::Store& store, store::CodeVersion code, RunnerSettings settings,
         const std::atomic<int>& stop_requests, RunnerObserver& observer)
      : store_(store),
        code_(std::move(code)),
        settings_(std::move(settings)),
        stop_requests_(stop_requests),
        observer_(observer),
        seats_(settings_.places.size()) {}

  /// Works on the tasks until each is over. Returns the number of tasks that were not started because the
  /// user, `exp stop` or a failure ended the work.
  std::size_t run(std::vector<RunTask> tasks);

 private:
  /// A place, and the attempt that runs there.
  struct Seat {
    std::size_t task = 0;
    std::unique_ptr<Attempt> attempt;
    bool closed = false;  ///< a worker could not be started there: its place takes no more runs
  };

  void add(std::vector<RunTask> tasks);
  void ask_for_more();
  void fill();
  bool begin(std::size_t task, std::size_t seat);
  void give_up(std::size_t task, const Error& error);
  bool provide_parent(std::size_t task, RunTask& task_now);
  bool waits(std::size_t task) const;
  void tell_end(std::size_t task, const RunOutcome& outcome, bool again);
  void look_again();
  void pass_on_requests();
  void ask_all(StopCause cause, const std::string& why);
  void collect();
  void end(Seat& seat);
  bool is_free(std::size_t seat);
  bool all_closed() const;
  void wait() const;
  std::size_t working() const;

  store::Store& store_;
  store::CodeVersion code_;
  RunnerSettings settings_;
  const std::atomic<int>& stop_requests_;
  RunnerObserver& observer_;
  std::vector<RunTask> tasks_;
  std::vector<Seat> seats_;
  std::deque<std::size_t> queue_;
  std::vector<std::size_t> held_elsewhere_;
  bool looked_again_ = false;
  std::vector<int> retried_;                            ///< by task
  std::vector<bool> over_;                              ///< by task: nothing more is done for it
  std::vector<std::int64_t> seen_attempts_;             ///< by task
  bool stopping_ = false;                               ///< nothing new is started
  int passed_on_ = 0;                                   ///< of the user's requests
  std::chrono::steady_clock::time_point not_before_{};  ///< the database was busy when a run was to begin
  std::string told_;                                    ///< of the database
  BusySpell busy_;
  std::set<std::string> busy_hosts_;  ///< by workers that an earlier exp run has launched
  std::chrono::steady_clock::time_point hosts_looked_at_{};
};

}  // namespace encore::runner
