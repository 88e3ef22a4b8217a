// SPDX-License-Identifier: BSD-3-Clause
// Scoring measures a run's parameters on its development and test set: a score of dev during training, which
// chooses the best checkpoint, and at the end the scores of the best one with the files that are made of its
// outputs (weights, predictions, attention, reference). trainer.cpp calls it after an epoch and once at the
// end; TaskSets has the sets, Evaluator runs the model over them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "record/best_checkpoint.hpp"
#include "train/trainer_parts.hpp"

namespace encore {

/// Returns the largest batch in which dev or test are scored: the model is planned for it.
BatchSize largest_evaluation(const TaskSets& sets, const Model& model, const BatchOptions& options);

class Scoring {
 public:
  /// `largest` is that of largest_evaluation(), for which the model was planned.
  Scoring(const TrainerParts& parts, const BatchSize& largest, const BatchOptions& options);

  /// Scores dev by the model's parameters, which are those after `step` of `epoch` (from 1), and reports the
  /// measures. All ranks call it.
  DevScore score_dev(std::int64_t step, std::int64_t epoch);
  /// Returns what the task chose by the last score of dev (Task::tune); "" after forget().
  const std::string& tuned() const { return tuned_; }
  /// The parameters change now, so earlier scores no longer hold.
  void forget();

  /// Restores the parameters after `best_step`, writes the weights file, scores dev and test, and writes and
  /// reports the run's files. `last_step` is that of the present parameters, whose score of dev is not
  /// computed twice. All ranks call it; only rank 0 measures and writes.
  void conclude(std::int64_t best_step, std::int64_t last_step);

 private:
  /// The outputs of a set, their statistics and measures, the loss last.
  struct SetScore {
    Outputs outputs;
    Statistics statistics;
    std::vector<MeasuredValue> measures;
  };

  Evaluation evaluate(Split split);
  SetScore measured(Split split, Evaluation evaluation);
  /// Returns the score of the parameters after `step`, or nothing if `measures` is false and outputs had to
  /// be computed.
  std::optional<SetScore> score_of(Split split, std::int64_t step, std::int64_t last_step, bool measures);
  /// Returns whether the set leaves the selecting metric nothing to count (base/defined_measure.hpp).
  bool is_undefined(const Statistics& statistics) const;
  /// Keeps the attention weights of the parameters after `step` in the first examples of dev.
  void keep_attention(std::int64_t step);
  /// Keeps the reference with which the inputs of a service are compared later.
  void keep_reference(std::int64_t step, const Outputs& outputs, const Records& predicted);

  const TrainTable& train_;
  TaskSets& sets_;
  Model& model_;
  Snapshots& snapshots_;
  Observer& observer_;
  Control& control_;
  Communicator& ranks_;
  const Tokenizer* tokenizer_;
  const Ties ties_;
  const std::function<void()> between_steps_;
  Evaluator evaluator_;

  std::string tuned_;
  std::optional<SetScore> dev_score_;  ///< by the present parameters; empty after forget()
  bool undefined_ = false;             ///< the selecting metric on dev
};

}  // namespace encore
