// SPDX-License-Identifier: BSD-3-Clause
// lock_holders(): finds the inode of a file in /proc/locks and reads the command of each process that locks
// it. store/database.cpp calls it for a message. Nothing else depends on it. Read process.hpp first.
#include "world/process.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <set>
#include <sstream>

namespace encore::world {

namespace {

/// Returns the inodes of the database and of the file on which WAL mode locks.
std::set<unsigned long long> inodes_of(const std::filesystem::path& path) {
  std::set<unsigned long long> inodes;
  for (const char* suffix : {"", "-shm"}) {
    struct stat status {};
    if (::stat((path.string() + suffix).c_str(), &status) == 0) inodes.insert(status.st_ino);
  }
  return inodes;
}

std::string command_of(long long pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/comm");
  std::string command;
  std::getline(file, command);
  return command.empty() ? "a program" : command;
}

}  // namespace

std::string lock_holders(const std::filesystem::path& path) {
  const std::set<unsigned long long> inodes = inodes_of(path);
  std::set<long long> holders;
  std::ifstream locks("/proc/locks");
  // A line looks like this: 1: POSIX  ADVISORY  WRITE 4711 fd:00:1234 0 EOF
  for (std::string line; std::getline(locks, line);) {
    std::istringstream fields(line);
    std::string number, kind, mode, access, file;
    long long pid = 0;
    if (!(fields >> number >> kind >> mode >> access >> pid >> file) || access != "WRITE") continue;
    const std::size_t inode_at = file.rfind(':');
    if (inode_at == std::string::npos || pid <= 0 || pid == ::getpid()) continue;
    if (inodes.contains(std::strtoull(file.c_str() + inode_at + 1, nullptr, 10))) holders.insert(pid);
  }
  std::string text;
  for (long long pid : holders) {
    text += (text.empty() ? "" : ", ") + command_of(pid) + " (process " + std::to_string(pid) + ")";
  }
  return text;
}

}  // namespace encore::world
