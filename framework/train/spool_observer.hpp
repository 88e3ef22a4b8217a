// SPDX-License-Identifier: BSD-3-Clause
// SpoolObserver writes the reports of a run into the spool (event file) of its attempt. The control program
// merges the spool into the database (store/merge.hpp); a worker reports in no other way.
// worker/train_verb.cpp makes one. Every report but the progress is written at once; how often progress is
// written may change.
#pragma once

#include <chrono>
#include <optional>

#include "record/spool.hpp"
#include "train/observer.hpp"

namespace encore::train {

class SpoolObserver final : public Observer {
 public:
  explicit SpoolObserver(record::SpoolWriter& spool);

  void happened(const record::Event& event) override;
  void measures(std::span<const Measure> of_task) override;
  void resumed(const Resumption& resumption) override;
  void stepped(const StepReport& report) override;
  void scoring(data::Split split, const infer::EvaluationProgress& progress) override;
  void saving() override;

 private:
  /// Returns the progress that the live line shows after this step.
  record::Progressed progress_of(const StepReport& report);
  /// Writes the newest progress unless the spool has it already.
  void write_newest_progress();

  record::SpoolWriter& spool_;
  std::optional<std::chrono::steady_clock::time_point> last_step_;
  double longest_pause_ = 0.0;     ///< longest time between the ends of two steps, in seconds
  double seconds_per_step_ = 0.0;  ///< smoothed, to estimate the remaining time
  double seconds_since_progress_ = 0.0;
  record::Progressed progress_;  ///< of the newest step
  bool progress_is_written_ = true;
  std::optional<std::chrono::steady_clock::time_point> last_scoring_;
};

}  // namespace encore::train
