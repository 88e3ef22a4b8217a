// Rebuilds a trained model from a run's folder.
#include "train/trained_model.hpp"

#include "train/snapshots.hpp"

namespace encore {
namespace {

LoadedExperiment load(const std::filesystem::path& run_folder,
                      const std::vector<std::string>& plugin_folders) {
  Specification specification = Specification::load(run_folder);
  specification.plugin_folders = plugin_folders;
  return load_experiment(specification);
}

/// Any batch of full sequences fits, so that one plan serves every file and every line typed in.
BatchSize any_batch(const Experiment& experiment) {
  const std::int64_t length = experiment.data.max_length;
  const std::int64_t sequences = experiment.train.batch_size;
  return {sequences * length, sequences, sequences * length * length, length};
}

}  // namespace

TrainedModel::TrainedModel(const std::filesystem::path& run_folder,
                           const std::vector<std::string>& plugin_folders, const Device& device)
    : loaded_(load(run_folder, plugin_folders)),
      tokenizer_(load_tokenizer(loaded_, run_folder,
                                [&]() -> WordCounts {
                                  throw Error((run_folder / "vocab.txt").string() +
                                              " is missing, and the model was trained with it; put it back");
                                })),
      labels_(load_labels(run_folder / "labels.txt")) {
  const auto vocabulary = static_cast<std::int64_t>(tokenizer_->vocabulary().size());
  model_ = std::make_unique<Model>(loaded_.experiment, ModelSize{vocabulary, labels_.names()},
                                   loaded_.registry, device);
  const BatchSize largest = any_batch(loaded_.experiment);
  model_->plan({}, largest);
  step_ = restore_best(run_folder, *model_);
  evaluator_ = std::make_unique<Evaluator>(*model_, largest, loaded_.experiment.train.batch_size);
}

}  // namespace encore
