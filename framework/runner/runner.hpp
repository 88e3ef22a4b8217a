// Runner: works on one run until it is completed, failed or interrupted: takes the lease, starts the worker,
// follows its spool, merges it every half second, and writes the final state only after the last byte is
// merged. A database that is locked or on a full disk only delays the record: the spool holds everything,
// training never waits.
#pragma once

#include <atomic>
#include <filesystem>
#include <optional>
#include <string>

#include "runner/code_state.hpp"
#include "runner/run_observer.hpp"
#include "runner/spool_follower.hpp"
#include "runner/worker_process.hpp"
#include "store/store.hpp"

namespace encore {

struct RunTask {
  std::int64_t run = 0;  ///< row number in the store
  Specification specification;
  std::filesystem::path worker;  ///< the program
  int threads = 0;               ///< 0: the worker decides
  nlohmann::json plugin_change;  ///< recorded as an event of that name, unless null
};

struct RunOutcome {
  bool began = false;  ///< false: another process works on it, or has completed it meanwhile
  RunState state = RunState::lost;
  std::string reason;
  std::int64_t step = 0;  ///< the last one the worker told of
  std::optional<RunResult> result;
  std::string log_tail;  ///< last lines of the worker's log, where it ended without a word
  bool recorded = true;  ///< false: the store did not take the end yet; the next `exp run` merges it
};

/// Asks whoever works on the run to checkpoint and end; works over any file system both can see.
void request_stop(const std::filesystem::path& run_folder);

class Runner {
 public:
  /// `stop_requests` counts what the user has sent (Ctrl-C): the first asks the worker to checkpoint and end,
  /// the second kills it. A signal handler may raise it.
  Runner(Store& store, CodeState code, const std::atomic<int>& stop_requests)
      : store_(store), code_(std::move(code)), stop_requests_(stop_requests) {}

  RunOutcome run(const RunTask& task, RunObserver& observer);

 private:
  Store& store_;
  CodeState code_;
  const std::atomic<int>& stop_requests_;
};

}  // namespace encore
