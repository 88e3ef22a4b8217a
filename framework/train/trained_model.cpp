// Rebuilds a trained model from a run's folder.
#include "train/trained_model.hpp"

#include "data/encode.hpp"
#include "data/file.hpp"
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
      parts_(make_task_parts(loaded_.experiment, loaded_.registry)) {
  const std::string knowledge = load_text(run_folder / knowledge_file, "list of labels");
  with_file(run_folder / knowledge_file, [&] { parts_.task->restore(knowledge); });
  const auto vocabulary = static_cast<std::int64_t>(tokenizer_->vocabulary().size());
  model_ = std::make_unique<Model>(loaded_.experiment, ModelSize{vocabulary, task().labels()},
                                   loaded_.registry, device);
  const BatchSize largest = any_batch(loaded_.experiment);
  model_->plan({}, largest);
  step_ = restore_best(run_folder, *model_);
  evaluator_ = std::make_unique<Evaluator>(*model_, largest, loaded_.experiment.train.batch_size);
}

EncodedSet TrainedModel::encode(const Records& records, int threads) const {
  return {encode_records(task(), records, tokenizer(), experiment().data.max_length, threads)};
}

}  // namespace encore
