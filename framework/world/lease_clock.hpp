// SPDX-License-Identifier: BSD-3-Clause
// LeaseClock has the two times by which a lease is judged. On the boot of the holder, the time since that
// boot counts, which no user can set; on other machines there is only the time of day.
#pragma once

#include <functional>

namespace encore {

/// Returns seconds since 1970.
double now_seconds();
/// Returns the seconds since this machine was started, the same for all its processes.
double uptime_seconds();

/// The two clocks, which tests replace.
struct LeaseClock {
  std::function<double()> now = now_seconds;
  std::function<double()> uptime = uptime_seconds;
};

}  // namespace encore
