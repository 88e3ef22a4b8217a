// SPDX-License-Identifier: BSD-3-Clause
// AtomicFile: writes a new file beside the final one, syncs it, renames it and syncs the folder. All files of
// a run and all documents are written by it. The order of these steps is what survives a crash. Read
// atomic_file.hpp first.
#include "world/atomic_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <system_error>

#include <encore/error.hpp>

#include "base/sha256.hpp"

namespace encore::world {

std::filesystem::path aside_name(const std::filesystem::path& path) {
  constexpr std::size_t digits = 12;
  std::filesystem::path aside = path;
  aside += "." + random_digits(digits) + std::string(aside_suffix);
  return aside;
}

AtomicFile::AtomicFile(std::filesystem::path path) : path_(std::move(path)), aside_(aside_name(path_)) {
  file_ = open_file(aside_, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW);
}

AtomicFile::~AtomicFile() {
  if (!committed_) ::unlink(aside_.c_str());
}

void AtomicFile::write(std::span<const std::byte> bytes) {
  write_all(file_.get(), bytes, aside_);
}

void AtomicFile::write(std::string_view text) {
  write(std::as_bytes(std::span(text.data(), text.size())));
}

void AtomicFile::commit(const std::function<void()>& before_rename) {
  if (::fsync(file_.get()) != 0) throw Error(system_message("write", aside_, errno));
  if (before_rename) before_rename();
  commit_unsynced();
  sync_folder(path_.parent_path());
}

void AtomicFile::commit_unsynced() {
  file_.close();
  if (std::rename(aside_.c_str(), path_.c_str()) != 0) throw Error(system_message("write", path_, errno));
  committed_ = true;
}

void save_file(const std::filesystem::path& path, std::string_view content) {
  AtomicFile file(path);
  file.write(content);
  file.commit();
}

void replace_file(const std::filesystem::path& path, std::string_view content) {
  AtomicFile file(path);
  file.write(content);
  file.commit_unsynced();
}

void make_folder(const std::filesystem::path& folder) {
  std::error_code failure;
  if (!folder.empty()) std::filesystem::create_directories(folder, failure);
  if (failure) throw Error(system_message("make the folder", folder, failure.value()));
}

void sync_folder(const std::filesystem::path& folder) {
  const std::filesystem::path place = folder.empty() ? std::filesystem::path(".") : folder;
  const FileDescriptor descriptor = open_file(place, O_RDONLY | O_DIRECTORY);
  // Some network file systems have no fsync for a folder; on them the rename is as durable as it can be.
  if (::fsync(descriptor.get()) != 0 && errno != EINVAL && errno != ENOTSUP) {
    throw Error(system_message("write", place, errno));
  }
}

}  // namespace encore::world
