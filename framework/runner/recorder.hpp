// Recorder: brings an attempt's spool into the store while it grows. What goes wrong with the database is
// told once and tried again; only the loss of the lease is final.
#pragma once

#include <atomic>
#include <chrono>
#include <string>

#include "runner/run_observer.hpp"
#include "store/store.hpp"

namespace encore {

class Recorder {
 public:
  Recorder(Store& store, const Lease& lease, RunObserver& observer)
      : store_(store), lease_(lease), observer_(observer) {}

  /// Merges if the last time is half a second ago. Throws LeaseLost.
  void merge_when_due();
  /// Merges the rest and writes the state; tries again while the database does not take it, until
  /// `stop_requests` rises or the patience for a failing disk is over. False when it was given up: settling
  /// the store later brings the same end.
  bool finish(RunState state, const std::string& reason, const std::atomic<int>& stop_requests);

 private:
  void tell_once(const std::string& problem);

  Store& store_;
  const Lease& lease_;
  RunObserver& observer_;
  std::chrono::steady_clock::time_point last_merge_{};
  std::string told_;
};

}  // namespace encore
