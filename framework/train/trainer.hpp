// Trainer: one run from its first or its next step to its test score; trainer.cpp reads top to bottom like
// the pseudo code of a paper. Everything it tells goes to one Observer, everything asked of it comes from one
// Control. Place in the flow: infer/setup.hpp builds the parts, the worker calls run() once.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include <encore/optimizer.hpp>
#include <encore/schedule.hpp>

#include "config/experiment.hpp"
#include "data/batch_plan.hpp"
#include "data/packing.hpp"
#include "distributed/communicator.hpp"
#include "infer/evaluator.hpp"
#include "infer/pretrained_weights.hpp"
#include "model/device_batch.hpp"
#include "model/model.hpp"
#include "record/progress.hpp"
#include "record/specification.hpp"
#include "tasks/task_sets.hpp"
#include "train/control.hpp"
#include "train/loss_scaling.hpp"
#include "train/observer.hpp"
#include "train/snapshots.hpp"
#include "train/training_step.hpp"

namespace encore {

/// What a verification or a search asks of a worker beside the specification. No bit of what is trained
/// depends on it.
struct Milestones {
  std::int64_t stop_after = 0;     ///< ends resumably after this step; 0: goes on to the end
  std::int64_t die_after = 0;      ///< SIGKILL to itself after this step, as if shot from outside; 0: never
  std::set<std::int64_t> save_at;  ///< a checkpoint is written after each of these steps, and kept
  std::int64_t stop_after_epoch = 0;  ///< ends resumably after so many epochs, before the next one begins
  std::int64_t pause_after_step = 0;  ///< the same after a step, of which a checkpoint is written
};

/// What a trainer works with; all of it outlives the trainer.
struct TrainerParts {
  const Experiment& experiment;
  std::uint64_t seed;
  TaskSets& sets;
  Model& model;
  Optimizer& optimizer;
  const Schedule& schedule;
  Snapshots& snapshots;
  Observer& observer;
  Control& control;
  Milestones milestones = {};
  std::string optimizer_owner = {};  ///< for the crash line (record/crash_line.hpp)
  /// Fills the model of a new run from the weights that it starts from; empty: there are none.
  std::function<PretrainedWeights(Model&)> pretrained = {};
  /// For tasks that measure by texts which the model writes.
  std::optional<TextGeneration> texts = {};
  const Tokenizer* tokenizer = nullptr;  ///< for the pieces of what train.show_attention keeps
  /// Who trains the run together; each has an observer and a control of its own (train/ranks.hpp).
  Communicator& ranks;
  Ties ties = Ties::first;
  /// Whether the next batch is packed and uploaded while the device computes; no bit depends on it. A host
  /// that computes itself has nothing to gain. Several ranks pack each batch when its step begins.
  bool packs_ahead = !host_reaches_device();
  /// Called before the first step, after each one and after each batch of a scoring, while no kernel runs:
  /// may change the number of threads (adaptive_threads.hpp); empty: nothing is done.
  std::function<void()> between_steps = {};
};

/// Updates of a whole run, and the epochs that they take.
TrainingLength training_length(const Experiment& experiment, const TaskSets& sets, std::uint64_t seed);

class Trainer {
 public:
  explicit Trainer(const TrainerParts& parts);

  /// Goes on from the newest valid checkpoint, or starts. Every way to end is reported to the observer before
  /// it returns.
  Ending run();
  /// Steps done.
  std::int64_t step() const { return progress_.step; }

 private:
  void restore_or_initialize();
  /// Initial values, or those of the folder where there is one.
  void initialize();
  /// Where the milestones end it.
  bool stops_here() const;
  bool pauses_here() const;
  Ending pause();
  bool steps_remain() const;
  /// False when loss or gradient are not finite, and no smaller factor on the loss can help; the parameters
  /// are then those of before the step.
  /// `batches`: of the epoch.
  bool train_step(const std::vector<std::vector<std::int32_t>>& batches);
  void report_loss_scale(std::int64_t step, bool updated);
  /// Packs and uploads a batch.
  void prepare(const std::vector<std::int32_t>& members, std::size_t place);
  /// While the device computes the step before: the batch behind it, where the epoch has one.
  void prepare_next(const std::vector<std::vector<std::int32_t>>& batches);
  /// Of the last epoch also where train.steps ends it early.
  void end_epoch();
  /// True when the checkpoint of this step is now the best one (record/best_checkpoint.hpp).
  bool evaluate_dev();
  void save(CheckpointKind kind);
  /// Also compares those of the ranks.
  void report_digests();
  /// All ranks score, rank 0 alone measures and writes.
  void score_with_best();
  /// What share of the steps' time went into what ranks send each other.
  void report_exchange();
  /// What the model, whose parameters are those after `step`, looks at in the first examples of dev.
  void keep_attention(std::int64_t step);
  void keep_reference(std::int64_t step, const Outputs& outputs, const Records& predicted);
  Evaluation evaluate(Split split);
  /// A set's outputs, their statistics and measures, the loss last.
  struct Score {
    Outputs outputs;
    Statistics statistics;
    std::vector<MeasuredValue> measures;
  };
  Score score(Split split, Evaluation evaluation);
  /// By the parameters after `step`, which the model has. Dev is not scored again where its last score is
  /// that of this step. All ranks call it; empty where `measures` is false and outputs had to be computed.
  std::optional<Score> score_of(Split split, std::int64_t step, bool measures);
  Ending end(Ending ending, const std::string& reason);

  const Experiment& experiment_;
  const TrainTable& train_;
  std::uint64_t seed_;
  TaskSets& sets_;
  Model& model_;
  Optimizer& optimizer_;
  const Schedule& schedule_;
  Snapshots& snapshots_;
  Observer& observer_;
  Control& control_;
  const Milestones milestones_;
  const std::function<PretrainedWeights(Model&)> pretrained_;
  const Tokenizer* tokenizer_;
  Communicator& ranks_;
  const Ties ties_;
  const std::function<void()> between_steps_;

  const ExampleSet units_;  ///< of the training set: what batches are made of
  const ExampleLengths lengths_;
  const BatchOptions batch_options_;
  Packer packer_;
  const TrainingLength length_;
  std::unique_ptr<Evaluator> evaluator_;
  TrainingStep update_;
  const LossScaling loss_scaling_;
  /// A batch on the host and on the device. The second one only where batches are packed ahead.
  struct Prepared {
    PackedBatch packed;
    std::unique_ptr<DeviceBatch> uploaded;
  };
  std::array<Prepared, 2> prepared_;
  std::size_t current_ = 0;     ///< of the two: that of the step
  bool next_is_ready_ = false;  ///< the other one holds the batch behind it
  const bool packs_ahead_;

  Progress progress_;
  std::int64_t saved_step_ = 0;  ///< the newest checkpoint's step
  std::string tuned_;  ///< what the task chose by the parameters as they are; "" since the last step
  std::optional<Score> dev_score_;  ///< by the parameters as they are; empty since the next step began
  bool undefined_ = false;  ///< dev leaves the selecting metric nothing to count (base/defined_measure.hpp)
  std::string failure_;
  double step_seconds_ = 0.0, exchange_seconds_ = 0.0;  ///< of all steps of this attempt
};

}  // namespace encore
