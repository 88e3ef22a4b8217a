// SPDX-License-Identifier: BSD-3-Clause
// IndexFolder: the folder of an index as a command changes it, with its lock and the names of the files
// beside it. index.cpp makes one for each change. Two commands that write an index at once would lose
// documents, so the second one is refused.
#pragma once

#include <filesystem>
#include <string>

#include "world/file_descriptor.hpp"

namespace encore::app {

class IndexFolder {
 public:
  /// Locks the folder, which need not exist. Throws UsageError if another process changes it.
  explicit IndexFolder(const std::string& written);
  /// Gives back the lock.
  ~IndexFolder();
  IndexFolder(const IndexFolder&) = delete;
  IndexFolder& operator=(const IndexFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  /// Returns the file with vectors of an interrupted command.
  std::filesystem::path kept_vectors() const { return path_.string() + ".vectors"; }
  /// Returns whether an index is there.
  bool has_index() const;
  /// Throws UsageError unless the folder is missing, empty, or has the files of an index only: writing an
  /// index removes what is in the folder.
  void require_replaceable() const;

 private:
  std::string written_;
  std::filesystem::path path_, lock_path_;
  world::FileDescriptor lock_;
};

/// Returns the path of the folder without a slash at its end. A link is followed.
std::filesystem::path index_path(const std::string& written);

}  // namespace encore::app
