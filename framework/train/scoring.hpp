// SPDX-License-Identifier: BSD-3-Clause
// Scoring measures a run's parameters on its development and test set. During training it computes a score of
// dev, which selects the best checkpoint. At the end it scores the best checkpoint and writes the files made
// from its outputs: weights, predictions, attention, reference (for `exp monitor`). trainer.cpp calls it
// after an epoch and at the end. It uses TaskSets for the sets and Evaluator for the model.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "record/best_checkpoint.hpp"
#include "train/trainer_parts.hpp"

namespace encore::train {

/// Returns the largest batch in which dev or test is scored; memory of the model is planned for it.
BatchSize largest_evaluation(const tasks::TaskSets& sets, const model::Model& model,
                             const data::BatchOptions& options);

class Scoring {
 public:
  /// `largest` is the result of largest_evaluation(), for which the model was planned.
  Scoring(const TrainerParts& parts, const BatchSize& largest, const data::BatchOptions& options);

  /// Scores dev with the model's current parameters, those after `step` of `epoch` (counted from 1), and
  /// reports the measures. All ranks must call it.
  record::DevScore score_dev(std::int64_t step, std::int64_t epoch);
  /// Returns the setting that the task chose at the last score of dev (Task::tune); "" after forget().
  const std::string& tuned() const { return tuned_; }
  /// Call it when the parameters change: earlier scores are no longer valid.
  void forget();

  /// Restores the parameters after `best_step`, writes the weights file, scores dev and test, and writes and
  /// reports the run's files. `last_step` is the step of the current parameters, whose dev score is reused.
  /// All ranks must call it; only rank 0 measures and writes.
  void conclude(std::int64_t best_step, std::int64_t last_step);

 private:
  /// The outputs of a set, their statistics and measures; the loss is the last measure.
  struct SetScore {
    Outputs outputs;
    Statistics statistics;
    std::vector<record::MeasuredValue> measures;
  };

  infer::Evaluation evaluate(data::Split split);
  SetScore measured(data::Split split, infer::Evaluation evaluation);
  /// Returns the score of the parameters after `step`. If `measures` is false and outputs had to be computed,
  /// returns nothing.
  std::optional<SetScore> score_of(data::Split split, std::int64_t step, std::int64_t last_step,
                                   bool measures);
  /// Returns whether the selecting metric has nothing to count in the set (base/measures.hpp).
  bool is_undefined(const Statistics& statistics) const;
  /// Writes the attention weights of the first examples of dev, for the parameters after `step`.
  void keep_attention(std::int64_t step);
  /// Writes the reference: statistics of dev with which the inputs of a service are compared later (`exp
  /// monitor`).
  void keep_reference(std::int64_t step, const Outputs& outputs, const Records& predicted);

  const config::TrainTable& train_;
  tasks::TaskSets& sets_;
  model::Model& model_;
  Snapshots& snapshots_;
  Observer& observer_;
  Control& control_;
  distributed::Communicator& ranks_;
  const Tokenizer* tokenizer_;
  const record::Ties ties_;
  const std::function<void()> between_steps_;
  infer::Evaluator evaluator_;

  std::string tuned_;
  std::optional<SetScore> dev_score_;  ///< of the current parameters; empty after forget()
  bool undefined_ = false;             ///< the selecting metric is undefined on dev
};

}  // namespace encore::train
