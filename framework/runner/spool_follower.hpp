// SPDX-License-Identifier: BSD-3-Clause
// SpoolFollower: passes what a worker appends to its spool to a RunObserver, and keeps what decides about the
// end of the attempt. Attempt, Verifier and JobKeeper poll it several times a second. It reads the file
// itself, so that the live line never waits for the database. It must not wait, and never changes the spool.
// Read next: record/spool_reader.hpp.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>

#include "record/spool_reader.hpp"
#include "runner/run_observer.hpp"

namespace encore::runner {

class SpoolFollower {
 public:
  SpoolFollower(const std::filesystem::path& spool, RunObserver& observer,
                const record::SpoolOwner& owner = {})
      : reader_(spool, owner), observer_(observer) {}

  /// Passes on what was appended since the last call, without waiting.
  void poll();

  /// Returns how the worker ended, by its own report.
  const std::optional<record::Ended>& ended() const { return ended_; }
  const std::optional<record::Concluded>& result() const { return result_; }
  /// Returns the last trained step.
  std::int64_t step() const { return step_; }
  /// Returns the inactivity since the last step was reported.
  Inactivity inactivity() const;
  /// Returns the seconds since the last record of any kind, or since this object was made.
  double unheard() const { return since_record_; }
  WorkerStage stage() const {
    return ready_                 ? WorkerStage::training
           : reader_.format() > 0 ? WorkerStage::preparing
                                  : WorkerStage::starting;
  }

 private:
  void take_point();
  void take(const record::Event& event);

  record::SpoolReader reader_;
  RunObserver& observer_;
  record::SpoolRecord record_;
  std::optional<record::Ended> ended_;
  std::optional<record::Concluded> result_;
  std::int64_t step_ = 0;
  bool ready_ = false;                            ///< Started was read
  record::Progressed progress_;                   ///< the newest
  double since_record_ = 0.0, since_step_ = 0.0;  ///< seconds
  std::chrono::steady_clock::time_point looked_ = std::chrono::steady_clock::now();
  std::optional<std::uint32_t> loss_metric_;  ///< the spool's number of train/loss
};

}  // namespace encore::runner
