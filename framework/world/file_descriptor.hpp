// SPDX-License-Identifier: BSD-3-Clause
// FileDescriptor owns a POSIX file descriptor; write_all() is the loop that every writer of files and pipes
// needs.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <utility>

namespace encore {

class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int descriptor) : descriptor_(descriptor) {}
  FileDescriptor(FileDescriptor&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~FileDescriptor() { close(); }

  int get() const { return descriptor_; }
  explicit operator bool() const { return descriptor_ >= 0; }
  void close();
  /// Gives up the descriptor; the caller closes it.
  int release() { return std::exchange(descriptor_, -1); }

 private:
  int descriptor_ = -1;
};

/// Opens with O_CLOEXEC. Throws Error naming the path and the reason.
FileDescriptor open_file(const std::filesystem::path& path, int flags, unsigned mode = 0644);

/// Writes every byte or throws Error; returns how many bytes got out through `written` even when it throws.
void write_all(int descriptor, std::span<const std::byte> bytes, const std::filesystem::path& path,
               std::size_t* written = nullptr);

/// Returns "cannot write /a/b: No space left on device (free some space, ...)": one wording for every failed
/// system call.
std::string system_message(const std::string& action, const std::filesystem::path& path, int error_number);

}  // namespace encore
