// SPDX-License-Identifier: BSD-3-Clause
// AtomicFile writes a file that is either complete or absent, even after a kill or a power cut. It writes
// under a temporary name in the same folder, calls fsync, renames, and calls fsync on the folder. All code
// that writes such files uses it or aside_name(); `exp gc` removes old files with aside_suffix, which
// therefore stays. The temporary name is random and must be new, so another user of a shared folder cannot
// have put a link there, and of two writers the last one wins.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <span>
#include <string_view>

#include "world/file_descriptor.hpp"

namespace encore::world {

/// The suffix of all files that are being written. Such a file may be removed if its writer is gone.
inline constexpr std::string_view aside_suffix = ".part";

/// Returns a temporary name in the folder of `path`, such as "labels.txt.0123456789ab.part". Create the file
/// with O_EXCL, or the folder with mkdir: both follow no link.
std::filesystem::path aside_name(const std::filesystem::path& path);

class AtomicFile {
 public:
  /// Opens a new file under an aside_name(). Throws Error if the folder is missing or cannot be written.
  explicit AtomicFile(std::filesystem::path path);
  /// Removes the temporary file unless it was committed.
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(std::span<const std::byte> bytes);
  void write(std::string_view text);
  /// Calls fsync, rename, and fsync of the folder: on return the new content survives a power cut.
  /// `before_rename` may throw; the rename follows it at once.
  void commit(const std::function<void()>& before_rename = {});
  /// Renames without fsync: after a power cut the file may have the old content, the new one, or none.
  void commit_unsynced();

 private:
  std::filesystem::path path_;
  std::filesystem::path aside_;
  FileDescriptor file_;
  bool committed_ = false;
};

/// Replaces the file with `content`, atomically and durably.
void save_file(const std::filesystem::path& path, std::string_view content);

/// Replaces the file with `content`, atomically for concurrent readers, but not durably: for content that is
/// useless after a restart of the machine.
void replace_file(const std::filesystem::path& path, std::string_view content);

/// Makes the folder and its parents if they are missing. An empty path is the current folder.
void make_folder(const std::filesystem::path& folder);

/// Makes earlier renames and removals in a folder durable.
void sync_folder(const std::filesystem::path& folder);

}  // namespace encore::world
