// SPDX-License-Identifier: BSD-3-Clause
// The lock and the checks of the folder of an index. The kernel releases the lock when a process ends; the
// file of the lock is removed while it is held, so a process that waited for it looks whether the file is
// still in its place. Read index_folder.hpp first.
#include "app/index_folder.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "app/form.hpp"
#include "world/atomic_file.hpp"

namespace encore::app {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view description = "index.json";
constexpr std::array<std::string_view, 4> files_of_index = {description, "index.db", "vectors.safetensors",
                                                            "vectors.int8.safetensors"};

/// Returns whether the open file still has this name.
bool is_in_place(const world::FileDescriptor& file, const fs::path& path) {
  struct stat open {
  }, named{};
  return ::fstat(file.get(), &open) == 0 && ::stat(path.c_str(), &named) == 0 &&
         open.st_ino == named.st_ino && open.st_dev == named.st_dev;
}

}  // namespace

fs::path index_path(const std::string& written) {
  fs::path path = fs::path(written).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();
  std::error_code missing;
  return fs::is_symlink(path, missing) ? fs::canonical(path) : path;
}

IndexFolder::IndexFolder(const std::string& written)
    : written_(written), path_(index_path(written)), lock_path_(path_.string() + ".lock") {
  if (path_.empty() || path_ == "." || path_ == ".." || path_ == path_.root_path())
    throw UsageError("invalid folder \"" + written + "\": expected the name of a folder for the index");
  world::make_folder(path_.parent_path());
  do {
    lock_ = world::open_file(lock_path_, O_RDWR | O_CREAT);
    if (::flock(lock_.get(), LOCK_EX | LOCK_NB) != 0)
      throw UsageError("another exp index changes " + written + ": run the command again when it has ended");
  } while (!is_in_place(lock_, lock_path_));
}

IndexFolder::~IndexFolder() {
  std::error_code ignored;
  fs::remove(lock_path_, ignored);
}

bool IndexFolder::has_index() const {
  std::error_code missing;
  return fs::exists(path_ / description, missing);
}

void IndexFolder::require_replaceable() const {
  std::error_code missing;
  if (!fs::exists(path_, missing)) return;
  if (!fs::is_directory(path_, missing))
    throw UsageError(written_ + " is a file: expected a folder for the index");
  for (const fs::directory_entry& entry : fs::directory_iterator(path_)) {
    const std::string name = entry.path().filename();
    if (std::ranges::find(files_of_index, name) == files_of_index.end())
      throw UsageError(written_ + " is not empty and not an index (it has " + name +
                       "): name a new folder, or the folder of an index to replace");
  }
}

}  // namespace encore::app
