// SPDX-License-Identifier: BSD-3-Clause
// Session owns every part of one training run, built from its specification in the order of their
// dependencies. worker/train_verb.cpp builds a Session, reports what it contains, and gives its parts to a
// Trainer. A part that others refer to must be declared before them. Read next: trainer_parts.hpp,
// trainer.hpp.
#pragma once

#include <filesystem>
#include <memory>

#include <encore/device.hpp>

#include "infer/engine.hpp"
#include "infer/setup.hpp"
#include "train/snapshots.hpp"
#include "train/trainer.hpp"

namespace encore::train {

class Session {
 public:
  /// Reads the sets, or loads them from the cache, and loads or trains the vocabulary. Writes vocabulary and
  /// the task's knowledge (its labels) into the run folder, where predict reads them. Throws Error, for
  /// example if a data file is no longer the planned one; RecordError if the run folder cannot be written.
  Session(record::Specification specification, std::filesystem::path run_folder, std::int64_t attempt,
          const Device& device, const tasks::TokenCache& cache = tasks::TokenCache::standard(),
          distributed::Communicator& ranks = distributed::only_rank());

  const config::Experiment& experiment() const { return loaded_.experiment; }
  const plugin_host::Registry& registry() const { return loaded_.registry; }
  const tasks::TaskSets& sets() const { return sets_; }
  const Tokenizer& tokenizer() const { return *tokenizer_.tokenizer; }
  model::Model& model() { return *model_; }

  /// Returns the parts for a Trainer; the session must outlive them.
  TrainerParts parts(Observer& observer, Control& control, Milestones milestones = {});

 private:
  void encode(const tasks::TokenCache& cache);
  /// Loads the teacher of [distil], if the experiment has one, and sets the model to learn from it.
  void load_teacher();
  void keep(const std::filesystem::path& path, const std::string& content) const;
  void keep_max_length(const std::filesystem::path& run_folder);

  distributed::Communicator& ranks_;
  record::Specification specification_;
  infer::LoadedExperiment loaded_;
  tasks::TaskSets sets_;
  infer::LoadedTokenizer tokenizer_;
  std::unique_ptr<infer::Engine> teacher_;  ///< null: no teacher
  std::unique_ptr<model::Model> model_;
  std::unique_ptr<Optimizer> optimizer_;
  std::unique_ptr<Schedule> schedule_;
  Snapshots snapshots_;
};

}  // namespace encore::train
