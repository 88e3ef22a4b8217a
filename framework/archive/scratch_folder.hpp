// ScratchFolder: a folder of one's own under $TMPDIR, which nobody else can look into and which goes with the
// object. Bundles are made and unpacked in one.
#pragma once

#include <stdlib.h>

#include <cerrno>
#include <filesystem>
#include <string>

#include <encore/error.hpp>

#include "record/file_descriptor.hpp"

namespace encore {

class ScratchFolder {
 public:
  /// Throws Error where no folder can be made.
  ScratchFolder() {
    std::error_code failure;
    const std::filesystem::path place = std::filesystem::temp_directory_path(failure);
    if (failure)
      throw Error("there is no folder for temporary files: " + failure.message() + "; $TMPDIR names one");
    std::string pattern = (place / "encore-bundle-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr)
      throw Error(system_message("make the folder", pattern, errno) + "; $TMPDIR names another place");
    path_ = pattern;
  }
  ~ScratchFolder() {
    std::error_code ignored;
    if (!keep_) std::filesystem::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  void keep() { keep_ = true; }

 private:
  std::filesystem::path path_;
  bool keep_ = false;
};

}  // namespace encore
