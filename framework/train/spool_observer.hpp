// SpoolObserver: writes what a run tells into its attempt's spool. The only way from the worker into the
// database.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "record/spool.hpp"
#include "train/observer.hpp"

namespace encore {

class SpoolObserver final : public Observer {
 public:
  explicit SpoolObserver(SpoolWriter& spool);

  void log(const std::string& message) override;
  void stepped(const StepReport& report) override;
  void measured(std::int64_t step, const std::vector<Measure>& measures) override;
  void digested(const Digest& digest) override;
  void saving() override;
  void saved(const CheckpointReport& report) override;
  void wrote(const std::string& name, const std::string& path, const std::string& sha256) override;
  void concluded(std::int64_t best_step, const std::vector<Measure>& result) override;
  void ended(Ending ending, const std::string& reason, std::int64_t step) override;

 private:
  SpoolWriter& spool_;
  std::int64_t epoch_ = 0;  ///< of the last step
  std::optional<std::chrono::steady_clock::time_point> last_step_;
  double longest_pause_ = 0.0;     ///< seconds between the ends of two steps, scores and checkpoints included
  double seconds_per_step_ = 0.0;  ///< smoothed, for the time left
  double seconds_since_progress_ = 0.0;
};

}  // namespace encore
