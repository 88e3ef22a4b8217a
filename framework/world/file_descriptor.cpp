// SPDX-License-Identifier: BSD-3-Clause
// FileDescriptor and write_all(): open, close and write with retries after EINTR, and messages with path and
// reason. Every file must be opened with O_CLOEXEC, so that no worker inherits it. Read file_descriptor.hpp
// first.
#include "world/file_descriptor.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include <encore/error.hpp>

namespace encore::world {

namespace {

const char* advice_for(int error_number) {
  switch (error_number) {
    case ENOSPC:
    case EDQUOT:
      return " (free some space; what is on disk so far stays usable)";
    case EROFS:
    case EACCES:
    case EPERM:
      return " (choose a folder you may write to)";
    case EMFILE:
    case ENFILE:
      return " (raise the limit of open files, ulimit -n)";
    default:
      return "";
  }
}

}  // namespace

std::string system_message(const std::string& action, const std::filesystem::path& path, int error_number) {
  return "cannot " + action + " " + path.string() + ": " + std::strerror(error_number) +
         advice_for(error_number);
}

void FileDescriptor::close() {
  if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
}

FileDescriptor open_file(const std::filesystem::path& path, int flags, unsigned mode) {
  int descriptor = -1;
  do descriptor = ::open(path.c_str(), flags | O_CLOEXEC, mode);
  while (descriptor < 0 && errno == EINTR);
  if (descriptor < 0) {
    const bool writes = (flags & (O_WRONLY | O_RDWR)) != 0;
    throw Error(system_message(writes ? "write" : "read", path, errno));
  }
  return FileDescriptor(descriptor);
}

void write_all(int descriptor, std::span<const std::byte> bytes, const std::filesystem::path& path,
               std::size_t* written) {
  std::size_t done = 0;
  if (written) *written = 0;
  while (done < bytes.size()) {
    const ssize_t count = ::write(descriptor, bytes.data() + done, bytes.size() - done);
    if (count < 0) {
      if (errno == EINTR) continue;
      throw Error(system_message("write", path, errno));
    }
    done += static_cast<std::size_t>(count);
    if (written) *written = done;
  }
}

}  // namespace encore::world
