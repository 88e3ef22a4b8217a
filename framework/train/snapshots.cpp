// Checkpoints of a training run: named slices of the blocks, Progress in the metadata.
#include "train/snapshots.hpp"

#include <vector>

#include <encore/error.hpp>

#include "data/hash.hpp"
#include "infer/run_weights.hpp"
#include "infer/setup.hpp"
#include "model/load_parameters.hpp"
#include "record/atomic_file.hpp"
#include "record/attention.hpp"
#include "record/checkpoint.hpp"
#include "record/weights_file.hpp"

namespace encore {
namespace {

/// A block's name in the file, "parameter" or "optimizer/<state>", and the block.
struct NamedBlock {
  std::string name;
  Tensor block;
};

std::vector<NamedBlock> blocks_of(const ParameterBlock& parameters) {
  std::vector<NamedBlock> blocks = {{"parameter", parameters.values()}};
  for (std::size_t i = 0; i < parameters.state_names().size(); ++i)
    blocks.push_back({"optimizer/" + parameters.state_names()[i], parameters.state(i)});
  return blocks;
}

RecordError not_owner(const std::string& reason) {
  return RecordError(reason + "; this attempt ends without a checkpoint");
}

/// What fails in the run folder is nothing against the experiment. Where the run has another owner meanwhile,
/// or its folder is gone, that is why.
auto recorded(Control& control, const auto& write) {
  try {
    return write();
  } catch (const Error& error) {
    if (const std::string reason = control.why_not_owner(); !reason.empty()) throw not_owner(reason);
    throw RecordError(error.what());
  }
}

/// A block's slices as tensors of a file, named prefix + path; they point into the memory that is returned.
std::vector<std::byte> add_slices(const Model& model, Tensor block, const std::string& prefix,
                                  std::vector<TensorSlice>& slices) {
  std::vector<std::byte> host(block.bytes());
  copy_to_host(model.device(), block, host.data());
  const std::size_t element = size_of(block.dtype);
  for (const ParameterSlice& slice : model.parameters().slices())
    slices.push_back({prefix + slice.path, block.dtype, slice.spec.shape,
                      std::span(host).subspan(static_cast<std::size_t>(slice.begin) * element,
                                              static_cast<std::size_t>(slice.size) * element)});
  return host;
}

void load_block(Model& model, const NamedBlock& named, const Safetensors& file) {
  with_file(file.path(), [&] {
    require_complete(load(model.device(), model.parameters(), named.block,
                          tensors_below(named.name + "/", file), same_name));
  });
  model.parameters().values_changed();
}

}  // namespace

Snapshots::Snapshots(std::filesystem::path run_folder, std::string identity, std::int64_t attempt)
    : folder_(std::move(run_folder)), identity_(std::move(identity)), attempt_(attempt) {}

void Snapshots::save(const Model& model, const Progress& progress, const std::string& tuned,
                     CheckpointKind kind, Control& control, Observer& observer) {
  const ParameterBlock& parameters = model.parameters();
  std::vector<std::vector<std::byte>> hosts;
  std::vector<TensorSlice> slices;
  for (const NamedBlock& named : blocks_of(parameters))
    hosts.push_back(add_slices(model, named.block, named.name + "/", slices));
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
  require_owned(control);  // whoever slept since the rename would remove those of its successor
  recorded(control, [&] { return prune_checkpoints(folder_, keep); });
}

void Snapshots::require_owned(Control& control) const {
  if (const std::string reason = control.why_not_owner(); !reason.empty()) throw not_owner(reason);
}

SavedFile Snapshots::save(std::int64_t step, const std::vector<TensorSlice>& slices,
                          const TensorMetadata& metadata, Control& control, Observer& observer) const {
  require_owned(control);  // a folder that was removed is not made again
  return recorded(control, [&] {
    return save_checkpoint(folder_, step, slices, metadata, [&] {
      observer.saving();  // may take its time: the question comes right before the rename
      require_owned(control);
    });
  });
}

std::optional<Progress> Snapshots::restore_newest(Model& model, Observer& observer) {
  std::vector<DamagedCheckpoint> damaged;
  const std::optional<FoundCheckpoint> found = find_newest_checkpoint(
      folder_, &damaged, [&](const Safetensors& file) { require_checkpoint_of(file, identity_); });
  for (const DamagedCheckpoint& checkpoint : damaged)
    observer.happened(Logged{.text = checkpoint.file.path + " is passed over: " + checkpoint.reason});
  if (!found) return std::nullopt;
  for (const NamedBlock& named : blocks_of(model.parameters())) load_block(model, named, found->tensors);
  model.parameters().states_changed();
  return progress_from_text(found->tensors.text("progress"));
}

std::string Snapshots::restore_parameters(Model& model, std::int64_t step) {
  const Safetensors file = load_checkpoint(folder_, step);
  require_checkpoint_of(file, identity_);
  load_block(model, {"parameter", model.parameters().values()}, file);
  return tuned_in(file);
}

void Snapshots::write_weights(const Model& model, std::int64_t step, const std::string& tuned,
                              Control& control, Observer& observer) {
  require_owned(control);  // a folder that was removed is not made again
  const SavedFile saved = recorded(control, [&] {
    std::vector<TensorSlice> slices;
    const std::vector<std::byte> host = add_slices(model, model.parameters().values(), "", slices);
    const WeightsFacts facts{
        .question = identity_, .step = step, .tuned = tuned, .files = digests_of_meaning(folder_)};
    return save_weights(folder_, slices, facts, host_threads(), [&] { require_owned(control); });
  });
  observer.happened(Wrote{.name = "weights", .path = weights_file, .sha256 = saved.sha256});
}

void Snapshots::write_predictions(const TaskSets& sets, Split split, const Outputs& outputs,
                                  const Statistics& statistics, Control& control, Observer& observer) {
  const std::string name = std::string("predictions/") + name_of(split) + ".jsonl";
  require_owned(control);  // a folder that was removed is not made again
  recorded(control, [&] {
    std::filesystem::create_directory(folder_ / "predictions");
    sets.save_predictions(split, outputs, statistics, folder_ / name);
  });
  observer.happened(Wrote{.name = name, .path = name, .sha256 = sha256_of_file(folder_ / name)});
}

void Snapshots::write_attention(const std::string& content, Control& control, Observer& observer) {
  require_owned(control);  // a folder that was removed is not made again
  recorded(control, [&] { save_file(folder_ / attention_file, content); });
  observer.happened(Wrote{.name = attention_artifact,
                          .path = attention_file,
                          .sha256 = sha256_of_file(folder_ / attention_file)});
}

}  // namespace encore
