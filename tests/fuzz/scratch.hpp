// SPDX-License-Identifier: BSD-3-Clause
// Scratch: the folder for files that the code under test opens, in memory (/dev/shm) if the system has a
// place for that. Most targets of fuzz.cpp have one.
#pragma once

#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <stdexcept>
#include <string>

#include "unit/record/temporary_folder.hpp"

namespace encore::fuzz {

/// Makes a folder for this process and removes it at the end; children that are forked later use the same one
/// and leave it.
class Scratch {
 public:
  Scratch() : owner_(::getpid()) {
    const std::filesystem::path memory = "/dev/shm";
    const bool usable = ::access(memory.c_str(), W_OK) == 0;
    std::string name =
        ((usable ? memory : std::filesystem::temp_directory_path()) / "encore-fuzz-XXXXXX").string();
    if (!mkdtemp(name.data())) throw std::runtime_error("cannot make a temporary folder");
    path_ = name;
  }
  ~Scratch() {
    std::error_code ignored;
    if (::getpid() == owner_) std::filesystem::remove_all(path_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  pid_t owner_;
  std::filesystem::path path_;
};

using testing::read_bytes;
using testing::write_bytes;

}  // namespace encore::fuzz
