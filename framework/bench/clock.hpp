// SPDX-License-Identifier: BSD-3-Clause
// seconds_of(): the seconds of some work on the device, including the wait for its end. machine.cpp,
// order_cost.cpp, peaks.cpp and step_case.cpp time with it.
#pragma once

#include <chrono>

#include <encore/device.hpp>

namespace encore::bench {

template <class Work>
double seconds_of(const Device& device, const Work& work) {
  device.fence();
  const auto begin = std::chrono::steady_clock::now();
  work();
  device.fence();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace encore::bench
