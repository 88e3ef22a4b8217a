// SPDX-License-Identifier: BSD-3-Clause
// plan_memory() turns lifetimes and sizes into offsets. It is a pure function without a device.
// StepPlan::place calls it once for the largest batch; every smaller batch uses the same offsets. The result
// must be the same on every machine.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace encore::memory {

/// The ticks from `first` to `last`, both included; none if `last` is smaller.
struct Ticks {
  int first = 0;
  int last = -1;
};

/// A tensor that must hold its content from tick `first` to tick `last`, both included, except in the ticks
/// of `idle`, in which others may use its place.
struct BufferLifetime {
  int first = 0;
  int last = 0;
  std::size_t bytes = 0;
  Ticks idle = {};
};

struct MemoryLayout {
  std::vector<std::size_t> offsets;  ///< one per interval, multiples of `alignment`
  std::size_t bytes = 0;             ///< of the whole arena
};

/// Returns offsets such that no two intervals that are alive at one tick overlap. It places greedily, each
/// interval into the smallest gap that holds it, in several orders (Pisarchyk and Lee 2020 compare them), and
/// keeps the smallest layout.
MemoryLayout plan_memory(std::span<const BufferLifetime> intervals, std::size_t alignment);

/// Returns the largest number of bytes alive at one tick: no layout can be smaller.
std::size_t live_peak(std::span<const BufferLifetime> intervals, std::size_t alignment);

}  // namespace encore::memory
