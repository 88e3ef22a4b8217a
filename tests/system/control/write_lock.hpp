// Another process that holds the write lock of a sandbox's database during the life of this object.
#pragma once

#include <gtest/gtest.h>
#include <sqlite3.h>

#include "system/control/sandbox.hpp"

namespace encore::system_test {

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
