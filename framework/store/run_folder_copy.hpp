// SPDX-License-Identifier: BSD-3-Clause
// RunFolderCopy copies the folder of a run of another database to a temporary name and then puts it in place
// in one step, also over an older state of it. database_merge.cpp calls it.
#pragma once

#include <filesystem>

namespace encore {

class RunFolderCopy {
 public:
  /// Copies folders and regular files of `from` to aside_name of `target`. Leaves out symbolic links and
  /// leftovers of interrupted writes. Throws Error naming the file that cannot be copied.
  RunFolderCopy(const std::filesystem::path& from, std::filesystem::path target);
  /// Removes the copy unless it is in place, and what it has replaced.
  ~RunFolderCopy();
  RunFolderCopy(const RunFolderCopy&) = delete;
  RunFolderCopy& operator=(const RunFolderCopy&) = delete;

  /// Puts it in the place of `target`, replacing what is there.
  void put_in_place();

 private:
  std::filesystem::path target_;
  std::filesystem::path aside_;
};

}  // namespace encore
