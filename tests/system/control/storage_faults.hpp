// SPDX-License-Identifier: BSD-3-Clause
// Faults of storage that a test makes: SmallDisk is full, WriteLock locks the database of a sandbox. Used by
// interruption_test.cpp and by survival/disk_test.cpp and survival/busy_test.cpp. It may change with these
// tests; nothing else depends on it.
#pragma once

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/mount.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "system/control/sandbox.hpp"

namespace encore::system_test {

/// A small file system in memory that a test fills. Only root may mount it.
class SmallDisk {
 public:
  explicit SmallDisk(const std::filesystem::path& folder, const char* size = "size=2m") : folder_(folder) {
    std::filesystem::create_directories(folder);
    mounted = ::mount("tmpfs", folder.c_str(), "tmpfs", 0, size) == 0;
  }
  ~SmallDisk() {
    if (mounted) ::umount2(folder_.c_str(), MNT_DETACH);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

  /// Fills it to the last byte.
  void fill() const {
    std::ofstream file(folder_ / "filler", std::ios::binary);
    const std::string block(4096, 'x');
    while (file.write(block.data(), static_cast<std::streamsize>(block.size())).flush()) {
    }
  }
  void free() const { std::filesystem::remove(folder_ / "filler"); }

  bool mounted = false;  ///< false if the user may not mount: skip the test

 private:
  std::filesystem::path folder_;
};

/// Holds the write lock of a sandbox's database during its life, as another process would.
class WriteLock {
 public:
  explicit WriteLock(const Sandbox& sandbox) {
    EXPECT_EQ(sqlite3_open((sandbox.folder() / "encore.db").c_str(), &database_), SQLITE_OK);
    sqlite3_busy_timeout(database_, static_cast<int>(1000 * patience));
    EXPECT_EQ(sqlite3_exec(database_, "BEGIN EXCLUSIVE", nullptr, nullptr, nullptr), SQLITE_OK);
  }
  ~WriteLock() { sqlite3_close(database_); }
  WriteLock(const WriteLock&) = delete;
  WriteLock& operator=(const WriteLock&) = delete;

 private:
  sqlite3* database_ = nullptr;
};

}  // namespace encore::system_test
