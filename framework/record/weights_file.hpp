// SPDX-License-Identifier: BSD-3-Clause
// WeightsFile: the file in a run's folder with the chosen parameters alone, for programs that compute forward
// passes. train/snapshots.cpp writes it when a run concludes, infer/run_weights.cpp reads it. Without it
// (interrupted run, earlier version) the best checkpoint holds the same with three times the bytes. Its
// metadata have the run's question (identity of settings, data and seed), the digest of each tensor, and the
// digests of the files that give rows of the parameters their meaning. Complete runs have this file, so its
// names and metadata do not change.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "record/safetensors.hpp"

namespace encore::record {

/// The file in the run's folder.
inline constexpr const char* weights_file = "weights.safetensors";
/// The file of `exp quantize` beside it, with matrices as integers (infer/integer_weights.hpp).
inline constexpr const char* int8_weights_file = "weights_int8.safetensors";
inline constexpr const char* int4_weights_file = "weights_int4.safetensors";

/// Maps a name to its SHA-256.
using DigestsByName = std::map<std::string, std::string>;

struct WeightsFacts {
  std::string question;      ///< of the run
  std::int64_t step = 0;     ///< after which the parameters had these values
  std::string tuned = {};    ///< what the task chose by them on the development set (Task::tune); "": nothing
  DigestsByName files = {};  ///< of files in the run's folder: "vocab.txt", "labels.txt"
  DigestsByName tensors = {};  ///< of the bytes of each tensor; save_weights fills it in
  /// For integer weights: the parameters that products read as integers, and digest_of the weights from which
  /// they were rounded.
  std::vector<std::string> int8 = {};
  std::string made_from = {};

  friend bool operator==(const WeightsFacts&, const WeightsFacts&) = default;
};

/// Returns the SHA-256 of the digests of all tensors by name: equal for equal parameters.
std::string digest_of(const DigestsByName& tensors);

/// Writes the file, atomically and durably. Tensors of whole cache lines come first, so that each of them
/// begins at a multiple of 64 bytes of the file, where it can be computed with when mapped. Equal content
/// gives equal bytes in every attempt. `before_rename` works as in save_safetensors. Up to `threads` threads
/// hash the tensors.
SavedFile save_weights(const std::filesystem::path& run_folder, std::vector<TensorSlice> tensors,
                       WeightsFacts facts, int threads, const std::function<void()>& before_rename = {},
                       const char* name = weights_file);

/// A weights file whose header is sound.
class WeightsFile {
 public:
  /// Throws Error that names the file and what is wrong with it. Its tensors are not checked yet.
  explicit WeightsFile(const std::filesystem::path& run_folder, const char* name = weights_file);

  const WeightsFacts& facts() const { return facts_; }
  const Safetensors& tensors() const { return tensors_; }

  /// Throws Error that names the first tensor by name whose bytes are not those that were written. Reads all
  /// of them, with up to `threads` threads.
  void require_whole(int threads) const;

 private:
  Safetensors tensors_;
  WeightsFacts facts_;
};

}  // namespace encore::record
