// RunFolderCopy: the folder of a run of another database on its way into this one: copied aside, then put in
// place in one step, also over an older state of it. database_merge.cpp calls it.
#pragma once

#include <filesystem>

namespace encore {

class RunFolderCopy {
 public:
  /// Copies folders and regular files of `from` aside (aside_name of `target`); symbolic links and what
  /// interrupted writes left stay behind. Throws Error naming the file that cannot be copied.
  RunFolderCopy(const std::filesystem::path& from, std::filesystem::path target);
  /// Removes the copy unless it is in place, and what it has replaced.
  ~RunFolderCopy();
  RunFolderCopy(const RunFolderCopy&) = delete;
  RunFolderCopy& operator=(const RunFolderCopy&) = delete;

  /// Puts it in the place of `target`, whatever lies there.
  void put_in_place();

 private:
  std::filesystem::path target_;
  std::filesystem::path aside_;
};

}  // namespace encore
