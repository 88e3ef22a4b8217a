// SPDX-License-Identifier: BSD-3-Clause
// TrainerParts is what a trainer works with, and what a verification or a search asks of it beside the
// specification. infer/setup.hpp and train/session.cpp build the parts, trainer.hpp and scoring.hpp use
// them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>

#include <encore/optimizer.hpp>
#include <encore/schedule.hpp>

#include "config/experiment.hpp"
#include "distributed/communicator.hpp"
#include "infer/evaluator.hpp"
#include "infer/pretrained_weights.hpp"
#include "model/model.hpp"
#include "record/specification.hpp"
#include "tasks/task_sets.hpp"
#include "train/control.hpp"
#include "train/observer.hpp"
#include "train/snapshots.hpp"

namespace encore {

/// What a verification or a search asks of a worker beside the specification. No bit of the training depends
/// on it.
struct Milestones {
  std::int64_t stop_after = 0;        ///< ends resumably after this step; 0: trains to the end
  std::int64_t die_after = 0;         ///< sends itself SIGKILL after this step, as if from outside; 0: never
  std::set<std::int64_t> save_at;     ///< a checkpoint is written after each of these steps, and kept
  std::int64_t stop_after_epoch = 0;  ///< ends resumably after N epochs, before the next one begins
  std::int64_t pause_after_step = 0;  ///< the same after a step; it also writes a checkpoint
};

/// All of it must outlive the trainer.
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
  /// Fills the model of a new run from the weights with which it starts; empty: there are none.
  std::function<PretrainedWeights(Model&)> pretrained = {};
  /// Set for tasks that measure text which the model generates.
  std::optional<TextGeneration> texts = {};
  const Tokenizer* tokenizer = nullptr;  ///< for the tokens of train.show_attention
  /// The ranks that train the run together; each has an observer and a control of its own (train/ranks.hpp).
  Communicator& ranks;
  Ties ties = Ties::first;
  /// Whether the next batch is packed and uploaded while the device computes; no bit depends on it. A host
  /// that computes itself gains nothing. Several ranks pack each batch when its step begins.
  bool packs_ahead = !host_reaches_device();
  /// Is called before the first step, after each one and after each batch of a scoring, while no kernel runs.
  /// It may change the number of threads (adaptive_threads.hpp); empty: nothing is done.
  std::function<void()> between_steps = {};
};

}  // namespace encore
