// SPDX-License-Identifier: BSD-3-Clause
// The files of a run. Snapshots saves and restores its checkpoints: parameters, optimizer states and Progress
// after one step. Trainer -> Snapshots -> record/checkpoint (files, hashes, validity). Two are kept, the best
// and the newest, and those of keep(); an older one is removed only after the newer one is recorded durably.
// With several ranks, rank 0 writes and all read; all ranks must call save and restore_newest.
// require_unchanged() and keep_file() are for Session and PretrainedRun, which check the planned files and
// write vocabulary and labels before anything else. Names of files and of tensors are stored and must stay.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>

#include "distributed/communicator.hpp"
#include "model/model.hpp"
#include "record/checkpoint.hpp"
#include "record/progress.hpp"
#include "record/safetensors.hpp"
#include "record/specification.hpp"
#include "tasks/task_sets.hpp"
#include "train/control.hpp"
#include "train/observer.hpp"

namespace encore::train {

class Snapshots {
 public:
  /// `identity` is the hash of the run's settings and data, its "question". A checkpoint of another question
  /// is never loaded.
  Snapshots(std::filesystem::path run_folder, std::string identity, std::int64_t attempt,
            distributed::Communicator& ranks);

  /// Also keeps the checkpoints of these steps.
  void keep(std::set<std::int64_t> steps) { kept_ = std::move(steps); }

  /// Writes a temporary file, syncs it, asks `control` whether the run is still owned, lets the observer sync
  /// its reports, renames the file, reports it, and removes checkpoints that need not be kept. This order
  /// makes a kill at any moment harmless. `tuned` is the task's choice for these parameters, if any
  /// (Task::tune). Throws Error if the disk is full or the run has another owner.
  void save(const model::Model& model, const record::Progress& progress, const std::string& tuned,
            record::CheckpointKind kind, Control& control, Observer& observer);

  /// Loads the newest valid checkpoint and reports each damaged one that it skips to the observer. Returns
  /// nothing if there is none.
  std::optional<record::Progress> restore_newest(model::Model& model, Observer& observer);

  /// Loads the parameters (not the optimizer's states) of one step, and returns what was tuned with them.
  /// Throws Error if that checkpoint is missing or damaged.
  std::string restore_parameters(model::Model& model, std::int64_t step);

  /// Writes the weights file for programs that compute with the model: its parameters, which are those after
  /// `step`, and what was tuned with them. Reports it to the observer. Throws like save().
  void write_weights(const model::Model& model, std::int64_t step, const std::string& tuned, Control& control,
                     Observer& observer);

  /// Writes `predictions/<split>.jsonl`, reports it to the observer, and returns the predictions. Throws like
  /// save().
  Records write_predictions(const tasks::TaskSets& sets, data::Split split, const Outputs& outputs,
                            const Statistics& statistics, Control& control, Observer& observer);

  /// Writes a file of the run's folder (attention.json, reference.json) and reports it to the observer as the
  /// artifact of that name. Throws like save().
  void write_file(const std::string& artifact, const std::string& file, const std::string& content,
                  Control& control, Observer& observer);

 private:
  /// Throws RecordError if another attempt owns the run now.
  void require_owned(Control& control) const;
  record::SavedFile save(std::int64_t step, const std::vector<record::TensorSlice>& slices,
                         const record::TensorMetadata& metadata, Control& control, Observer& observer) const;

  /// Returns the newest valid checkpoint, or nothing if there is none.
  std::optional<record::FoundCheckpoint> find_newest(Observer& observer) const;

  distributed::Communicator& ranks_;
  std::filesystem::path folder_;
  std::string identity_;
  std::int64_t attempt_;
  std::set<std::int64_t> kept_;
};

// --- the other files of a run: the planned ones, and vocabulary and labels in its folder ---

/// Compares every file and folder of the specification with the planned content, and returns the
/// specification. A run that resumes from a checkpoint needs neither what `[model] from` names nor its
/// vocabulary, because its own folder has both. Throws an Error that names the changed file.
const record::Specification& require_unchanged(const record::Specification& specification,
                                               const std::filesystem::path& run_folder);

/// Writes a file of the run's folder, completely or not at all, because the next attempt relies on the files
/// that it finds. Throws RecordError.
void keep_file(const std::filesystem::path& path, const std::string& content);

}  // namespace encore::train
