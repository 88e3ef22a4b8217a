// SPDX-License-Identifier: BSD-3-Clause
// Implements plan_memory(): places the lifetimes of tensors greedily at offsets of one arena, in several
// orders, and keeps the smallest layout. StepPlan::place calls it. The result must be the same on every
// machine. Read memory_plan.hpp first; tests/unit/memory/memory_plan_test.cpp has the promises.
#include "memory/memory_plan.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <numeric>

#include <encore/error.hpp>

namespace encore::memory {
namespace {

std::size_t round_up(std::size_t bytes, std::size_t alignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

bool overlap(const Ticks& a, const Ticks& b) {
  return a.first <= b.last && b.first <= a.last;
}

/// Returns the ticks in which a tensor holds its content: those before it is idle and those after.
std::array<Ticks, 2> alive(const BufferLifetime& interval) {
  if (interval.idle.last < interval.idle.first) return {Ticks{interval.first, interval.last}, Ticks()};
  return {Ticks{interval.first, interval.idle.first - 1}, Ticks{interval.idle.last + 1, interval.last}};
}

bool overlap(const BufferLifetime& a, const BufferLifetime& b) {
  if (!overlap(Ticks{a.first, a.last}, Ticks{b.first, b.last})) return false;
  for (const Ticks& of_a : alive(a))
    for (const Ticks& of_b : alive(b))
      if (overlap(of_a, of_b)) return true;
  return false;
}

/// Places the intervals one after another; `placed` is kept sorted by offset, so the gaps can be read in one
/// pass.
MemoryLayout place_in_order(std::span<const BufferLifetime> intervals, const std::vector<std::size_t>& order,
                            std::size_t alignment) {
  MemoryLayout layout;
  layout.offsets.assign(intervals.size(), 0);
  std::vector<std::size_t> placed;
  for (const std::size_t current : order) {
    const std::size_t bytes = round_up(intervals[current].bytes, alignment);
    std::size_t best = 0;
    std::size_t best_gap = 0;
    std::size_t end = 0;  // below this offset every interval that is alive has been seen
    bool found = false;
    for (const std::size_t other : placed) {
      if (!overlap(intervals[current], intervals[other])) continue;
      const std::size_t begin = layout.offsets[other];
      if (begin >= end + bytes && (!found || begin - end < best_gap)) {
        found = true;
        best = end;
        best_gap = begin - end;
      }
      end = std::max(end, begin + round_up(intervals[other].bytes, alignment));
    }
    layout.offsets[current] = found ? best : end;
    layout.bytes = std::max(layout.bytes, layout.offsets[current] + bytes);
    const auto by_offset = [&](std::size_t a, std::size_t b) {
      return layout.offsets[a] < layout.offsets[b];
    };
    placed.insert(std::upper_bound(placed.begin(), placed.end(), current, by_offset), current);
  }
  return layout;
}

/// Returns indices by descending key; equal keys keep the given order, so the result is the same on every
/// machine.
std::vector<std::size_t> descending(std::size_t count, const std::function<std::size_t(std::size_t)>& key) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return key(a) > key(b); });
  return order;
}

}  // namespace

MemoryLayout plan_memory(std::span<const BufferLifetime> intervals, std::size_t alignment) {
  ENCORE_REQUIRE(alignment > 0, "an alignment is at least one byte");
  for (const BufferLifetime& interval : intervals)
    ENCORE_REQUIRE(interval.first <= interval.last &&
                       (interval.idle.last < interval.idle.first ||
                        (interval.first < interval.idle.first && interval.idle.last < interval.last)),
                   "an interval ends after it begins, and is idle in between");
  const auto bytes = [&](std::size_t i) { return intervals[i].bytes; };
  const auto span = [&](std::size_t i) {
    std::size_t ticks = 0;
    for (const Ticks& part : alive(intervals[i]))
      ticks += static_cast<std::size_t>(part.last - part.first + 1);
    return ticks;
  };
  const auto area = [&](std::size_t i) { return bytes(i) * span(i); };

  MemoryLayout best = place_in_order(intervals, descending(intervals.size(), span), alignment);
  for (const auto& order : {descending(intervals.size(), bytes), descending(intervals.size(), area)}) {
    MemoryLayout candidate = place_in_order(intervals, order, alignment);
    if (candidate.bytes < best.bytes) best = std::move(candidate);
  }
  return best;
}

std::size_t live_peak(std::span<const BufferLifetime> intervals, std::size_t alignment) {
  std::map<int, std::pair<std::size_t, std::size_t>> changes;  // tick -> bytes that appear, bytes that vanish
  for (const BufferLifetime& interval : intervals)
    for (const Ticks& ticks : alive(interval)) {
      if (ticks.last < ticks.first) continue;
      changes[ticks.first].first += round_up(interval.bytes, alignment);
      changes[ticks.last + 1].second += round_up(interval.bytes, alignment);
    }
  std::size_t alive = 0;
  std::size_t peak = 0;
  for (const auto& [tick, change] : changes) {
    alive += change.first;
    alive -= change.second;
    peak = std::max(peak, alive);
  }
  return peak;
}

}  // namespace encore::memory
