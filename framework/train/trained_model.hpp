// TrainedModel: a run's best checkpoint, ready to evaluate and predict, from nothing but its folder.
// Place in the flow: worker evaluate and predict; what it reads is what training wrote: specification.json,
// vocab.txt, labels.txt, checkpoints/.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include <encore/device.hpp>

#include "train/evaluator.hpp"
#include "train/setup.hpp"

namespace encore {

class TrainedModel {
 public:
  /// Plugins are searched in `plugin_folders`, whatever the specification names. Throws Error when the run
  /// has no whole checkpoint yet.
  TrainedModel(const std::filesystem::path& run_folder, const std::vector<std::string>& plugin_folders,
               const Device& device);

  const Experiment& experiment() const { return loaded_.experiment; }
  const Tokenizer& tokenizer() const { return *tokenizer_; }
  const Task& task() const { return *parts_.task; }
  const Reader& reader() const { return *parts_.reader; }
  /// The fields of records that the task reads.
  const TaskFields& fields() const { return parts_.fields; }
  const std::vector<Measure>& measures() const { return parts_.measures; }
  /// Takes note of records that are about to be encoded and scored.
  void extend(const Records& records) { parts_.task->extend(records); }
  /// The step of the checkpoint that is used.
  std::int64_t step() const { return step_; }

  /// Records as this model's task and tokenizer encode them.
  EncodedSet encode(const Records& records, int threads = 1) const;
  Evaluation run(const EncodedSet& set) { return evaluator_->run(set); }

 private:
  LoadedExperiment loaded_;
  std::unique_ptr<Tokenizer> tokenizer_;
  TaskParts parts_;
  std::unique_ptr<Model> model_;
  std::unique_ptr<Evaluator> evaluator_;
  std::int64_t step_ = 0;
};

}  // namespace encore
