// SPDX-License-Identifier: BSD-3-Clause
// AtomicFile writes a file that is either complete or absent, whatever is killed or pulled in between. It is
// written under a temporary name in the same folder, fsynced, renamed, and the folder is fsynced. All such
// writing uses it or aside_name(): the temporary name is drawn at random and must be new, so that no other
// user of a shared folder can have put a link there, and two writers of one file do not collide: the last one
// wins.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <span>
#include <string_view>

#include "world/file_descriptor.hpp"

namespace encore {

/// Ends every name that is still being written; such a file may be removed when its writer is gone.
inline constexpr std::string_view aside_suffix = ".part";

/// Returns a name in the same folder under which a file or folder is written before it gets its own:
/// "labels.txt.0123456789ab.part". Make it with O_EXCL or mkdir, which follow no link.
std::filesystem::path aside_name(const std::filesystem::path& path);

class AtomicFile {
 public:
  /// Opens a new file under an aside_name(). Throws Error when the folder is missing or cannot be written.
  explicit AtomicFile(std::filesystem::path path);
  /// Removes what was written unless committed.
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(std::span<const std::byte> bytes);
  void write(std::string_view text);
  /// Calls fsync, rename, and fsync of the folder: on return the new content survives a power cut.
  /// `before_rename` may throw; nothing that takes time lies between it and the rename.
  void commit(const std::function<void()>& before_rename = {});
  /// Only renames: after a power cut the file may have the old content, the new one, or none.
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
/// useless after the machine has lost its processes.
void replace_file(const std::filesystem::path& path, std::string_view content);

/// Makes the folder and those above it if they are missing; an empty path is the current folder.
void make_folder(const std::filesystem::path& folder);

/// Makes renames and removals in a folder durable.
void sync_folder(const std::filesystem::path& folder);

}  // namespace encore
