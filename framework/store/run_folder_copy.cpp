// SPDX-License-Identifier: BSD-3-Clause
// RunFolderCopy: copies a run's folder to a temporary name, syncs it, and exchanges it with the target in one
// step. database_merge.cpp calls it for each run. The order of copy, sync and exchange is what survives a
// crash. Read run_folder_copy.hpp first.
#include "store/run_folder_copy.hpp"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include <encore/error.hpp>

#include "record/run_paths.hpp"
#include "store/served.hpp"
#include "world/atomic_file.hpp"

namespace encore::store {

namespace {

namespace fs = std::filesystem;

/// Syncs a file to disk: the copy must survive a power cut before a row of the database refers to it.
void sync_file(const fs::path& path) {
  const world::FileDescriptor file = world::open_file(path, O_RDONLY);
  if (::fsync(file.get()) != 0) throw Error(world::system_message("write", path, errno));
}

/// Copies files and folders. Leaves out the folder "monitor" with the inputs that servers have kept: it may
/// be private, and `exp monitor` must be able to delete it there for good.
void copy_tree(const fs::path& from, const fs::path& to) {
  world::make_folder(to);
  std::error_code failure;
  for (const auto& entry : fs::directory_iterator(from, failure)) {
    const fs::path target = to / entry.path().filename();
    const fs::file_status status = entry.symlink_status();
    if (fs::is_directory(status)) {
      if (entry.path().filename() == served_folder) continue;
      copy_tree(entry.path(), target);
    } else if (fs::is_regular_file(status) && !target.string().ends_with(world::aside_suffix)) {
      fs::copy_file(entry.path(), target, fs::copy_options::overwrite_existing, failure);
      if (failure)
        throw Error(world::system_message("copy " + entry.path().string() + " to", target, failure.value()));
      sync_file(target);
    }
  }
  if (failure) throw Error(world::system_message("read", from, failure.value()));
  world::sync_folder(to);
}

}  // namespace

RunFolderCopy::RunFolderCopy(const fs::path& from, fs::path target)
    : target_(std::move(target)), aside_(world::aside_name(target_)) {
  try {
    copy_tree(from, aside_);
  } catch (...) {
    std::error_code ignored;
    fs::remove_all(aside_, ignored);
    throw;
  }
}

RunFolderCopy::~RunFolderCopy() {
  std::error_code ignored;
  fs::remove_all(aside_, ignored);
}

void RunFolderCopy::put_in_place() {
  const bool exchange = record::is_own_folder(target_);
  if (exchange && ::renameat2(AT_FDCWD, aside_.c_str(), AT_FDCWD, target_.c_str(), RENAME_EXCHANGE) == 0) {
    world::sync_folder(target_.parent_path());
    return;
  }
  std::error_code failure;  // unless the file system supports the exchange
  if (exchange) fs::remove_all(target_, failure);
  if (!failure) fs::rename(aside_, target_, failure);
  if (failure)
    throw Error(world::system_message("put a copied folder in place of", target_, failure.value()));
  world::sync_folder(target_.parent_path());
}

}  // namespace encore::store
