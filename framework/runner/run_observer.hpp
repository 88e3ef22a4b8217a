// RunObserver: what the control program learns while a worker runs, in the order in which it happens. The
// runner calls it; whoever owns the screen implements it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "runner/silence.hpp"

namespace encore {

/// Of a "progress" event: what a live line shows.
struct Progress {
  std::int64_t step = 0;
  std::int64_t total_steps = 0;
  std::int64_t epoch = 0;  ///< from 1
  double loss = 0.0;
  double learning_rate = 0.0;
  double tokens_per_second = 0.0;
  double eta_seconds = 0.0;
  double step_seconds = 0.0;   ///< of a usual step; 0: not told
  double longest_pause = 0.0;  ///< between two steps until now; 0: not told
};

using Measures = std::map<std::string, double>;

/// What a score on dev or test says, and how training went since the one before.
struct Scores {
  std::int64_t step = 0;
  Measures measures;                  ///< "dev/f1" ...
  std::optional<std::int64_t> epoch;  ///< in which it was taken
  std::optional<double> train_loss;   ///< mean over the steps since the last scores
};

/// Of a "digest" event.
struct ToldDigest {
  std::int64_t step = 0;
  std::string scope;
  std::string value;
  std::map<std::string, std::string>
      tensors;  ///< of the single parameters, by path; empty after the first steps
};

class RunObserver {
 public:
  virtual ~RunObserver() = default;
  /// The worker has read its data and built its model; `description` is the "started" event.
  virtual void started(const nlohmann::json& description) = 0;
  virtual void progressed(const Progress& progress) = 0;
  virtual void measured(const Scores& scores) = 0;
  /// A line of the worker. `level` is "info", "warning" or "error".
  virtual void logged(const std::string& level, const std::string& text) = 0;
  /// A fingerprint of parameters or optimizer state, as the "digest" event tells it. Only a verification
  /// looks at it while the worker runs.
  virtual void digested(const ToldDigest&) {}
  /// The worker has told of no step for much longer than usual; again and again, until it does.
  virtual void silent(const Silence&) {}
  /// Something about the keeping of the record itself: the database is locked, the spool is damaged.
  virtual void noticed(const std::string& text) = 0;
};

}  // namespace encore
