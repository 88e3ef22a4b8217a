// Checkpoints of a training run: named slices of the blocks, Progress in the metadata.
#include "train/snapshots.hpp"

#include <vector>

#include <encore/error.hpp>

#include "data/hash.hpp"
#include "record/checkpoint.hpp"

namespace encore {
namespace {

constexpr const char* format = "encore checkpoint 1";

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

void require_same_question(const Safetensors& file, const std::string& identity) {
  if (file.text("format") != format) throw Error("it is no checkpoint of this version of Encore");
  if (file.text("question") != identity)
    throw Error("it belongs to another experiment (question " + file.text("question") + ")");
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

void load_block(Model& model, const NamedBlock& named, const Safetensors& file) {
  for (const ParameterSlice& slice : model.parameters().slices()) {
    const auto& entry = file.tensor(named.name + "/" + slice.path, named.block.dtype, slice.spec.shape);
    copy_from_host(model.device(), entry.bytes.data(), ParameterBlock::slice(named.block, slice));
  }
  model.parameters().values_changed();
}

}  // namespace

Snapshots::Snapshots(std::filesystem::path run_folder, std::string identity, std::int64_t attempt)
    : folder_(std::move(run_folder)), identity_(std::move(identity)), attempt_(attempt) {}

void Snapshots::save(const Model& model, const Progress& progress, CheckpointKind kind, Control& control,
                     Observer& observer) {
  const ParameterBlock& parameters = model.parameters();
  std::vector<std::vector<std::byte>> hosts;
  std::vector<TensorSlice> slices;
  for (const NamedBlock& named : blocks_of(parameters)) {
    std::vector<std::byte>& host = hosts.emplace_back(named.block.bytes());
    copy_to_host(model.device(), named.block, host.data());
    const std::size_t element = size_of(named.block.dtype);
    for (const ParameterSlice& slice : parameters.slices())
      slices.push_back({named.name + "/" + slice.path, named.block.dtype, slice.spec.shape,
                        std::span(host).subspan(static_cast<std::size_t>(slice.begin) * element,
                                                static_cast<std::size_t>(slice.size) * element)});
  }
  const TensorMetadata metadata = {{"format", format},
                                   {"question", identity_},
                                   {"attempt", std::to_string(attempt_)},
                                   {"progress", progress_to_text(progress)}};
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
      folder_, &damaged, [&](const Safetensors& file) { require_same_question(file, identity_); });
  for (const DamagedCheckpoint& checkpoint : damaged)
    observer.happened(Logged{.text = checkpoint.file.path + " is passed over: " + checkpoint.reason});
  if (!found) return std::nullopt;
  for (const NamedBlock& named : blocks_of(model.parameters())) load_block(model, named, found->tensors);
  model.parameters().states_changed();
  return progress_from_text(found->tensors.text("progress"));
}

void Snapshots::restore_parameters(Model& model, std::int64_t step) {
  const Safetensors file = load_checkpoint(folder_, step);
  require_same_question(file, identity_);
  load_block(model, {"parameter", model.parameters().values()}, file);
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

std::int64_t restore_best(const std::filesystem::path& run_folder, Model& model) {
  std::vector<DamagedCheckpoint> damaged;
  const std::optional<FoundCheckpoint> newest = find_newest_checkpoint(run_folder, &damaged);
  if (!newest && damaged.empty())
    throw Error(run_folder.string() + " holds no checkpoint yet; let the run finish its first epoch");
  if (!newest)
    throw Error("no checkpoint in " + run_folder.string() + " is whole: " + damaged.front().reason +
                "; put the file back, or train the run again (exp run FILE --fresh)");
  const Progress progress = progress_from_text(newest->tensors.text("progress"));
  const std::int64_t step = progress.best_step > 0 ? progress.best_step : progress.step;
  const Safetensors file = load_checkpoint(run_folder, step);
  load_block(model, {"parameter", model.parameters().values()}, file);
  return step;
}

}  // namespace encore
