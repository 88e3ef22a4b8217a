// TokenCache: what a task made of its data files, kept between runs so that nobody reads and encodes the same
// files twice. A file is named by the SHA-256 of its key, the text of everything that decides its content; it
// is a safetensors file, mapped, and carries a digest of its own, so that a damaged one is noticed, removed
// and made anew. Losing the cache, or a part of it, costs time and nothing else: failures are said, never
// thrown. Place in the flow: train/session.cpp -> TaskSets::load_encoded or encode and save_encoded -> here.
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
  /// Together the files stay below this; those used longest ago go first.
  static constexpr std::uint64_t default_limit = std::uint64_t{8} << 30;

  /// An empty folder: nothing is kept.
  explicit TokenCache(std::filesystem::path folder, std::uint64_t limit = default_limit);
  /// In $ENCORE_CACHE/tokens, else $XDG_CACHE_HOME/encore/tokens, else ~/.cache/encore/tokens.
  static TokenCache standard();

  /// The file of this key, whole and checked; nothing when there is none.
  std::shared_ptr<const Safetensors> load(const std::string& key, Notes& notes) const;
  /// Whether anything is kept.
  bool keeps() const { return !folder_.empty(); }
  /// The beginning of names for files that are put together to one of the cache; what a killed process leaves
  /// there is removed later. Throws Error when the folder cannot be made.
  std::filesystem::path scratch() const;
  /// Replaces the file of this key; processes that save at once do not disturb each other, nor those that
  /// have the old one mapped. False, with a note, where that failed.
  bool save(const std::string& key, const std::vector<TensorSlice>& tensors, TensorMetadata metadata,
            Notes& notes) const;
  /// Where the file of a key lies.
  std::filesystem::path path_of(const std::string& key) const;

 private:
  void remove_oldest(const std::filesystem::path& but) const;

  std::filesystem::path folder_;
  std::uint64_t limit_;
};

}  // namespace encore
