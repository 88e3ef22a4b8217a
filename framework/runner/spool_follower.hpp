// SpoolFollower: turns what a worker appends to its spool into calls of a RunObserver, and keeps what decides
// about the end of the attempt. It reads on its own, so that the live line never waits for the database.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>

#include "record/spool_reader.hpp"
#include "runner/run_observer.hpp"

namespace encore {

/// The "finished" event, the worker's own word about how it ended.
struct WorkerFinished {
  std::string state;  ///< "completed", "failed", "interrupted"
  std::string reason;
  std::optional<std::int64_t> step;
};

/// The "result" event.
struct RunResult {
  std::int64_t best_step = 0;
  Measures measures;
};

class SpoolFollower {
 public:
  SpoolFollower(const std::filesystem::path& spool, RunObserver& observer, const SpoolOwner& owner = {})
      : reader_(spool, owner), observer_(observer) {}

  /// Tells the observer what was appended since.
  void poll();

  const std::optional<WorkerFinished>& finished() const { return finished_; }
  const std::optional<RunResult>& result() const { return result_; }
  /// The last one that was trained.
  std::int64_t step() const { return step_; }
  /// Since the last step was told.
  Silence silence() const;
  /// Seconds since the last record of any kind; 0 before the worker has told that it is ready to train.
  double unheard() const { return ready_ ? since_record_ : 0.0; }

 private:
  void take_point();
  void tell(const nlohmann::json& event);
  void tell_scores(const nlohmann::json& event);

  SpoolReader reader_;
  RunObserver& observer_;
  SpoolRecord record_;
  std::optional<WorkerFinished> finished_;
  std::optional<RunResult> result_;
  std::int64_t step_ = 0;
  bool ready_ = false;                            ///< the "started" event was read
  Progress progress_;                             ///< the newest
  double since_record_ = 0.0, since_step_ = 0.0;  ///< seconds
  std::chrono::steady_clock::time_point looked_ = std::chrono::steady_clock::now();
  std::optional<std::uint32_t> loss_metric_;  ///< the spool's number of train/loss
  double loss_sum_ = 0.0;                     ///< since the last scores
  std::int64_t loss_count_ = 0;
};

}  // namespace encore
