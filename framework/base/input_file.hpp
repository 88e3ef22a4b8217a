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

/// what() is "cannot read PATH: WHY".
class UnreadableFile : public Error {
 public:
  UnreadableFile(const std::filesystem::path& path, std::string why, bool missing = false)
      : Error("cannot read " + path.string() + ": " + why), why_(std::move(why)), missing_(missing) {}
  /// "it is a folder; name a file"
  const std::string& why() const { return why_; }
  bool missing() const { return missing_; }

 private:
  std::string why_;
  bool missing_;
};

class InputFile {
 public:
  /// Never waits. Throws UnreadableFile.
  explicit InputFile(const std::filesystem::path& path);
  ~InputFile();
  InputFile(InputFile&& other) noexcept
      : path_(std::move(other.path_)),
        descriptor_(std::exchange(other.descriptor_, -1)),
        size_(other.size_) {}
  InputFile& operator=(InputFile&&) = delete;

  /// Valid as long as this object.
  int descriptor() const { return descriptor_; }
  /// In bytes, when it was opened; 0 for files of /proc, whatever they hold.
  std::uint64_t size() const { return size_; }
  /// Puts at most `size` bytes to `to` and returns how many; 0 at the end. Throws UnreadableFile.
  std::size_t read(char* to, std::size_t size);
  /// Everything from the current place on. Throws UnreadableFile where it is longer than `most` or than the
  /// memory.
  std::string text(std::size_t most = std::numeric_limits<std::size_t>::max());

 private:
  std::filesystem::path path_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
};

/// All bytes of a file. Throws UnreadableFile.
std::string read_file(const std::filesystem::path& path,
                      std::size_t most = std::numeric_limits<std::size_t>::max());

}  // namespace encore
