// Loads what a run's folder holds, and plans memory when a batch comes that does not fit.
#include "infer/engine.hpp"

#include "data/encode.hpp"
#include "data/file.hpp"
#include "data/largest_batch.hpp"

namespace encore {
namespace {

Specification specification_of(const std::filesystem::path& run_folder,
                               const std::vector<std::string>& plugin_folders) {
  Specification specification = Specification::load(run_folder);
  specification.plugin_folders = plugin_folders;
  return specification;
}

LoadedExperiment load_run(const Specification& specification, const std::filesystem::path& run_folder) {
  LoadedExperiment loaded = load_experiment(specification);
  if (loaded.experiment.data.max_length == 0) take_max_length(loaded.experiment, kept_max_length(run_folder));
  return loaded;
}

}  // namespace

Engine::Engine(const std::filesystem::path& run_folder, const std::vector<std::string>& plugin_folders,
               const Device& device)
    : Engine(run_folder, specification_of(run_folder, plugin_folders), device) {}

Engine::Engine(const std::filesystem::path& run_folder, const Specification& specification,
               const Device& device)
    : loaded_(load_run(specification, run_folder)),
      tokenizer_(load_tokenizer(loaded_, run_folder,
                                [&]() -> TextCounts {
                                  throw Error((run_folder / vocabulary_file).string() +
                                              " is missing, and the model was trained with it; put it back");
                                })),
      parts_(make_task_parts(loaded_.experiment, loaded_.registry)) {
  const std::string knowledge = load_text(run_folder / knowledge_file, "list of labels");
  with_file(run_folder / knowledge_file, [&] { parts_.task->restore(knowledge); });
  weights_ = std::make_unique<RunWeights>(run_folder, specification.question);
  for (const char* file : {vocabulary_file, knowledge_file, max_length_file}) weights_->require_file(file);
  model_ = std::make_unique<Model>(loaded_.experiment, model_size(task(), tokenizer_->vocabulary().size()),
                                   loaded_.registry, device, Use::inference);
  step_ = weights_->load_into(*model_, host_threads());
  parts_.task->use(weights_->tuned());
  model_->parameters().refresh_copies();  // applies adapters, for who reads the parameters before a pass
}

EncodedSet Engine::encode(const Records& records, int threads) const {
  return {encode_records(task(), records, tokenizer(), experiment().data.max_length, threads)};
}

Evaluation Engine::run(const EncodedSet& set) {
  const std::int64_t batch_size = experiment().train.batch_size;
  const BatchSize needed = largest_evaluation_batch(set.set, batch_size, evaluation_order(*model_));
  const StepPlan& plan = model_->evaluation_plan();
  if (!evaluator_ || !plan.holds(needed)) {
    const BatchSize largest = at_least(plan.largest, needed);
    evaluator_.reset();
    model_->plan({}, largest);
    evaluator_ = std::make_unique<Evaluator>(*model_, largest, batch_size);
  }
  return evaluator_->run(set.set);
}

}  // namespace encore
