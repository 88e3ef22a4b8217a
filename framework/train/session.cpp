// SPDX-License-Identifier: BSD-3-Clause
// Session: builds the parts of a training run (sets, tokenizer, model, optimizer, snapshots) in the order of
// their dependencies. worker/train_verb.cpp makes one. Read session.hpp first.
#include "train/session.hpp"

#include "data/vocabulary.hpp"
#include "infer/parent_weights.hpp"
#include "infer/pretrained_weights.hpp"
#include "infer/teacher.hpp"
#include "pretrained/content_hash.hpp"
#include "record/crash_line.hpp"
#include "train/snapshots.hpp"

namespace encore::train {
namespace {

/// Returns the path that `[model] from` names; empty if the experiment has none.
std::filesystem::path pretrained_path(const record::Specification& specification) {
  const auto path = specification.data.find(record::pretrained_role);
  return path == specification.data.end() ? std::filesystem::path()
                                          : std::filesystem::path(path->second.path);
}

std::function<std::filesystem::path()> inherited_vocabulary(const record::Specification& specification) {
  const std::filesystem::path path = pretrained_path(specification);
  if (!infer::is_of_run(path)) return {};
  return [path] { return infer::parent_vocabulary(path); };
}

/// Returns a function that fills a new model with the weights that `[model] from` names; an empty function if
/// the experiment has none.
std::function<infer::PretrainedWeights(model::Model&)> pretrained_of(
    const record::Specification& specification) {
  const auto from = specification.data.find(record::pretrained_role);
  if (from == specification.data.end()) return {};
  return [file = from->second](model::Model& model) {
    // Checked a second time: a resumed run skips the first check, and its checkpoint may then be damaged.
    record::require_planned(file, record::pretrained_role, pretrained::sha256_of_content(file.path));
    return infer::is_of_run(file.path) ? infer::load_parent(model, file.path, host_threads())
                                       : infer::load_pretrained(model, file.path);
  };
}

}  // namespace

Session::Session(record::Specification specification, std::filesystem::path run_folder, std::int64_t attempt,
                 const Device& device, const tasks::TokenCache& cache, distributed::Communicator& ranks)
    : ranks_(ranks),
      specification_(std::move(specification)),
      loaded_(infer::load_experiment(require_unchanged(specification_, run_folder))),
      sets_(infer::make_task_parts(loaded_.experiment, loaded_.registry), loaded_.experiment.data,
            infer::content_hashes(specification_)),
      tokenizer_(infer::load_tokenizer(
          loaded_, run_folder, [this](tasks::TextSide side) { return sets_.text_counts(side); },
          inherited_vocabulary(specification_))),
      snapshots_(run_folder, specification_.question, attempt, ranks) {
  const std::span<const std::string> vocabulary = tokenizer().vocabulary();
  encode(cache);
  keep_max_length(run_folder);
  infer::require_selectable(loaded_.experiment.train.select, sets_);
  infer::require_classes_of_parent(specification_, loaded_.experiment, loaded_.registry, sets_.task());
  infer::require_unseen_targets(loaded_.experiment.model, sets_.set(data::Split::train).set);
  keep(run_folder / infer::vocabulary_file, data::vocabulary_text(tokenizer_.lines));
  keep(run_folder / infer::knowledge_file, sets_.task().knowledge());

  const config::Experiment& experiment = loaded_.experiment;
  model_ = std::make_unique<model::Model>(
      experiment, infer::model_size(sets_.task(), vocabulary.size(), tokenizer_.targets), loaded_.registry,
      device);
  infer::require_selectable(experiment.train.select, *model_);
  infer::require_generation(sets_.task(), *model_);
  infer::require_attention(experiment.train, *model_);
  load_teacher();
  optimizer_ = infer::with_key(experiment.optimizer, [&] {
    return loaded_.registry.make_optimizer(experiment.optimizer.type, experiment.optimizer.options);
  });
  schedule_ = infer::with_key(experiment.schedule, [&] {
    const ScheduleContext context{training_length(experiment, sets_, specification_.seed).steps,
                                  experiment.model.width};
    return loaded_.registry.make_schedule(experiment.schedule.type, experiment.schedule.options, context);
  });
}

void Session::encode(const tasks::TokenCache& cache) {
  const std::string encoding =
      infer::encoding_of(loaded_.experiment, loaded_.registry, tokenizer_, specification_);
  const std::string text = record::work_text(
      "encoding", "", loaded_.registry.owner_text(Kind::tokenizer, loaded_.experiment.tokenizer.type));
  const record::CurrentWork work(text.c_str());
  sets_.encode(tokenizer(), host_threads(), cache, encoding);
}

void Session::load_teacher() {
  teacher_ = encore::infer::load_teacher(specification_, model_->device());
  if (!teacher_) return;
  infer::require_same_tokens(*teacher_, loaded_.experiment.tokenizer, tokenizer_.lines);
  infer::require_same_labels(*teacher_, sets_.task().labels());
  infer::learn_from(*model_, *teacher_);
}

/// Writes a file of the run's folder on rank 0 only; the content is the same on all ranks.
void Session::keep(const std::filesystem::path& path, const std::string& content) const {
  if (ranks_.rank() == 0) keep_file(path, content);
}

/// Records the max_length that follows from the training set. A resumed run computes it again from the same
/// data, and must get the same value, because what was trained depends on it.
void Session::keep_max_length(const std::filesystem::path& run_folder) {
  if (loaded_.experiment.data.max_length_percent == 0) return;
  infer::take_max_length(loaded_.experiment, sets_.max_length());
  const std::filesystem::path path = run_folder / infer::max_length_file;
  const std::string text = std::to_string(sets_.max_length()) + "\n";
  if (!std::filesystem::exists(path))
    keep(path, text);
  else if (infer::kept_max_length(run_folder) != sets_.max_length())
    throw Error(path.string() + " holds another length than the " + std::to_string(sets_.max_length()) +
                " that data.max_length is for this training set; put the file back, or train the run again "
                "(exp run FILE --fresh)");
}

TrainerParts Session::parts(Observer& observer, Control& control, Milestones milestones) {
  return {loaded_.experiment,
          specification_.seed,
          sets_,
          *model_,
          *optimizer_,
          *schedule_,
          snapshots_,
          observer,
          control,
          std::move(milestones),
          loaded_.registry.owner_text(Kind::optimizer, loaded_.experiment.optimizer.type),
          pretrained_of(specification_),
          infer::text_generation(sets_.task(), tokenizer()),
          &tokenizer(),
          ranks_,
          specification_.ties};
}

}  // namespace encore::train
