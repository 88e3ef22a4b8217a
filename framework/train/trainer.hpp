// SPDX-License-Identifier: BSD-3-Clause
// Trainer trains one run from its first or next step to its test score. worker/train_verb.cpp makes a
// Session, whose parts the Trainer uses, and calls run() once. Reports go to one Observer, requests come from
// one Control. Its decisions depend only on the specification and on Progress, so a resumed run has equal
// bits; this must stay. Read trainer.cpp from top to bottom like pseudo code; training_step.hpp makes one
// update.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "data/batch_plan.hpp"
#include "data/packing.hpp"
#include "model/device_batch.hpp"
#include "model/model.hpp"
#include "record/progress.hpp"
#include "tasks/task_sets.hpp"
#include "train/loss_scaling.hpp"
#include "train/scoring.hpp"
#include "train/trainer_parts.hpp"
#include "train/training_step.hpp"

namespace encore::train {

/// Returns the number of updates of a whole run, and of the epochs that they take.
data::TrainingLength training_length(const config::Experiment& experiment, const tasks::TaskSets& sets,
                                     std::uint64_t seed);

class Trainer {
 public:
  explicit Trainer(const TrainerParts& parts);

  /// Resumes from the newest valid checkpoint, or starts a new run. Reports every ending to the observer
  /// before it returns.
  record::Ending run();
  /// Returns the number of finished steps.
  std::int64_t step() const { return progress_.step; }

 private:
  void restore_or_initialize();
  /// Sets initial values, or the weights that `[model] from` names.
  void initialize();
  /// Returns whether the milestones end the run here.
  bool stops_here() const;
  bool pauses_here() const;
  record::Ending pause();
  bool steps_remain() const;
  /// Trains the remaining steps of an epoch. Returns how the run ends if it ends within this epoch.
  std::optional<record::Ending> train_epoch();
  /// Evaluates and saves if that is due after a step. Returns how the run ends if a request or milestone ends
  /// it.
  std::optional<record::Ending> after_step(bool epoch_ends);
  /// Makes one step. Returns false if the loss or the gradient is not finite and no smaller factor on the
  /// loss can help; the parameters are then those before the step. `batches` are those of the epoch.
  bool train_step(const std::vector<std::vector<std::int32_t>>& batches);
  void report_loss_scale(std::int64_t step, bool updated);
  /// Packs and uploads a batch.
  void prepare(const std::vector<std::int32_t>& members, std::size_t place);
  /// Prepares the next batch, if the epoch has one, while the device computes the current step.
  void prepare_next(const std::vector<std::vector<std::int32_t>>& batches);
  /// Ends an epoch, also if train.steps ends it early.
  void end_epoch();
  /// Scores dev. Returns true if the checkpoint of this step is now the best one
  /// (record/best_checkpoint.hpp).
  bool evaluate_dev();
  void save(record::CheckpointKind kind);
  /// Reports the digests of the parameters and compares those of all ranks.
  void report_digests();
  /// Reports the share of the step time that ranks spent on communication.
  void report_exchange();
  record::Ending end(record::Ending ending, const std::string& reason);

  const config::Experiment& experiment_;
  const config::TrainTable& train_;
  std::uint64_t seed_;
  tasks::TaskSets& sets_;
  model::Model& model_;
  Optimizer& optimizer_;
  const Schedule& schedule_;
  Snapshots& snapshots_;
  Observer& observer_;
  Control& control_;
  const Milestones milestones_;
  const std::function<infer::PretrainedWeights(model::Model&)> pretrained_;
  distributed::Communicator& ranks_;
  const record::Ties ties_;
  const std::function<void()> between_steps_;

  const ExampleSet units_;  ///< of the training set: the units of batches
  const data::ExampleLengths lengths_;
  const data::BatchOptions batch_options_;
  data::Packer packer_;
  const data::TrainingLength length_;
  std::optional<Scoring> scoring_;  ///< made when the model's memory is planned
  TrainingStep update_;
  const LossScaling loss_scaling_;
  /// A batch in host and device memory. The second one is used only if batches are packed ahead.
  struct Prepared {
    data::PackedBatch packed;
    std::unique_ptr<model::DeviceBatch> uploaded;
  };
  std::array<Prepared, 2> prepared_;
  std::size_t current_ = 0;     ///< index of the batch of the current step
  bool next_is_ready_ = false;  ///< the other one holds the next batch
  const bool packs_ahead_;

  record::Progress progress_;
  std::int64_t saved_step_ = 0;  ///< step of the newest checkpoint
  std::string failure_;
  double step_seconds_ = 0.0, exchange_seconds_ = 0.0;  ///< of all steps of this attempt
};

}  // namespace encore::train
