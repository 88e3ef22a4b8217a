// ScratchFolder: a folder of one's own under $TMPDIR, which nobody else can look into and which goes with the
// object. Bundles are made and unpacked in one. What a killed process leaves there the next one removes.
#pragma once

#include <filesystem>

#include "world/file_descriptor.hpp"

namespace encore {

class ScratchFolder {
 public:
  /// Before it makes its own, it removes those of this user whose process is gone. Throws Error where no
  /// folder can be made.
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  /// It stays, also when other processes look for folders to remove.
  void keep();

 private:
  std::filesystem::path path_;
  FileDescriptor in_use_;  ///< the locked mark; empty where the file system has no locks
  bool keep_ = false;
};

}  // namespace encore
