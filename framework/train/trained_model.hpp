// TrainedModel: a run's best checkpoint, ready to evaluate and predict, from nothing but its folder.
// Place in the flow: worker evaluate and predict; what it reads is what training wrote: specification.json,
// vocab.txt, labels.txt, checkpoints/.
#pragma once

#include <filesystem>
#include <memory>
#include <span>

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
  const Labels& labels() const { return labels_; }
  /// The step of the checkpoint that is used.
  std::int64_t step() const { return step_; }

  Evaluation run(std::span<const Example> examples) { return evaluator_->run(examples); }

 private:
  LoadedExperiment loaded_;
  std::unique_ptr<Tokenizer> tokenizer_;
  Labels labels_;
  std::unique_ptr<Model> model_;
  std::unique_ptr<Evaluator> evaluator_;
  std::int64_t step_ = 0;
};

}  // namespace encore
