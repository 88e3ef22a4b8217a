// SPDX-License-Identifier: BSD-3-Clause
// keep_jobs(): the loop of `exp job` (cli/job_verb.cpp), on the machine of a launched worker. The keeper is
// the worker's parent, with a control pipe, so that the worker runs as it does locally. It passes on requests
// from files, reports in a file that it lives and how the worker ended, and gives up a run that another
// process has taken over. A job that its scheduler starts again begins a new attempt at each run that it
// left. It must open no database, because the machine may see only the run's folder. Read next:
// job_files.hpp.
#pragma once

#include <atomic>
#include <chrono>
#include <filesystem>
#include <vector>

namespace encore::runner {

/// The requests that signals have made to the job; handlers count them.
struct JobSignals {
  /// The first makes the worker checkpoint and end, and no further order begins; the second kills the worker,
  /// if a command started the job.
  const std::atomic<int>& stop;
  /// Counts signals before a scheduler's time limit: the worker checkpoints and ends, and the job asks to be
  /// started again.
  const std::atomic<int>& yield;
  /// The longest time between the signals to worker and keeper: a scheduler signals the processes of a job
  /// one after the other.
  std::chrono::seconds spread = std::chrono::seconds(5);
};

/// The result of keep_jobs(), from which `exp job` makes its exit code.
struct KeptJobs {
  int unfinished = 0;        ///< orders that did not end with exit code 0
  bool begin_again = false;  ///< some of them because the time limit came near
};

/// Works through the orders one after the other and skips those that have ended. Throws Error for an order
/// that cannot be read, before anything is started.
KeptJobs keep_jobs(const std::vector<std::filesystem::path>& orders, const JobSignals& signals);

}  // namespace encore::runner
