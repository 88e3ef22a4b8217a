// SPDX-License-Identifier: BSD-3-Clause
// Checkpoints in the run folder: their file names, the one to resume from, and which ones may be removed.
// Place in the flow: the trainer writes their content (train/) through save_checkpoint; runner/ and the
// worker find the newest valid one. Damaged files are skipped. Names and metadata are stored, so they do not
// change: old runs must resume. Read next: safetensors.hpp.
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

namespace encore::record {

/// Returns "checkpoints/step-00000123.safetensors", relative to the run folder.
std::string checkpoint_path(std::int64_t step);

struct CheckpointFile {
  std::int64_t step = 0;
  std::string path;  ///< relative to the run folder
};

/// Returns every finished checkpoint file in the folder, by rising step.
std::vector<CheckpointFile> list_checkpoints(const std::filesystem::path& run_folder);

/// Writes checkpoint_path(step), atomically and durably. `before_rename` is where the lease is checked.
SavedFile save_checkpoint(const std::filesystem::path& run_folder, std::int64_t step,
                          const std::vector<TensorSlice>& tensors, const TensorMetadata& metadata,
                          const std::function<void()>& before_rename = {});

/// Returns SHA-256 by path, from the events Saved in the folder's spools. A later record replaces an earlier
/// one.
std::map<std::string, std::string> recorded_checkpoints(const std::filesystem::path& run_folder);

struct FoundCheckpoint {
  CheckpointFile file;
  Safetensors tensors;
};

/// A checkpoint that was skipped on the way to a valid one.
struct DamagedCheckpoint {
  CheckpointFile file;
  std::string reason;
};

/// Returns the valid checkpoint with the highest step: its SHA-256 is the recorded one if there is one,
/// otherwise its structure is sound. `acceptable`, if given, throws Error for a checkpoint that is valid but
/// of no use (such as one of a run with other settings), which then counts as damaged.
std::optional<FoundCheckpoint> find_newest_checkpoint(
    const std::filesystem::path& run_folder, std::vector<DamagedCheckpoint>* damaged = nullptr,
    const std::function<void(const Safetensors&)>& acceptable = {});

/// Opens one checkpoint, such as the best one, with the same checks. Throws Error.
Safetensors load_checkpoint(const std::filesystem::path& run_folder, std::int64_t step);

/// The format name in a checkpoint's metadata.
inline constexpr const char* checkpoint_format = "encore checkpoint 1";

/// The key in a checkpoint's metadata under which the text of Task::tune is stored, if the task chose
/// something for these parameters.
inline constexpr const char* tuned_key = "tuned";
/// Returns the text of Task::tune in a checkpoint, or "" if there is none.
std::string tuned_in(const Safetensors& file);

/// Throws Error if the file is not a checkpoint, or belongs to a run with another question (identity of
/// settings, data and seed).
void require_checkpoint_of(const Safetensors& file, const std::string& question);

/// Removes every checkpoint whose step is not in `keep`, and the leftovers of unfinished writes. Returns the
/// removed steps. Call it after the newer checkpoint was recorded and the spool synced: before that the older
/// one is the only proof.
std::vector<std::int64_t> prune_checkpoints(const std::filesystem::path& run_folder,
                                            const std::set<std::int64_t>& keep);

}  // namespace encore::record
