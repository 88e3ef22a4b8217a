// Job keeper: what `exp job` does on the machine where a launched worker runs. It is the worker's parent,
// with a control pipe, so that the worker is the same as at home: it passes on what is asked by files, tells
// by a file that it lives and how the worker ended, and lets go of a run that somebody else has taken over.
// A job of a scheduler that is started again begins a new attempt at each run that it has left.
// It opens no database. Read next: job_files.hpp.
#pragma once

#include <atomic>
#include <chrono>
#include <filesystem>
#include <vector>

namespace encore {

/// What signals have asked of the job; handlers count them.
struct JobSignals {
  /// The first has the worker checkpoint and end, and no further order begin; the second kills the worker, of
  /// a command's job.
  const std::atomic<int>& stop;
  /// The same before a scheduler's time limit: the job wants to begin again.
  const std::atomic<int>& yield;
  /// A scheduler tells the processes of a job to end one after the other: the keeper hears of it at most so
  /// long after its worker.
  std::chrono::seconds spread = std::chrono::seconds(5);
};

struct KeptJobs {
  int unfinished = 0;        ///< orders that did not end with exit code 0
  bool begin_again = false;  ///< some of them because the time limit came near
};

/// Works through the orders one after the other; one that has ended is passed over. Throws Error for an order
/// that cannot be read, before anything is started.
KeptJobs keep_jobs(const std::vector<std::filesystem::path>& orders, const JobSignals& signals);

}  // namespace encore
