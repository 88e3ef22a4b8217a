// SPDX-License-Identifier: BSD-3-Clause
// LeaseClock holds the two clocks that decide whether a lease on a run has expired (store/attempts.cpp). On
// the machine of the lease's holder, the time since boot counts, which a user cannot set; on other machines
// the time of day. now_seconds() is also the time of day for all other code. Leases in databases hold these
// times, so both clocks keep their zero.
#pragma once

#include <functional>

namespace encore::world {

/// Returns seconds since 1970.
double now_seconds();
/// Returns the seconds since boot, the same for all processes of this machine.
double uptime_seconds();

/// The two clocks as functions, so that tests can replace them.
struct LeaseClock {
  std::function<double()> now = now_seconds;
  std::function<double()> uptime = uptime_seconds;
};

}  // namespace encore::world
