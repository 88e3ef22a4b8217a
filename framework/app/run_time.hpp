// RunTimes: how long a planned run will take, from the complete runs that are most like it. Place in the
// flow: `exp plan` asks for every run that is to be done, after planned_runs.hpp has held the file against
// the database. Runs are comparable that were trained on the same backend, on the same host, from the same
// training data. Of these the nearest one counts: that with the fewest other settings among those that decide
// how much there is to compute (sizes and kinds in the model, tokenizer, batches). A run of another kind
// (task, layers, tokenizer, precision), or more than 16 times as large or as small, is not like it: where
// there is no other, there is no estimate. Its seconds per epoch, or per step for a run of train.steps,
// evaluation included, are scaled by model.layers and by the square of model.width where these differ, those
// per step by the size of batches too.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "record/specification.hpp"
#include "store/store.hpp"

namespace encore {

struct TimeEstimate {
  double seconds = 0.0;
  std::string run, run_id;             ///< the run it is taken from, the newest of equally near ones
  std::vector<std::string> different;  ///< settings of the model and the batches in which it differs
};

class RunTimes {
 public:
  /// Reads what complete runs of `backend` on `host` took: the newest `most_runs`.
  RunTimes(Store& store, const std::string& backend, const std::string& host);

  /// Of training from the start; `share` is what is left of it (0 to 1). Nothing where no run is comparable.
  std::optional<TimeEstimate> estimate(const Specification& specification, double share = 1.0);

  static constexpr int most_runs = 200;

 private:
  /// Settings that decide how much there is to compute, by name.
  using Load = std::vector<std::pair<std::string, std::string>>;
  struct Past {
    std::string run, run_id, train_data;
    double seconds_per_step = 0.0;
    double seconds_per_epoch = 0.0;  ///< 0 where its length was given in steps
    Load load;
  };

  static Load load_of(const nlohmann::json& config);
  Load load_of(Store& store, std::int64_t run) const;
  enum class Unit : std::uint8_t { epoch, step };
  std::optional<TimeEstimate> per(Unit unit, const Load& load, const std::string& train_data) const;

  std::vector<Past> past_;  // newest first
  std::unordered_map<std::string, std::optional<TimeEstimate>> known_;
};

/// How much of its training a run has left, from the last news of it; 1 where nothing is known.
double share_left(const RunRow& run);

}  // namespace encore
