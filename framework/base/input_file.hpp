// SPDX-License-Identifier: BSD-3-Clause
// InputFile: how both programs open every file that a user names, or that may come from elsewhere. It opens
// regular files only: a pipe may never be filled and a device may never end. Text that is piped on purpose
// comes through the standard input ("-"), never through here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <utility>

#include <encore/error.hpp>

namespace encore {

/// A file that cannot be read. what() is "cannot read PATH: WHY".
class UnreadableFile : public Error {
 public:
  UnreadableFile(const std::filesystem::path& path, std::string why, bool missing = false)
      : Error("cannot read " + path.string() + ": " + why), why_(std::move(why)), missing_(missing) {}
  /// The reason alone, such as "it is a folder; name a file".
  const std::string& why() const { return why_; }
  bool missing() const { return missing_; }

 private:
  std::string why_;
  bool missing_;
};

class InputFile {
 public:
  /// Opens the file without waiting for another process. Throws UnreadableFile.
  explicit InputFile(const std::filesystem::path& path);
  ~InputFile();
  InputFile(InputFile&& other) noexcept
      : path_(std::move(other.path_)),
        descriptor_(std::exchange(other.descriptor_, -1)),
        size_(other.size_) {}
  InputFile& operator=(InputFile&&) = delete;

  /// The file descriptor, valid as long as this object.
  int descriptor() const { return descriptor_; }
  /// The size in bytes at opening; 0 for files of /proc, even if they have content.
  std::uint64_t size() const { return size_; }
  /// Reads at most `size` bytes into `to` and returns their number; 0 at the end. Throws UnreadableFile.
  std::size_t read(char* to, std::size_t size);
  /// Returns all bytes from the current position on. Throws UnreadableFile if they are more than `most` or
  /// than the memory can hold.
  std::string text(std::size_t most = std::numeric_limits<std::size_t>::max());

 private:
  std::filesystem::path path_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
};

/// Returns all bytes of a file. Throws UnreadableFile.
std::string read_file(const std::filesystem::path& path,
                      std::size_t most = std::numeric_limits<std::size_t>::max());

}  // namespace encore
