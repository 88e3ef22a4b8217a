// Scoring: what a run's development and test set say of its parameters: a score of dev during training, by
// which the best checkpoint is chosen, and at the end the scores of the best one with the files that are made
// of its outputs (weights, predictions, attention, reference). Place in the flow: trainer.cpp calls it after
// an epoch and once at the end; TaskSets has the sets, Evaluator runs the model over them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "record/best_checkpoint.hpp"
#include "train/trainer_parts.hpp"

namespace encore {

/// The largest batch in which dev or test are scored: what a model has to be planned for.
BatchSize largest_evaluation(const TaskSets& sets, const Model& model, const BatchOptions& options);

class Scoring {
 public:
  /// `largest`: of largest_evaluation, for which the model has been planned.
  Scoring(const TrainerParts& parts, const BatchSize& largest, const BatchOptions& options);

  /// Scores dev by the model's parameters, which are those after `step` of `epoch` (from 1), and reports the
  /// measures. All ranks call it.
  DevScore score_dev(std::int64_t step, std::int64_t epoch);
  /// What the task chose by the last score of dev (Task::tune); "" since forget().
  const std::string& tuned() const { return tuned_; }
  /// The parameters change now: scores of before are of others.
  void forget();

  /// Restores the parameters after `best_step`, writes the weights file, scores dev and test, and writes and
  /// reports what the run leaves. `last_step`: of the parameters as they are, whose score of dev is not
  /// computed twice. All ranks call it; rank 0 alone measures and writes.
  void conclude(std::int64_t best_step, std::int64_t last_step);

 private:
  /// A set's outputs, their statistics and measures, the loss last.
  struct SetScore {
    Outputs outputs;
    Statistics statistics;
    std::vector<MeasuredValue> measures;
  };

  Evaluation evaluate(Split split);
  SetScore measured(Split split, Evaluation evaluation);
  /// Returns the score of the parameters after `step`, or nothing where `measures` is false and outputs had
  /// to be computed.
  std::optional<SetScore> score_of(Split split, std::int64_t step, std::int64_t last_step, bool measures);
  /// Whether the set leaves the selecting metric nothing to count (base/defined_measure.hpp).
  bool is_undefined(const Statistics& statistics) const;
  /// What the model, whose parameters are those after `step`, attends to in the first examples of dev.
  void keep_attention(std::int64_t step);
  /// What the texts of a service are compared with later.
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
  std::optional<SetScore> dev_score_;  ///< by the parameters as they are; empty since forget()
  bool undefined_ = false;             ///< the selecting metric on dev
};

}  // namespace encore
