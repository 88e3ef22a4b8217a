// SPDX-License-Identifier: BSD-3-Clause
// TokenCache keeps the encoded data files of a task between runs, so that the same files are read and encoded
// only once. A file's name is the SHA-256 of its key, a text of everything that affects its content. Each is
// a mapped safetensors file with a digest; a damaged one is removed and made again. Losing the cache costs
// only time, so failures become notes, not exceptions. TaskSets calls it for train/session.cpp. The key has
// the version of the format (cache_format in task_sets.cpp), so old files are never read in another format.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "record/safetensors.hpp"

namespace encore::tasks {

/// Lines for the run's log.
using Notes = std::vector<std::string>;

class TokenCache {
 public:
  /// The limit for all files together, in bytes; the least recently used are removed first.
  static constexpr std::uint64_t default_limit = std::uint64_t{8} << 30;

  /// An empty folder switches the cache off.
  explicit TokenCache(std::filesystem::path folder, std::uint64_t limit = default_limit);
  /// Returns the cache in $ENCORE_CACHE/tokens, else $XDG_CACHE_HOME/encore/tokens, else
  /// ~/.cache/encore/tokens.
  static TokenCache standard();

  /// Returns the file of this key after checking its digest, or nothing if there is none.
  std::shared_ptr<const record::Safetensors> load(const std::string& key, Notes& notes) const;
  /// Returns whether the cache is on.
  bool keeps() const { return !folder_.empty(); }
  /// Returns a path with which the caller begins names of temporary files for a later save(). Files of a
  /// killed process are removed later. Throws Error if the folder cannot be made.
  std::filesystem::path scratch() const;
  /// Writes the file of this key. Several processes may save at once, also while others have the old file
  /// mapped. On failure, returns false and adds a note.
  bool save(const std::string& key, const std::vector<record::TensorSlice>& tensors,
            record::TensorMetadata metadata, Notes& notes) const;
  /// Returns the path of the file of a key.
  std::filesystem::path path_of(const std::string& key) const;

 private:
  void remove_oldest(const std::filesystem::path& but) const;

  std::filesystem::path folder_;
  std::uint64_t limit_;
};

}  // namespace encore::tasks
