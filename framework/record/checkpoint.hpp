// Checkpoints: where they lie in the run folder, which one to go on from, which ones may go.
// The content is the trainer's; here are names, the walk back over damaged files, and retention.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "record/safetensors.hpp"

namespace encore {

/// "checkpoints/step-00000123.safetensors", relative to the run folder.
std::string checkpoint_path(std::int64_t step);

struct CheckpointFile {
  std::int64_t step = 0;
  std::string path;  ///< relative to the run folder
};

/// Every finished checkpoint file in the folder, by rising step.
std::vector<CheckpointFile> list_checkpoints(const std::filesystem::path& run_folder);

/// Writes checkpoint_path(step), atomically and durably. `before_rename` is where the lease is checked.
SavedFile save_checkpoint(const std::filesystem::path& run_folder, std::int64_t step,
                          const std::vector<TensorSlice>& tensors, const TensorMetadata& metadata,
                          const std::function<void()>& before_rename = {});

/// SHA-256 by path, as the events Saved in the folder's spools say; a later record replaces an earlier
/// one.
std::map<std::string, std::string> recorded_checkpoints(const std::filesystem::path& run_folder);

struct FoundCheckpoint {
  CheckpointFile file;
  Safetensors tensors;
};

/// What was passed over on the way to a valid checkpoint.
struct DamagedCheckpoint {
  CheckpointFile file;
  std::string reason;
};

/// The checkpoint with the highest step that is whole: with the recorded SHA-256 where one is known, of sound
/// structure otherwise. `acceptable`, if given, throws Error for a checkpoint that is whole but of no use
/// (another question, say), which then counts as damaged.
std::optional<FoundCheckpoint> find_newest_checkpoint(
    const std::filesystem::path& run_folder, std::vector<DamagedCheckpoint>* damaged = nullptr,
    const std::function<void(const Safetensors&)>& acceptable = {});

/// Opens one checkpoint (the best one, say), with the same checks. Throws Error.
Safetensors load_checkpoint(const std::filesystem::path& run_folder, std::int64_t step);

/// The format that a checkpoint's metadata name.
inline constexpr const char* checkpoint_format = "encore checkpoint 1";

/// In a checkpoint's metadata: what the task chose by these parameters on the development set (Task::tune),
/// where it was asked at this step and chose something.
inline constexpr const char* tuned_key = "tuned";
/// "" where there is none.
std::string tuned_in(const Safetensors& file);

/// Throws Error where the file is no checkpoint, or one of a run with another question.
void require_checkpoint_of(const Safetensors& file, const std::string& question);

/// Removes every checkpoint whose step is not in `keep`, and what unfinished writes left; returns the steps
/// removed. To be called after the newer checkpoint was recorded and the spool synced: before that the older
/// is the only proof.
std::vector<std::int64_t> prune_checkpoints(const std::filesystem::path& run_folder,
                                            const std::set<std::int64_t>& keep);

}  // namespace encore
