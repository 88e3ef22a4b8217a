// SPDX-License-Identifier: BSD-3-Clause
// FileDescriptor owns a POSIX file descriptor; write_all() writes all bytes to a file or pipe. All code that
// does not use C++ streams must open its files here, so that no descriptor leaks into a child process.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <utility>

namespace encore::world {

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
  /// Returns the descriptor without closing it; the caller must close it.
  int release() { return std::exchange(descriptor_, -1); }

 private:
  int descriptor_ = -1;
};

/// Opens with O_CLOEXEC. Throws an Error with the path and the reason.
FileDescriptor open_file(const std::filesystem::path& path, int flags, unsigned mode = 0644);

/// Writes every byte or throws Error. `written` is the number of written bytes, also after an Error.
void write_all(int descriptor, std::span<const std::byte> bytes, const std::filesystem::path& path,
               std::size_t* written = nullptr);

/// Returns the message for a failed system call: "cannot write /a/b: No space left on device (free some
/// space, ...)".
std::string system_message(const std::string& action, const std::filesystem::path& path, int error_number);

}  // namespace encore::world
