// SPDX-License-Identifier: BSD-3-Clause
// seconds_of(): the seconds of some work on the device, including the wait for its end. machine.cpp,
// order_cost.cpp, peaks.cpp and step_case.cpp time with it. Every measured time must include the wait,
// because a call returns before a GPU has done the work.
#pragma once

#include <chrono>

#include <encore/device.hpp>

namespace encore::bench {

/// Waits for the device, calls `work`, waits again, and returns the seconds from the first to the second
/// wait.
template <class Work>
double seconds_of(const Device& device, const Work& work) {
  device.fence();
  const auto begin = std::chrono::steady_clock::now();
  work();
  device.fence();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace encore::bench
