// SPDX-License-Identifier: BSD-3-Clause
// PretrainedRun is a run of zero steps (trains_nothing): its parameters are those of the folder that
// model.from names. It writes what a trained run writes into the run's folder: vocabulary, labels and
// weights. So the run is evaluated, queried and exported like any other. worker/train_verb.cpp and
// worker/check_verb.cpp use it in place of Session and Trainer; what these write must be written here too.
#pragma once

#include <filesystem>
#include <memory>

#include <encore/device.hpp>

#include "infer/setup.hpp"
#include "train/control.hpp"
#include "train/observer.hpp"
#include "train/snapshots.hpp"

namespace encore::train {

/// Makes the task take the classes that the folder of `[model] from` names, and the fields that its reader
/// gives. Throws Error naming the folder if the classes do not fit.
void adopt_model(tasks::TaskParts& parts, const record::Specification& specification);

class PretrainedRun {
 public:
  /// Reads the folder, whose content must be the planned one, and fills every parameter. Throws Error if the
  /// folder lacks one, because a head with random values is not a model.
  PretrainedRun(record::Specification specification, std::filesystem::path run_folder, std::int64_t attempt,
                const Device& device);

  const plugin_host::Registry& registry() const { return loaded_.registry; }
  const Task& task() const { return *parts_.task; }
  const std::vector<Measure>& measures() const { return parts_.measures; }
  const Tokenizer& tokenizer() const { return *tokenizer_.tokenizer; }
  const model::Model& model() const { return *model_; }

  /// Writes the files, and reports digests and the end of the run, which has no scores.
  record::Ending conclude(Observer& observer, Control& control);

 private:
  record::Specification specification_;
  std::filesystem::path run_folder_;
  infer::LoadedExperiment loaded_;
  tasks::TaskParts parts_;
  infer::LoadedTokenizer tokenizer_;
  std::unique_ptr<model::Model> model_;
  Snapshots snapshots_;
  std::string note_;
};

}  // namespace encore::train
