// SPDX-License-Identifier: BSD-3-Clause
// ScratchFolder, in which bundles are made and unpacked: makes private temporary folders and removes
// abandoned ones. Each has a marker file, which its process locks; the kernel releases the lock however the
// process ends, so a folder whose marker can be locked is abandoned. Ages and process ids must not decide: a
// server lives for months, and another container has its own ids. A folder without a marker stays: it was
// kept, or its file system has no locks. The marker names its machine, because locks may not reach other
// machines.
#include "archive/scratch_folder.hpp"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <span>
#include <string>
#include <vector>

#include <encore/error.hpp>

#include "world/process.hpp"

namespace encore::archive {

namespace {

namespace fs = std::filesystem;

constexpr const char* prefix = "encore-bundle-";
constexpr const char* mark_name = "in_use";

bool lock(const world::FileDescriptor& file) {
  return ::flock(file.get(), LOCK_EX | LOCK_NB) == 0;
}

/// Makes the marker file. It gets its name after it is locked, so that no other process takes the folder for
/// abandoned.
world::FileDescriptor mark_in_use(const fs::path& folder) {
  const fs::path draft = folder / (std::string(mark_name) + ".new");
  std::error_code failure;
  try {
    world::FileDescriptor mark = world::open_file(draft, O_RDWR | O_CREAT | O_EXCL, 0600);
    const std::string host = world::this_process().host;
    world::write_all(mark.get(), std::as_bytes(std::span(host)), draft);
    if (lock(mark)) {
      fs::rename(draft, folder / mark_name, failure);
      if (!failure) return mark;
    }
  } catch (const Error&) {
    // An error is ignored: if the disk is full, the next write reports it.
  }
  fs::remove(draft, failure);
  return {};
}

std::string content_of(const world::FileDescriptor& file) {
  char buffer[256];
  const ssize_t count = ::pread(file.get(), buffer, sizeof buffer, 0);
  return {buffer, count > 0 ? static_cast<std::size_t>(count) : 0};
}

bool is_own_folder(const fs::path& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == ::geteuid();
}

/// Returns the paths in a folder; an empty list if it cannot be read.
std::vector<fs::path> entries_of(const fs::path& folder) {
  std::vector<fs::path> entries;
  std::error_code failure;
  for (fs::directory_iterator entry(folder, failure), end; !failure && entry != end; entry.increment(failure))
    entries.push_back(entry->path());
  return entries;
}

/// Removes a folder. The marker is removed last, so that another process can continue an interrupted removal.
void remove_marked(const fs::path& folder) {
  std::error_code ignored;
  for (const fs::path& entry : entries_of(folder))
    if (entry.filename() != mark_name) fs::remove_all(entry, ignored);
  fs::remove_all(folder, ignored);
}

void remove_if_abandoned(const fs::path& folder) {
  const world::FileDescriptor mark(::open((folder / mark_name).c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC));
  if (!mark || content_of(mark) != world::this_process().host || !lock(mark)) return;
  struct stat status {};
  const bool still_there = ::fstat(mark.get(), &status) == 0 && status.st_nlink > 0;
  if (still_there) remove_marked(folder);
}

void remove_abandoned(const fs::path& place) {
  for (const fs::path& entry : entries_of(place))
    if (entry.filename().string().starts_with(prefix) && is_own_folder(entry)) remove_if_abandoned(entry);
}

}  // namespace

ScratchFolder::ScratchFolder() {
  std::error_code failure;
  const fs::path place = fs::temp_directory_path(failure);
  if (failure)
    throw Error("there is no folder for temporary files: " + failure.message() + "; $TMPDIR names one");
  remove_abandoned(place);
  std::string pattern = (place / (std::string(prefix) + "XXXXXX")).string();
  if (::mkdtemp(pattern.data()) == nullptr)
    throw Error(world::system_message("make the folder", pattern, errno) + "; $TMPDIR names another place");
  path_ = pattern;
  in_use_ = mark_in_use(path_);
}

ScratchFolder::~ScratchFolder() {
  if (!keep_) remove_marked(path_);
}

void ScratchFolder::keep() {
  keep_ = true;
  std::error_code ignored;
  fs::remove(path_ / mark_name, ignored);
}

}  // namespace encore::archive
