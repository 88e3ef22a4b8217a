// SPDX-License-Identifier: BSD-3-Clause
// Snapshots: writes and reads the checkpoints of a training run: named slices of the parameter and state
// blocks, with Progress in the metadata. Names in the file never change, or old checkpoints become
// unreadable. At the end the checks of planned files and the writing of other files, which Session and
// PretrainedRun call. Read snapshots.hpp first.
#include "train/snapshots.hpp"

#include <vector>

#include <encore/error.hpp>
#include <encore/kernels.hpp>

#include "base/sha256.hpp"
#include "infer/run_weights.hpp"
#include "infer/setup.hpp"
#include "model/load_parameters.hpp"
#include "pretrained/content_hash.hpp"
#include "record/attention.hpp"
#include "record/checkpoint.hpp"
#include "record/weights_file.hpp"
#include "train/host_block.hpp"
#include "train/ranks.hpp"
#include "world/atomic_file.hpp"

namespace encore::train {
namespace {

constexpr const char* parameter_block = "parameter";

/// Returns the name that the file uses for the block of an optimizer state.
std::string state_block(const std::string& name) {
  return "optimizer/" + name;
}

RecordError not_owner(const std::string& reason) {
  return RecordError(reason + "; this attempt ends without a checkpoint");
}

/// Returns the RecordError for a failed write in the run folder. If the run has another owner now, or its
/// folder is gone, that is the reason in the message.
RecordError record_error(Control& control, const std::exception& error) {
  const std::string reason = control.why_not_owner();
  return reason.empty() ? RecordError(error.what()) : not_owner(reason);
}

auto recorded(Control& control, const auto& write) {
  try {
    return write();
  } catch (const Error& error) {
    throw record_error(control, error);
  } catch (const std::filesystem::filesystem_error& error) {
    throw record_error(control, error);
  }
}

/// Appends the parameters of a block as tensors of a file, named prefix + path; they point into `block`.
void add_slices(const model::Model& model, const HostBlock& block, const std::string& prefix,
                std::vector<record::TensorSlice>& slices) {
  for (const memory::ParameterSlice& slice : model.parameters().slices())
    slices.push_back({prefix + slice.path, block.dtype(), slice.spec.shape, block.slice(slice)});
}

void load_block(model::Model& model, const std::string& name, Tensor block, const record::Safetensors& file) {
  tasks::with_file(file.path(), [&] {
    model::require_complete(model::load(model.device(), model.parameters(), block,
                                        model::tensors_below(name + "/", file), model::same_name));
  });
}

void load_parameters(model::Model& model, const record::Safetensors& file) {
  load_block(model, parameter_block, model.parameters().values(), file);
  model.parameters().values_changed();
}

/// Loads an optimizer state. If this rank owns only a part, the whole state is loaded into a temporary block
/// first.
void load_state(model::Model& model, std::size_t number, const record::Safetensors& file) {
  const memory::ParameterBlock& parameters = model.parameters();
  const std::string name = state_block(parameters.state_names()[number]);
  if (parameters.owned().size() == parameters.extent())
    return load_block(model, name, parameters.state(number), file);
  const memory::DeviceBuffer memory("encore::loaded_state", parameters.values().bytes());
  const Tensor whole(memory.data(), parameters.dtype(), {parameters.extent()});
  load_block(model, name, whole, file);
  kernels::copy(model.device(), memory::ParameterBlock::range(whole, parameters.owned()),
                parameters.state(number));
  model.device().fence();
}

}  // namespace

Snapshots::Snapshots(std::filesystem::path run_folder, std::string identity, std::int64_t attempt,
                     distributed::Communicator& ranks)
    : ranks_(ranks), folder_(std::move(run_folder)), identity_(std::move(identity)), attempt_(attempt) {}

void Snapshots::save(const model::Model& model, const record::Progress& progress, const std::string& tuned,
                     record::CheckpointKind kind, Control& control, Observer& observer) {
  const memory::ParameterBlock& parameters = model.parameters();
  std::vector<HostBlock> states;
  for (std::size_t i = 0; i < parameters.state_names().size(); ++i)
    states.push_back(gather_state(ranks_, model, i));
  if (ranks_.rank() != 0) return;
  const HostBlock values(model.device(), parameters.values());
  std::vector<record::TensorSlice> slices;
  add_slices(model, values, std::string(parameter_block) + "/", slices);
  for (std::size_t i = 0; i < states.size(); ++i)
    add_slices(model, states[i], state_block(parameters.state_names()[i]) + "/", slices);
  record::TensorMetadata metadata = {{"format", record::checkpoint_format},
                                     {"question", identity_},
                                     {"attempt", std::to_string(attempt_)},
                                     {"progress", record::progress_to_text(progress)}};
  if (!tuned.empty()) metadata[record::tuned_key] = tuned;
  const record::SavedFile saved = save(progress.step, slices, metadata, control, observer);
  observer.happened(record::Saved{.step = progress.step,
                                  .kind = kind,
                                  .path = record::checkpoint_path(progress.step),
                                  .bytes = static_cast<std::int64_t>(saved.bytes),
                                  .sha256 = saved.sha256});
  std::set<std::int64_t> keep = kept_;
  keep.insert({progress.step, progress.best_step});
  require_owned(control);  // after a pause, this would remove files of the next attempt
  recorded(control, [&] { return record::prune_checkpoints(folder_, keep); });
}

void Snapshots::require_owned(Control& control) const {
  if (const std::string reason = control.why_not_owner(); !reason.empty()) throw not_owner(reason);
}

record::SavedFile Snapshots::save(std::int64_t step, const std::vector<record::TensorSlice>& slices,
                                  const record::TensorMetadata& metadata, Control& control,
                                  Observer& observer) const {
  require_owned(control);  // throws if the folder was removed
  return recorded(control, [&] {
    return record::save_checkpoint(folder_, step, slices, metadata, [&] {
      observer.saving();  // may take a while, so the next check comes right before the rename
      require_owned(control);
    });
  });
}

std::optional<record::FoundCheckpoint> Snapshots::find_newest(Observer& observer) const {
  std::vector<record::DamagedCheckpoint> damaged;
  std::optional<record::FoundCheckpoint> found = record::find_newest_checkpoint(
      folder_, &damaged,
      [&](const record::Safetensors& file) { record::require_checkpoint_of(file, identity_); });
  for (const record::DamagedCheckpoint& checkpoint : damaged)
    observer.happened(record::Logged{.text = checkpoint.file.path + " is skipped: " + checkpoint.reason});
  return found;
}

std::optional<record::Progress> Snapshots::restore_newest(model::Model& model, Observer& observer) {
  constexpr std::int64_t none = -1;
  std::optional<record::FoundCheckpoint> found;
  if (ranks_.rank() == 0) found = find_newest(observer);
  const std::int64_t step = distributed::from_first(ranks_, found ? found->file.step : none);
  if (step == none) return std::nullopt;
  if (!found) found = {{step, record::checkpoint_path(step)}, record::load_checkpoint(folder_, step)};
  load_parameters(model, found->tensors);
  for (std::size_t i = 0; i < model.parameters().state_names().size(); ++i)
    load_state(model, i, found->tensors);
  model.parameters().states_changed();
  return record::progress_from_text(found->tensors.text("progress"));
}

std::string Snapshots::restore_parameters(model::Model& model, std::int64_t step) {
  const record::Safetensors file = record::load_checkpoint(folder_, step);
  record::require_checkpoint_of(file, identity_);
  load_parameters(model, file);
  return record::tuned_in(file);
}

void Snapshots::write_weights(const model::Model& model, std::int64_t step, const std::string& tuned,
                              Control& control, Observer& observer) {
  require_owned(control);  // throws if the folder was removed
  const record::SavedFile saved = recorded(control, [&] {
    std::vector<record::TensorSlice> slices;
    const HostBlock values(model.device(), model.parameters().values());
    add_slices(model, values, "", slices);
    const record::WeightsFacts facts{
        .question = identity_, .step = step, .tuned = tuned, .files = infer::digests_of_meaning(folder_)};
    return record::save_weights(folder_, slices, facts, host_threads(), [&] { require_owned(control); });
  });
  observer.happened(record::Wrote{.name = "weights", .path = record::weights_file, .sha256 = saved.sha256});
}

Records Snapshots::write_predictions(const tasks::TaskSets& sets, data::Split split, const Outputs& outputs,
                                     const Statistics& statistics, Control& control, Observer& observer) {
  const std::string name = std::string("predictions/") + data::name_of(split) + ".jsonl";
  require_owned(control);  // throws if the folder was removed
  Records predicted = recorded(control, [&] {
    std::filesystem::create_directory(folder_ / "predictions");
    return sets.save_predictions(split, outputs, statistics, folder_ / name);
  });
  observer.happened(record::Wrote{.name = name, .path = name, .sha256 = sha256_of_file(folder_ / name)});
  return predicted;
}

void Snapshots::write_file(const std::string& artifact, const std::string& file, const std::string& content,
                           Control& control, Observer& observer) {
  require_owned(control);  // throws if the folder was removed
  recorded(control, [&] { world::save_file(folder_ / file, content); });
  observer.happened(record::Wrote{.name = artifact, .path = file, .sha256 = sha256_of_file(folder_ / file)});
}

// --- the other files of a run ---

const record::Specification& require_unchanged(const record::Specification& specification,
                                               const std::filesystem::path& run_folder) {
  const bool goes_on =
      specification.data.contains(record::pretrained_role) && !record::list_checkpoints(run_folder).empty();
  for (const auto& [role, file] : specification.data)
    if (!goes_on || (role != record::pretrained_role && role != "vocab"))
      record::require_planned(file, role, pretrained::sha256_of_content(file.path));
  return specification;
}

void keep_file(const std::filesystem::path& path, const std::string& content) {
  try {
    world::save_file(path, content);
  } catch (const Error& error) {
    throw RecordError(error.what());
  }
}

}  // namespace encore::train
