// SPDX-License-Identifier: BSD-3-Clause
// Recorder: merges an attempt's spool into the store while it grows. Attempt owns one and calls it in its
// loop. A problem of the database is reported once and retried; only the loss of the lease is final. It must
// not block: training and the live line never wait for the database. Read next: store/merge.hpp.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "runner/run_observer.hpp"
#include "store/store.hpp"

namespace encore::runner {

/// Shortens, while it lives, how long a database statement waits for a lock: the user watches a live line and
/// may press Ctrl-C.
class ShortPatience {
 public:
  explicit ShortPatience(store::Database& database);
  ~ShortPatience();
  ShortPatience(const ShortPatience&) = delete;
  ShortPatience& operator=(const ShortPatience&) = delete;

 private:
  void set(std::int64_t milliseconds);

  store::Database& database_;
  std::int64_t usual_;
};

/// Detects that other writers keep the database busy for long. Short writes of others are normal.
class BusySpell {
 public:
  /// Returns whether the database has been busy long enough for a message.
  bool long_enough();
  void over() { since_.reset(); }

 private:
  std::optional<std::chrono::steady_clock::time_point> since_;
};

class Recorder {
 public:
  Recorder(store::Store& store, const store::Lease& lease, RunObserver& observer)
      : store_(store), lease_(lease), observer_(observer) {}

  /// Merges if the last merge, or the start, was at least half a second ago. Throws LeaseLost.
  void merge_when_due();
  enum class Finish {
    done,
    later,     ///< it cannot be written now: call again
    given_up,  ///< the patience for a failing disk is over; settling the store later brings the same end
  };
  /// Merges the rest and writes the state, if the last try was at least half a second ago. Throws LeaseLost,
  /// and Error for a spool that is incomplete or cannot be read.
  Finish finish(store::RunState state, const std::string& reason);
  /// Returns what to do after an Error of finish(): try again, or give up if all tries have failed for long.
  Finish failed(const Error& error);
  /// Returns why the store did not take the end at the last try.
  const std::string& problem() const { return problem_; }

 private:
  void tell_once(const Error& error);

  store::Store& store_;
  const store::Lease& lease_;
  RunObserver& observer_;
  std::chrono::steady_clock::time_point last_merge_ = std::chrono::steady_clock::now();
  std::optional<std::chrono::steady_clock::time_point> first_try_, last_try_;  ///< to finish
  std::string told_, problem_;
  BusySpell busy_;
};

}  // namespace encore::runner
