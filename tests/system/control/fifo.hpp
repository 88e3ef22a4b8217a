// SPDX-License-Identifier: BSD-3-Clause
// Fifo: holds the `check` of a scripted worker (FAKE_HOLD_CHECK, fake_worker.cpp) until the test lets it
// continue. Only session_test.cpp uses it, so it may change with that test. hold.hpp holds workers in a step
// of training instead.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include <gtest/gtest.h>

#include "world/file_descriptor.hpp"

namespace encore::system_test {

class Fifo {
 public:
  explicit Fifo(std::filesystem::path path) : path_(std::move(path)) { ::mkfifo(path_.c_str(), 0600); }

  std::string path() const { return path_.string(); }
  /// Waits until a worker has reached it, and lets that worker continue.
  void open() const { ::close(::open(path_.c_str(), O_WRONLY | O_CLOEXEC)); }
  /// Lets a worker continue that may reach it now, later or never.
  void stay_open() {
    descriptor_ = world::FileDescriptor(::open(path_.c_str(), O_RDWR | O_CLOEXEC));
    EXPECT_EQ(::write(descriptor_.get(), "x", 1), 1);
  }

 private:
  std::filesystem::path path_;
  world::FileDescriptor descriptor_;
};

}  // namespace encore::system_test
