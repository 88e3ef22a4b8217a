// SPDX-License-Identifier: BSD-3-Clause
// BusyWait: the busy handler of a connection, which SQLite calls while another process holds the lock. It
// tries again every millisecond, while SQLite's own handler sleeps longer and longer (busy_wait.hpp says why
// that matters to review queues). The interval may change, since only speed depends on it; a connection must
// never be left with a handler whose object is gone.
#include "store/busy_wait.hpp"

#include <sqlite3.h>

#include <thread>

namespace encore::store {

namespace {

constexpr std::chrono::milliseconds interval(1);

}  // namespace

BusyWait::BusyWait(const Database& database, std::chrono::milliseconds patience)
    : database_(database), patience_(patience) {
  sqlite3_busy_handler(database_.handle(), wait, this);
}

/// Gives the connection SQLite's own handler again, with the same patience.
BusyWait::~BusyWait() {
  sqlite3_busy_timeout(database_.handle(), static_cast<int>(patience_.count()));
}

int BusyWait::wait(void* self, int attempts) {
  BusyWait& waiting = *static_cast<BusyWait*>(self);
  const auto now = std::chrono::steady_clock::now();
  if (attempts == 0) waiting.since_ = now;
  if (now - waiting.since_ >= waiting.patience_) return 0;
  std::this_thread::sleep_for(interval);
  return 1;
}

}  // namespace encore::store
