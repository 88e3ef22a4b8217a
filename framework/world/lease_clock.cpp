// SPDX-License-Identifier: BSD-3-Clause
// Reads the two clocks by which leases (the right of a process to work on a run) are judged: time of day, and
// time since boot without sleep. store/attempts.cpp judges by them; databases hold these times, so both
// clocks keep their zero. Read lease_clock.hpp first.
#include "world/lease_clock.hpp"

#include <time.h>

#include <chrono>

namespace encore::world {

double now_seconds() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

double uptime_seconds() {
  // CLOCK_MONOTONIC stops while the machine sleeps, as its processes do, so a laptop that wakes up has lost
  // no run.
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

}  // namespace encore::world
