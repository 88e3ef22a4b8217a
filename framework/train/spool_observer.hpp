// SPDX-License-Identifier: BSD-3-Clause
// SpoolObserver writes the reports of a run into its attempt's spool. It is the only way from the worker into
// the database.
#pragma once

#include <chrono>
#include <optional>

#include "record/spool.hpp"
#include "train/observer.hpp"

namespace encore {

class SpoolObserver final : public Observer {
 public:
  explicit SpoolObserver(SpoolWriter& spool);

  void happened(const Event& event) override;
  void measures(std::span<const Measure> of_task) override;
  void resumed(const Resumption& resumption) override;
  void stepped(const StepReport& report) override;
  void scoring(Split split, const EvaluationProgress& progress) override;
  void saving() override;

 private:
  /// Returns what the live line shows for the end of this step.
  Progressed progress_of(const StepReport& report);
  /// Does nothing if the spool has it already.
  void write_newest_progress();

  SpoolWriter& spool_;
  std::optional<std::chrono::steady_clock::time_point> last_step_;
  double longest_pause_ = 0.0;     ///< seconds between the ends of two steps, scores and checkpoints included
  double seconds_per_step_ = 0.0;  ///< smoothed, for the time left
  double seconds_since_progress_ = 0.0;
  Progressed progress_;  ///< of the newest step
  bool progress_is_written_ = true;
  std::optional<std::chrono::steady_clock::time_point> last_scoring_;
};

}  // namespace encore
