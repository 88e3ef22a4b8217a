// SPDX-License-Identifier: BSD-3-Clause
// Snapshots: writes and reads the checkpoints of a training run: named slices of the parameter and state
// blocks, with Progress in the metadata. Names in the file never change, or old checkpoints become
// unreadable. Read snapshots.hpp first.
#include "train/snapshots.hpp"

#include <vector>

#include <encore/error.hpp>
#include <encore/kernels.hpp>

#include "base/sha256.hpp"
#include "infer/run_weights.hpp"
#include "infer/setup.hpp"
#include "model/load_parameters.hpp"
#include "record/attention.hpp"
#include "record/checkpoint.hpp"
#include "record/weights_file.hpp"
#include "train/host_block.hpp"
#include "train/ranks.hpp"
#include "world/atomic_file.hpp"

namespace encore {
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
void add_slices(const Model& model, const HostBlock& block, const std::string& prefix,
                std::vector<TensorSlice>& slices) {
  for (const ParameterSlice& slice : model.parameters().slices())
    slices.push_back({prefix + slice.path, block.dtype(), slice.spec.shape, block.slice(slice)});
}

void load_block(Model& model, const std::string& name, Tensor block, const Safetensors& file) {
  with_file(file.path(), [&] {
    require_complete(
        load(model.device(), model.parameters(), block, tensors_below(name + "/", file), same_name));
  });
}

void load_parameters(Model& model, const Safetensors& file) {
  load_block(model, parameter_block, model.parameters().values(), file);
  model.parameters().values_changed();
}

/// Loads an optimizer state. If this rank owns only a part, the whole state is loaded into a temporary block
/// first.
void load_state(Model& model, std::size_t number, const Safetensors& file) {
  const ParameterBlock& parameters = model.parameters();
  const std::string name = state_block(parameters.state_names()[number]);
  if (parameters.owned().size() == parameters.extent())
    return load_block(model, name, parameters.state(number), file);
  const DeviceBuffer memory("encore::loaded_state", parameters.values().bytes());
  const Tensor whole(memory.data(), parameters.dtype(), {parameters.extent()});
  load_block(model, name, whole, file);
  kernels::copy(model.device(), ParameterBlock::range(whole, parameters.owned()), parameters.state(number));
  model.device().fence();
}

}  // namespace

Snapshots::Snapshots(std::filesystem::path run_folder, std::string identity, std::int64_t attempt,
                     Communicator& ranks)
    : ranks_(ranks), folder_(std::move(run_folder)), identity_(std::move(identity)), attempt_(attempt) {}

void Snapshots::save(const Model& model, const Progress& progress, const std::string& tuned,
                     CheckpointKind kind, Control& control, Observer& observer) {
  const ParameterBlock& parameters = model.parameters();
  std::vector<HostBlock> states;
  for (std::size_t i = 0; i < parameters.state_names().size(); ++i)
    states.push_back(gather_state(ranks_, model, i));
  if (ranks_.rank() != 0) return;
  const HostBlock values(model.device(), parameters.values());
  std::vector<TensorSlice> slices;
  add_slices(model, values, std::string(parameter_block) + "/", slices);
  for (std::size_t i = 0; i < states.size(); ++i)
    add_slices(model, states[i], state_block(parameters.state_names()[i]) + "/", slices);
  TensorMetadata metadata = {{"format", checkpoint_format},
                             {"question", identity_},
                             {"attempt", std::to_string(attempt_)},
                             {"progress", progress_to_text(progress)}};
  if (!tuned.empty()) metadata[tuned_key] = tuned;
  const SavedFile saved = save(progress.step, slices, metadata, control, observer);
  observer.happened(Saved{.step = progress.step,
                          .kind = kind,
                          .path = checkpoint_path(progress.step),
                          .bytes = static_cast<std::int64_t>(saved.bytes),
                          .sha256 = saved.sha256});
  std::set<std::int64_t> keep = kept_;
  keep.insert({progress.step, progress.best_step});
  require_owned(control);  // after a pause, this would remove files of the next attempt
  recorded(control, [&] { return prune_checkpoints(folder_, keep); });
}

