// SPDX-License-Identifier: BSD-3-Clause
// InputFile: opens and reads files of unknown origin, with limits on kind and size. All readers of user files
// call it, most of them through load_file.hpp. It must never open anything but a regular file, because
// opening a pipe could wait forever. Read next: input_file.hpp.
#include "base/input_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <stdexcept>

namespace encore {

namespace {

/// Returns why a file of this kind is not read; empty for a regular file.
std::string kind_problem(mode_t mode) {
  if (S_ISREG(mode)) return "";
  if (S_ISDIR(mode)) return "it is a folder; name a file";
  if (S_ISFIFO(mode))
    return "it is a pipe, which may never end; write what comes through it to a file, and name that";
  if (S_ISSOCK(mode)) return "it is a socket; name a file";
  return "it is a device, which may never end; name a file";
}

[[noreturn]] void refuse(const std::filesystem::path& path, int error_number) {
  if (error_number == ENOENT)
    throw UnreadableFile(path, "there is no such file; check the path and the folder it is relative to",
                         true);
  throw UnreadableFile(path, std::strerror(error_number));
}

[[noreturn]] void refuse_size(const std::filesystem::path& path, std::size_t most) {
  const bool whole = most % (std::size_t{1} << 20) == 0;
  throw UnreadableFile(path, "it is longer than the " + std::to_string(whole ? most >> 20 : most) +
                                 (whole ? " MiB" : " bytes") + " that such a file may have");
}

}  // namespace

InputFile::InputFile(const std::filesystem::path& path) : path_(path) {
  // The kind is checked before opening, because opening a pipe would show its writer a reader that leaves at
  // once. The check after opening decides.
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) refuse(path, errno);
  if (const std::string why = kind_problem(status.st_mode); !why.empty()) throw UnreadableFile(path, why);
  do descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  while (descriptor_ < 0 && errno == EINTR);
  if (descriptor_ < 0) refuse(path, errno);
  const bool known = ::fstat(descriptor_, &status) == 0;
  const std::string why = known ? kind_problem(status.st_mode) : std::strerror(errno);
  if (!why.empty()) {
    ::close(std::exchange(descriptor_, -1));
    throw UnreadableFile(path, why);
  }
  size_ = static_cast<std::uint64_t>(status.st_size);
}

InputFile::~InputFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

std::size_t InputFile::read(char* to, std::size_t size) {
  ssize_t count = -1;
  do count = ::read(descriptor_, to, size);
  while (count < 0 && errno == EINTR);
  if (count < 0) refuse(path_, errno);
  return static_cast<std::size_t>(count);
}

std::string InputFile::text(std::size_t most) {
  if (size_ > most) refuse_size(path_, most);
  constexpr std::size_t piece = std::size_t{1} << 16;
  std::string bytes;
  try {
    // The buffer has one byte more than the file, so that its end is found without growing the buffer.
    for (std::size_t filled = 0;;) {
      if (filled == bytes.size())
        bytes.resize(std::max({filled + piece, filled + filled / 2, static_cast<std::size_t>(size_) + 1}));
      const std::size_t count = read(bytes.data() + filled, bytes.size() - filled);
      filled += count;
      if (filled > most) refuse_size(path_, most);
      if (count > 0) continue;
      bytes.resize(filled);
      return bytes;
    }
  } catch (const std::bad_alloc&) {
  } catch (const std::length_error&) {
  }
  throw UnreadableFile(path_, "its " + std::to_string(size_) + " bytes do not fit into the memory");
}

std::string read_file(const std::filesystem::path& path, std::size_t most) {
  return InputFile(path).text(most);
}

}  // namespace encore
