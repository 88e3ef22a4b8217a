// SPDX-License-Identifier: BSD-3-Clause
// TrainerParts is everything a Trainer works with. Milestones is what a verification or a search requests of
// a run beyond its specification. Session::parts() (train/session.cpp) fills it; trainer.hpp and scoring.hpp
// use the parts. A milestone must never change a trained value.
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

namespace encore::train {

/// When an attempt shall stop or save, as a verification or a search requests. The trained values do not
/// depend on it.
struct Milestones {
  std::int64_t stop_after = 0;        ///< stops after this step, resumable; 0: never
  std::int64_t die_after = 0;         ///< kills itself by SIGKILL after this step, for tests; 0: never
  std::set<std::int64_t> save_at;     ///< writes and keeps a checkpoint after each of these steps
  std::int64_t stop_after_epoch = 0;  ///< stops after N epochs, resumable; 0: never
  std::int64_t pause_after_step = 0;  ///< stops after this step and writes a checkpoint; 0: never
};

/// The parts; all references must outlive the trainer.
struct TrainerParts {
  const config::Experiment& experiment;
  std::uint64_t seed;
  tasks::TaskSets& sets;
  model::Model& model;
  Optimizer& optimizer;
  const Schedule& schedule;
  Snapshots& snapshots;
  Observer& observer;
  Control& control;
  Milestones milestones = {};
  std::string optimizer_owner = {};  ///< for the crash line (record/crash_line.hpp)
  /// Fills the model of a new run with the weights from which it starts; empty: none.
  std::function<infer::PretrainedWeights(model::Model&)> pretrained = {};
  /// Set if the task measures text that the model generates.
  std::optional<infer::TextGeneration> texts = {};
  const Tokenizer* tokenizer = nullptr;  ///< for the tokens of train.show_attention
  /// The ranks that train the run together. Each has its own observer and control (train/ranks.hpp).
  distributed::Communicator& ranks;
  record::Ties ties = record::Ties::first;
  /// Whether the next batch is packed and uploaded while the device computes; results do not depend on it. It
  /// gains nothing if the host itself computes. With several ranks each batch is packed when its step begins.
  bool packs_ahead = !memory::host_reaches_device();
  /// Called before the first step, after each step and after each batch of a scoring, while no kernel runs.
  /// It may change the number of threads (adaptive_threads.hpp). Empty: not called.
  std::function<void()> between_steps = {};
};

}  // namespace encore::train