void Snapshots::require_owned(Control& control) const {
  if (const std::string reason = control.why_not_owner(); !reason.empty()) throw not_owner(reason);
}

SavedFile Snapshots::save(std::int64_t step, const std::vector<TensorSlice>& slices,
                          const TensorMetadata& metadata, Control& control, Observer& observer) const {
  require_owned(control);  // throws if the folder was removed
  return recorded(control, [&] {
    return save_checkpoint(folder_, step, slices, metadata, [&] {
      observer.saving();  // may take a while, so the next check comes right before the rename
      require_owned(control);
    });
  });
}

std::optional<FoundCheckpoint> Snapshots::find_newest(Observer& observer) const {
  std::vector<DamagedCheckpoint> damaged;
  std::optional<FoundCheckpoint> found = find_newest_checkpoint(
      folder_, &damaged, [&](const Safetensors& file) { require_checkpoint_of(file, identity_); });
  for (const DamagedCheckpoint& checkpoint : damaged)
    observer.happened(Logged{.text = checkpoint.file.path + " is skipped: " + checkpoint.reason});
  return found;
}

std::optional<Progress> Snapshots::restore_newest(Model& model, Observer& observer) {
  constexpr std::int64_t none = -1;
  std::optional<FoundCheckpoint> found;
  if (ranks_.rank() == 0) found = find_newest(observer);
  const std::int64_t step = from_first(ranks_, found ? found->file.step : none);
  if (step == none) return std::nullopt;
  if (!found) found = {{step, checkpoint_path(step)}, load_checkpoint(folder_, step)};
  load_parameters(model, found->tensors);
  for (std::size_t i = 0; i < model.parameters().state_names().size(); ++i)
    load_state(model, i, found->tensors);
  model.parameters().states_changed();
  return progress_from_text(found->tensors.text("progress"));
}

std::string Snapshots::restore_parameters(Model& model, std::int64_t step) {
  const Safetensors file = load_checkpoint(folder_, step);
  require_checkpoint_of(file, identity_);
  load_parameters(model, file);
  return tuned_in(file);
}

void Snapshots::write_weights(const Model& model, std::int64_t step, const std::string& tuned,
                              Control& control, Observer& observer) {
  require_owned(control);  // throws if the folder was removed
  const SavedFile saved = recorded(control, [&] {
    std::vector<TensorSlice> slices;
    const HostBlock values(model.device(), model.parameters().values());
    add_slices(model, values, "", slices);
    const WeightsFacts facts{
        .question = identity_, .step = step, .tuned = tuned, .files = digests_of_meaning(folder_)};
    return save_weights(folder_, slices, facts, host_threads(), [&] { require_owned(control); });
  });
  observer.happened(Wrote{.name = "weights", .path = weights_file, .sha256 = saved.sha256});
}

Records Snapshots::write_predictions(const TaskSets& sets, Split split, const Outputs& outputs,
                                     const Statistics& statistics, Control& control, Observer& observer) {
  const std::string name = std::string("predictions/") + name_of(split) + ".jsonl";
  require_owned(control);  // throws if the folder was removed
  Records predicted = recorded(control, [&] {
    std::filesystem::create_directory(folder_ / "predictions");
    return sets.save_predictions(split, outputs, statistics, folder_ / name);
  });
  observer.happened(Wrote{.name = name, .path = name, .sha256 = sha256_of_file(folder_ / name)});
  return predicted;
}

void Snapshots::write_file(const std::string& artifact, const std::string& file, const std::string& content,
                           Control& control, Observer& observer) {
  require_owned(control);  // throws if the folder was removed
  recorded(control, [&] { save_file(folder_ / file, content); });
  observer.happened(Wrote{.name = artifact, .path = file, .sha256 = sha256_of_file(folder_ / file)});
}

}  // namespace encore
