// SPDX-License-Identifier: BSD-3-Clause
// SlurmRunner: the loop behind `exp run --launcher slurm`, like Runner (runner.hpp) for the workers of this
// machine: works on many runs as jobs of Slurm until each has ended. It takes the leases of runs in the name
// of jobs, submits these, and learns from their files and from Slurm how they end. It may end earlier: any
// later program that reads the database merges the ends of runs (launched_runs.hpp). So nothing that another
// process needs may exist in its memory alone. app/run_session.cpp and app/search_session.cpp make it.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "runner/runner.hpp"
#include "runner/slurm/submitter.hpp"
#include "runner/stop_request.hpp"

namespace encore::runner {

struct SlurmSettings {
  WorkerPlace place = {};   ///< of each worker
  int retries = 0;          ///< further attempts at a run that is lost
  bool fail_fast = false;   ///< the first run that ends badly ends all
  bool detach = false;      ///< end as soon as nothing more can be submitted
  std::size_t at_once = 0;  ///< most runs in the hands of Slurm; 0: all
  /// Runs that jobs of an earlier control program hold are followed, and not left alone.
  bool adopt = false;
  /// Returns what another process has asked for, for all of it.
  std::function<StopWish()> stop_wish = [] { return StopWish::none; };
};

/// It is called from the control program's thread.
class SlurmRunner {
 public:
  /// `stop_requests`: the first asks the workers to checkpoint and end and cancels what waits, the second
  /// kills. `observer` receives no begin, because a job begins the run.
  SlurmRunner(store::Store& store, store::CodeVersion code, SlurmSubmitter submitter, SlurmSettings settings,
              const std::atomic<int>& stop_requests, RunnerObserver& observer)
      : store_(store),
        code_(std::move(code)),
        submitter_(std::move(submitter)),
        settings_(std::move(settings)),
        stop_requests_(stop_requests),
        observer_(observer) {}

  /// Works on the tasks until each is over. With `detach` it ends as soon as nothing more can be submitted
  /// now; a request to stop ends it too. Returns the number of tasks that were not given to Slurm.
  std::size_t run(std::vector<RunTask> tasks);
  /// Returns the number of runs that jobs hold, such as those of a runner that has detached.
  std::size_t held() const { return open_.size(); }
  std::size_t submitted() const { return submitter_.submitted(); }

 private:
  void add(std::vector<RunTask> tasks);
  void ask_for_more();
  std::size_t most() const;
  void begin_what_can();
  bool waits(std::size_t task) const;
  bool begin(std::size_t task);
  void leave_or_adopt(std::size_t task);
  void settle();
  void take_end(const store::RunRow& run);
  void tell_end(std::size_t task, const store::RunRow& run, const std::optional<record::Ended>& last_word);
  void pass_on_requests();
  void stop_all(const std::string& why, StopWish wish);
  void notice_waiting();
  void show();

  store::Store& store_;
  store::CodeVersion code_;
  SlurmSubmitter submitter_;
  const SlurmSettings settings_;
  const std::atomic<int>& stop_requests_;
  RunnerObserver& observer_;
  std::vector<RunTask> tasks_;
  std::vector<int> retried_;                  ///< by task
  std::vector<std::size_t> waiting_;          ///< tasks that were not begun yet
  std::map<std::int64_t, std::size_t> open_;  ///< number of a run that a job holds, its task
  std::vector<store::RunRow> working_;        ///< of these runs, as the last look has read them
  std::set<std::size_t> adopted_;             ///< of these tasks, those that an earlier program gave to Slurm
  std::set<std::size_t> over_;                ///< tasks for which nothing more is done
  std::string told_;
  int passed_on_ = 0;
  bool stopping_ = false;  ///< nothing new is begun
};

}  // namespace encore::runner
