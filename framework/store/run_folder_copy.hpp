// SPDX-License-Identifier: BSD-3-Clause
// RunFolderCopy copies the folder of a run from another database to a temporary name, and then puts it in
// place in one step, replacing an older state. database_merge.cpp makes the copy before the transaction and
// places it inside. The files must be on disk before a row refers to them; `exp gc` removes a copy that a
// killed process left.
#pragma once

#include <filesystem>

namespace encore::store {

class RunFolderCopy {
 public:
  /// Copies folders and regular files of `from` to aside_name of `target`. Leaves out symbolic links and
  /// leftovers of interrupted writes. Throws an Error that names the file that cannot be copied.
  RunFolderCopy(const std::filesystem::path& from, std::filesystem::path target);
  /// Removes the copy if it was not put in place, otherwise the folder that it has replaced.
  ~RunFolderCopy();
  RunFolderCopy(const RunFolderCopy&) = delete;
  RunFolderCopy& operator=(const RunFolderCopy&) = delete;

  /// Exchanges the copy with the folder `target`, or moves it there if there is none.
  void put_in_place();

 private:
  std::filesystem::path target_;
  std::filesystem::path aside_;
};

}  // namespace encore::store
