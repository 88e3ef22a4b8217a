// SPDX-License-Identifier: BSD-3-Clause
// ScratchFolder is a private folder under $TMPDIR, which other users cannot read and which is removed with
// the object. unpack_bundle.hpp and bundle/pack_bundle.cpp use one. If a process is killed, the next one
// removes its folder, so name and marker file do not change.
#pragma once

#include <filesystem>

#include "world/file_descriptor.hpp"

namespace encore::archive {

class ScratchFolder {
 public:
  /// Makes a folder, after removing folders of this user whose process has ended. Throws Error if no folder
  /// can be made.
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  /// Keeps the folder, also when other processes look for folders to remove.
  void keep();

 private:
  std::filesystem::path path_;
  world::FileDescriptor in_use_;  ///< the locked marker file; empty if the file system has no locks
  bool keep_ = false;
};

}  // namespace encore::archive
