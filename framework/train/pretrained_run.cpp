// SPDX-License-Identifier: BSD-3-Clause
// PretrainedRun: makes a run from the folder of a foreign model without training. The constructor follows the
// order of Session, conclude() that of Trainer, without the steps that need data; change them together. Read
// pretrained_run.hpp first.
#include "train/pretrained_run.hpp"

#include <optional>

#include <nlohmann/json.hpp>

#include <encore/adopts_fields.hpp>

#include "data/vocabulary.hpp"
#include "infer/pretrained_weights.hpp"
#include "pretrained/hugging_face_folder.hpp"
#include "train/host_block.hpp"
#include "train/snapshots.hpp"

namespace encore::train {
namespace {

std::filesystem::path folder_of(const record::Specification& specification) {
  const auto folder = specification.data.find(record::pretrained_role);
  ENCORE_REQUIRE(folder != specification.data.end(), "a run without an epoch has a folder to start from");
  return folder->second.path;
}

/// Throws Error if the head has parameters that the folder lacks.
void require_whole(const infer::PretrainedWeights& weights, const std::filesystem::path& folder) {
  if (weights.fresh.empty()) return;
  std::string list;
  for (const std::string& path : weights.fresh) list += (list.empty() ? "" : ", ") + path;
  throw Error((folder / pretrained::tensors_file).string() + " has no tensor for " + list +
              ", so that these would be random numbers; train the model (train.epochs), or import the folder "
              "for another task (exp import --task)");
}

/// Returns the records that `reader` makes of a file without lines, for the names of their fields; nothing if
/// the reader refuses such a file.
std::optional<Records> empty_questions(const Reader& reader) {
  try {
    return reader.read_questions({.name = "no file", .text = ""});
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace

void adopt_model(tasks::TaskParts& parts, const record::Specification& specification) {
  const std::filesystem::path folder = folder_of(specification);
  const pretrained::HuggingFaceFolder model = pretrained::open_hugging_face_folder(folder);
  try {
    parts.task->adopt(model.classes);
  } catch (const Error& error) {
    throw Error((folder / pretrained::config_file).string() + ": " + error.what());
  }
  if (auto* task = dynamic_cast<AdoptsFields*>(parts.task.get()); task != nullptr)
    if (const std::optional<Records> questions = empty_questions(*parts.reader))
      task->adopt_fields(*questions);
}

PretrainedRun::PretrainedRun(record::Specification specification, std::filesystem::path run_folder,
                             std::int64_t attempt, const Device& device)
    : specification_(std::move(specification)),
      run_folder_(std::move(run_folder)),
      loaded_(infer::load_experiment(require_unchanged(specification_, run_folder_))),
      parts_(infer::make_task_parts(loaded_.experiment, loaded_.registry)),
      tokenizer_(infer::load_tokenizer(loaded_, run_folder_,
                                       [](tasks::TextSide) -> TextCounts {
                                         throw Error(
                                             "a tokenizer cannot be trained in a run without training");
                                       })),
      snapshots_(run_folder_, specification_.question, attempt, distributed::only_rank()) {
  adopt_model(parts_, specification_);
  model_ = std::make_unique<model::Model>(loaded_.experiment,
                                          infer::model_size(*parts_.task, tokenizer().vocabulary().size()),
                                          loaded_.registry, device);
  const infer::PretrainedWeights weights = infer::load_pretrained(*model_, folder_of(specification_));
  require_whole(weights, folder_of(specification_));
  note_ = weights.note;
}

record::Ending PretrainedRun::conclude(Observer& observer, Control& control) {
  keep_file(run_folder_ / infer::vocabulary_file, data::vocabulary_text(tokenizer_.lines));
  keep_file(run_folder_ / infer::knowledge_file, parts_.task->knowledge());
  observer.happened(record::Logged{.text = note_});
  for (const record::Digested& digest : digest_blocks(*model_, 0, true, distributed::only_rank()))
    observer.happened(digest);
  snapshots_.write_weights(*model_, 0, {}, control, observer);
  observer.happened(record::Concluded{});
  observer.happened(record::Ended{.ending = record::Ending::completed, .step = 0});
  return record::Ending::completed;
}

}  // namespace encore::train
