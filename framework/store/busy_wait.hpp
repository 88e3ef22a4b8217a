// SPDX-License-Identifier: BSD-3-Clause
// BusyWait: how a connection waits for other processes that write. SQLite's own waits grow to a tenth of a
// second, so among processes that write all the time one could wait for many seconds: with eight of them, 17
// s were measured. Files with many short transactions of several processes use it (review/queue.cpp). The
// database of runs does not: its writers are few. The interval of the waits may change; only speed depends on
// it.
#pragma once

#include <chrono>

#include "store/database.hpp"

namespace encore::store {

class BusyWait {
 public:
  /// Makes the connection try again every millisecond, up to `patience`, while this object lives.
  BusyWait(const Database& database, std::chrono::milliseconds patience);
  ~BusyWait();
  BusyWait(const BusyWait&) = delete;
  BusyWait& operator=(const BusyWait&) = delete;

 private:
  static int wait(void* self, int attempts);

  const Database& database_;
  std::chrono::milliseconds patience_;
  std::chrono::steady_clock::time_point since_ = {};  ///< the first attempt of the statement that waits
};

}  // namespace encore::store
