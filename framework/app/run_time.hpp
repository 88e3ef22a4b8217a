// SPDX-License-Identifier: BSD-3-Clause
// RunTimes: the expected time of a planned run, from the most similar complete run. `exp plan` (plan.cpp)
// asks for every run to do, after compare_with() in planned_runs.hpp; cli/plan_text.cpp prints the time.
// Without a comparable run there is no estimate. Estimates are not stored, so the rules may change.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "record/specification.hpp"
#include "store/store.hpp"

namespace encore::app {

struct TimeEstimate {
  double seconds = 0.0;                ///< of the training that is left
  std::string run, run_id;             ///< the source run, the newest of equally near ones
  std::vector<std::string> different;  ///< settings of the model and the batches in which it differs
};

/// Only runs on the same backend, host and training data are compared. The nearest one has the fewest
/// different settings among those that decide the amount of computation (sizes and kinds in the model,
/// tokenizer, batches). A run of another kind (task, layers, tokenizer, precision), or more than 16 times as
/// large or as small, is not used. The seconds per epoch of the nearest run, or per step for a run of
/// train.steps, evaluation included, are scaled by model.layers and by the square of model.width, those per
/// step also by the batch size.
class RunTimes {
 public:
  /// Reads what complete runs of `backend` on `host` took: the newest `most_runs`.
  RunTimes(store::Store& store, const std::string& backend, const std::string& host);

  /// Returns the time of a training from the start, times `share`, the part that is left (0 to 1). Returns
  /// nothing if no run is comparable.
  std::optional<TimeEstimate> estimate(const record::Specification& specification, double share = 1.0);

  static constexpr int most_runs = 200;

 private:
  /// The settings that decide the amount of computation, by name.
  using Load = std::vector<std::pair<std::string, std::string>>;
  struct Past {
    std::string run, run_id, train_data;
    double seconds_per_step = 0.0;
    double seconds_per_epoch = 0.0;  ///< 0 where its length was given in steps
    Load load;
  };

  static Load load_of(const nlohmann::json& config);
  Load load_of(store::Store& store, std::int64_t run) const;
  enum class Unit : std::uint8_t { epoch, step };
  std::optional<TimeEstimate> per(Unit unit, const Load& load, const std::string& train_data) const;

  std::vector<Past> past_;  // newest first
  std::unordered_map<std::string, std::optional<TimeEstimate>> known_;
};

/// Returns the part of its training that a run has left, from its last progress; 1 if nothing is known.
double share_left(const store::RunRow& run);

}  // namespace encore::app
