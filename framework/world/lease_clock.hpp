// LeaseClock: the two times by which a lease lives. Whoever looks from the boot on which the holder works
// compares the time since that boot, which nobody can set; from elsewhere there is only the time of day.
#pragma once

#include <functional>

namespace encore {

/// Seconds since 1970.
double now_seconds();
/// Seconds for which this machine has run since it was started, the same for all its processes.
double uptime_seconds();

/// What tests put in the place of both.
struct LeaseClock {
  std::function<double()> now = now_seconds;
  std::function<double()> uptime = uptime_seconds;
};

}  // namespace encore
