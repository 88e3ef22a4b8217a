// TokenCache: the encoded data files of a task, kept between runs so that the same files are read and encoded
// once. A file is named by the SHA-256 of its key, the text of everything that decides its content; it
// is a safetensors file, mapped, and carries a digest of its own, so that a damaged one is noticed, removed
// and made again. Losing the cache, or a part of it, costs time and nothing else: failures become notes,
// never exceptions. Place in the flow: train/session.cpp -> TaskSets::load_encoded or encode and save_encoded
// -> here.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "record/safetensors.hpp"

namespace encore {

/// Lines for the run's log.
using Notes = std::vector<std::string>;

class TokenCache {
 public:
  /// The files together stay below this; the least recently used go first.
  static constexpr std::uint64_t default_limit = std::uint64_t{8} << 30;

  /// An empty folder: nothing is kept.
  explicit TokenCache(std::filesystem::path folder, std::uint64_t limit = default_limit);
  /// The cache in $ENCORE_CACHE/tokens, else $XDG_CACHE_HOME/encore/tokens, else ~/.cache/encore/tokens.
  static TokenCache standard();

  /// The file of this key, whole and checked; nothing when there is none.
  std::shared_ptr<const Safetensors> load(const std::string& key, Notes& notes) const;
  /// Whether anything is kept.
  bool keeps() const { return !folder_.empty(); }
  /// The beginning of names for files that are joined to one of the cache; files of a killed process are
  /// removed later. Throws Error if the folder cannot be made.
  std::filesystem::path scratch() const;
  /// Replaces the file of this key; processes that save at once do not disturb each other, nor those that
  /// have the old one mapped. Returns false and adds a note on failure.
  bool save(const std::string& key, const std::vector<TensorSlice>& tensors, TensorMetadata metadata,
            Notes& notes) const;
  /// Returns the path of the file of a key.
  std::filesystem::path path_of(const std::string& key) const;

 private:
  void remove_oldest(const std::filesystem::path& but) const;

  std::filesystem::path folder_;
  std::uint64_t limit_;
};

}  // namespace encore
