// SPDX-License-Identifier: BSD-3-Clause
// Implements RunWeights: finds and loads the weights of a run, for Engine. It compares digests before a
// parameter is used: those inside the weights file, or for a checkpoint those in the spools. A damaged
// weights file is skipped with a note; parameters are never used unchecked. Read run_weights.hpp first.
#include "infer/run_weights.hpp"

#include <encore/error.hpp>

#include "base/sha256.hpp"
#include "infer/integer_weights.hpp"
#include "infer/setup.hpp"
#include "model/load_parameters.hpp"
#include "record/checkpoint.hpp"
#include "record/progress.hpp"
#include "tasks/task_sets.hpp"

namespace encore::infer {
namespace {

/// Returns whether `exp quantize` writes the file; the others come from training.
bool of_integers(Weights which) {
  return which == Weights::int8 || which == Weights::int4;
}
const char* file_of(Weights which) {
  return which == Weights::int8   ? record::int8_weights_file
         : which == Weights::int4 ? record::int4_weights_file
                                  : record::weights_file;
}
std::string integers_remedy(Weights which) {
  return which == Weights::int4 ? "; exp quantize --bits 4 writes it again"
                                : "; exp quantize writes it again";
}
constexpr const char* remedy = "; put the file back, or train the run again (exp run FILE --fresh)";

}  // namespace

record::DigestsByName digests_of_meaning(const std::filesystem::path& run_folder) {
  record::DigestsByName digests;
  for (const char* file : meaning_files)
    if (std::filesystem::exists(run_folder / file)) digests[file] = sha256_of_file(run_folder / file);
  return digests;
}

RunWeights::RunWeights(std::filesystem::path run_folder, std::string question, Weights which)
    : folder_(std::move(run_folder)), question_(std::move(question)), which_(which) {
  const bool integers = of_integers(which);
  const char* const name = file_of(which);
  if (!std::filesystem::exists(folder_ / name)) {
    if (integers) throw Error((folder_ / name).string() + " is missing" + integers_remedy(which));
    return;
  }
  try {
    file_.emplace(folder_, name);
  } catch (const Error& error) {
    if (integers) throw Error(error.what() + integers_remedy(which));
    damage_ = error.what();
    return;
  }
  require_of_this_run();
}

void RunWeights::require_of_this_run() const {
  const std::string path = file_->tensors().path().string();
  if (file_->facts().question != question_)
    throw Error(path + " belongs to another experiment (question " + file_->facts().question + ")" +
                (of_integers(which_)
                     ? integers_remedy(which_)
                     : "; put the run's own file back, or remove it: then the best checkpoint is used"));
  if (!of_integers(which_) || !std::filesystem::exists(folder_ / record::weights_file)) return;
  if (record::digest_of(record::WeightsFile(folder_).facts().tensors) != file_->facts().made_from)
    throw Error(path + " was made from other weights than the run has now" + integers_remedy(which_));
}

void RunWeights::require_file(const std::string& name) const {
  if (!file_) return;
  const record::DigestsByName& digests = file_->facts().files;
  const auto known = digests.find(name);
  if (known != digests.end() && sha256_of_file(folder_ / name) != known->second)
    throw Error((folder_ / name).string() +
                " has changed since the run ended: its SHA-256 is not the one in " + record::weights_file +
                ", and its lines give rows of the parameters their meaning" + remedy);
}

std::int64_t RunWeights::load_into(model::Model& model, int threads) {
  if (of_integers(which_)) return load_integers_file(model, threads);
  try {
    if (file_) file_->require_whole(threads);
  } catch (const Error& error) {
    damage_ = error.what();
  }
  if (file_ && damage_.empty()) return load_file(model);
  const std::int64_t step = load_best_checkpoint(model);
  if (!damage_.empty())
    notes_.push_back(damage_ + "; using the best checkpoint, that of step " + std::to_string(step) +
                     ", in its place");
  return step;
}

std::string RunWeights::digest() const {
  if (!checkpoint_step_) return record::digest_of(file_->facts().tensors);
  record::DigestsByName digests;
  const record::Safetensors file = record::load_checkpoint(folder_, *checkpoint_step_);
  for (const auto& [name, tensor] : model::tensors_below("parameter/", file)) {
    Sha256 hash;
    hash.add(tensor.bytes);
    digests[name] = hash.hex();
  }
  return record::digest_of(digests);
}

std::int64_t RunWeights::load_integers_file(model::Model& model, int threads) {
  try {
    file_->require_whole(threads);
  } catch (const Error& error) {
    throw Error(error.what() + integers_remedy(which_));
  }
  tasks::with_file(file_->tensors().path(), [&] { load_integer_weights(model, *file_); });
  tuned_ = file_->facts().tuned;
  return file_->facts().step;
}

std::int64_t RunWeights::load_file(model::Model& model) {
  const record::Safetensors& tensors = file_->tensors();
  memory::ParameterBlock& parameters = model.parameters();
  tasks::with_file(tensors.path(), [&] {
    model::require_complete(
        which_ == Weights::copied
            ? model::load(model.device(), parameters, parameters.values(), tensors.tensors(),
                          model::same_name)
            : model::load_in_place(model.device(), parameters, tensors.tensors(), model::same_name));
  });
  model.parameters().values_changed();
  tuned_ = file_->facts().tuned;
  return file_->facts().step;
}

std::int64_t RunWeights::load_best_checkpoint(model::Model& model) {
  const auto of_this_run = [&](const record::Safetensors& file) {
    record::require_checkpoint_of(file, question_);
  };
  const std::string before = damage_.empty() ? "" : damage_ + "; and ";
  std::vector<record::DamagedCheckpoint> damaged;
  std::optional<record::FoundCheckpoint> found =
      record::find_newest_checkpoint(folder_, &damaged, of_this_run);
  if (!found && !damaged.empty())
    throw Error(before + "no checkpoint in " + folder_.string() + " is whole: " + damaged.front().reason +
                remedy);
  if (!found)
    throw Error(before + folder_.string() + " holds no checkpoint" +
                (damage_.empty() ? " yet; let the run finish its first epoch" : remedy));
  const record::Progress progress = record::progress_from_text(found->tensors.text("progress"));
  const std::int64_t step = progress.best_step > 0 ? progress.best_step : progress.step;
  record::Safetensors& file = found->tensors;
  if (step != found->file.step) file = record::load_checkpoint(folder_, step);
  tasks::with_file(file.path(), [&] { of_this_run(file); });
  memory::ParameterBlock& parameters = model.parameters();
  const auto saved = model::tensors_below("parameter/", file);
  tasks::with_file(file.path(), [&] {
    model::require_complete(
        model::load(model.device(), parameters, parameters.values(), saved, model::same_name));
  });
  parameters.values_changed();
  checkpoint_step_ = step;
  tuned_ = record::tuned_in(file);
  return step;
}

}  // namespace encore::infer
