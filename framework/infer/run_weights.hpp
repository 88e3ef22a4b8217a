// SPDX-License-Identifier: BSD-3-Clause
// Loads the chosen parameters of a run from its folder into a model: the weights file that was written when
// the run ended, mapped; otherwise a copy of those of its best checkpoint; or, on request, the integer
// weights of `exp quantize`. No parameter may be used before its digest is checked. Engine makes one. Read
// next: record/weights_file.hpp, integer_weights.hpp.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "model/model.hpp"
#include "record/weights_file.hpp"

namespace encore::infer {

/// Returns WeightsFacts::files: those of meaning_files (infer/setup.hpp) that exist.
record::DigestsByName digests_of_meaning(const std::filesystem::path& run_folder);

/// Says which weights of a run are loaded, and how.
enum class Weights : std::uint8_t {
  chosen,  ///< those of its best step
  copied,  ///< the same in memory of the model, which may change them
  int8,    ///< with matrices of 8-bit integers, and products of them
  int4,    ///< the same with 4-bit integers
};

class RunWeights {
 public:
  /// Finds the files and reads no tensor yet. `question`: the hash of the run's settings and data. Throws
  /// Error if the weights file belongs to another experiment; a damaged one is a note, and the checkpoints
  /// are used. There is no other copy of integer weights: throws Error too if they are missing, damaged, or
  /// made from weights that the run does not have any more.
  RunWeights(std::filesystem::path run_folder, std::string question, Weights which = Weights::chosen);

  /// Throws Error if a file of the run's folder is not the one that the weights were written with; this is
  /// known only with a weights file.
  void require_file(const std::string& name) const;

  /// Fills the model's parameters after comparing their digests; the model needs this object from then on.
  /// Returns their step. Throws Error if neither the weights file nor a checkpoint is
  /// whole, and if they belong to another model.
  std::int64_t load_into(model::Model& model, int threads);

  /// Returns what the task tuned with these parameters on the development set (Task::tune); "" if nothing.
  /// Call it after load_into().
  const std::string& tuned() const { return tuned_; }

  /// Returns the SHA-256 of the digests of all parameters by name. Call it after load_into(). If the
  /// parameters come from a checkpoint, this call reads it again and throws Error if it is damaged by then.
  std::string digest() const;

  /// Returns notes for the user about files that were skipped.
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  std::int64_t load_integers_file(model::Model& model, int threads);
  std::int64_t load_file(model::Model& model);
  std::int64_t load_best_checkpoint(model::Model& model);

  void require_of_this_run() const;

  std::filesystem::path folder_;
  std::string question_;
  Weights which_;
  std::optional<record::WeightsFile> file_;
  std::string damage_;  ///< why the weights file is skipped
  std::string tuned_;
  std::optional<std::int64_t> checkpoint_step_;  ///< of the checkpoint that gave them; none: the weights file
  std::vector<std::string> notes_;
};

}  // namespace encore::infer
