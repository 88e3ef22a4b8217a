// SPDX-License-Identifier: BSD-3-Clause
// Tests plan_memory() (memory/memory_plan.hpp), which gives each buffer of a training step an offset in one
// arena from its lifetime and size. Two buffers that are used at the same time must never overlap; the plan
// is a pure function of its input; and it must be close to the lower bound. Lifetimes are random, or nested
// as in a model.
#include "memory/memory_plan.hpp"

#include <gtest/gtest.h>

#include <random>

namespace encore::memory {
namespace {

constexpr std::size_t alignment = 64;

/// Returns `count` buffers of up to 10000 bytes with random lifetimes within `ticks`; a fifth of them has no
/// bytes.
std::vector<BufferLifetime> random_intervals(unsigned seed, int count, int ticks) {
  std::mt19937 random(seed);
  std::vector<BufferLifetime> intervals;
  for (int i = 0; i < count; ++i) {
    const int a = static_cast<int>(random() % static_cast<unsigned>(ticks));
    const int b = static_cast<int>(random() % static_cast<unsigned>(ticks));
    intervals.push_back({std::min(a, b), std::max(a, b), random() % 5 == 0 ? 0 : random() % 10000});
  }
  return intervals;
}

/// Returns the same lifetimes, but most of those that are long enough have an idle time, in which others may
/// use their memory.
std::vector<BufferLifetime> idling_intervals(unsigned seed, int count, int ticks) {
  std::vector<BufferLifetime> intervals = random_intervals(seed, count, ticks);
  std::mt19937 random(seed + 1);
  for (BufferLifetime& interval : intervals) {
    const int inner = interval.last - interval.first - 1;
    if (inner < 1 || random() % 4 == 0) continue;
    const int a = static_cast<int>(random() % static_cast<unsigned>(inner));
    const int b = static_cast<int>(random() % static_cast<unsigned>(inner));
    interval.idle = {interval.first + 1 + std::min(a, b), interval.first + 1 + std::max(a, b)};
  }
  return intervals;
}

/// Returns whether the buffer needs its content at this tick.
bool holds_at(const BufferLifetime& interval, int tick) {
  return interval.first <= tick && tick <= interval.last &&
         !(interval.idle.first <= tick && tick <= interval.idle.last);
}

/// Returns lifetimes as in a model: saved tensors nest (written early, read late), scratch memory lives for
/// one tick.
std::vector<BufferLifetime> nested_intervals(int layers) {
  std::vector<BufferLifetime> intervals;
  for (int i = 0; i < layers; ++i) {
    const int backward = 2 * layers - 1 - i;
    for (const std::size_t bytes : {4096u, 12288u, 4096u, 128u}) intervals.push_back({i, backward, bytes});
    intervals.push_back({i, i, 8192});
    intervals.push_back({backward, backward, 16384});
    intervals.push_back({backward, backward + 1, 4096});
  }
  return intervals;
}

/// Expects aligned offsets inside the arena, and no overlap of buffers that are used at the same tick.
void expect_valid(const std::vector<BufferLifetime>& intervals, const MemoryLayout& layout) {
  ASSERT_EQ(layout.offsets.size(), intervals.size());
  for (std::size_t i = 0; i < intervals.size(); ++i) {
    EXPECT_EQ(layout.offsets[i] % alignment, 0u);
    EXPECT_LE(layout.offsets[i] + intervals[i].bytes, layout.bytes);
    for (std::size_t j = 0; j < i; ++j) {
      bool same_time = false;
      for (int tick = intervals[i].first; tick <= intervals[i].last; ++tick)
        same_time = same_time || (holds_at(intervals[i], tick) && holds_at(intervals[j], tick));
      const bool same_place = layout.offsets[i] < layout.offsets[j] + intervals[j].bytes &&
                              layout.offsets[j] < layout.offsets[i] + intervals[i].bytes;
      EXPECT_FALSE(same_time && same_place && intervals[i].bytes > 0 && intervals[j].bytes > 0)
          << i << " and " << j;
    }
  }
}

TEST(MemoryPlan, LiveIntervalsNeverOverlap) {
  for (unsigned seed = 0; seed < 100; ++seed) {
    const auto intervals = random_intervals(seed, 1 + static_cast<int>(seed), 1 + static_cast<int>(seed) / 3);
    expect_valid(intervals, plan_memory(intervals, alignment));
    const auto idling = idling_intervals(seed, 1 + static_cast<int>(seed), 1 + static_cast<int>(seed) / 3);
    expect_valid(idling, plan_memory(idling, alignment));
  }
}

TEST(MemoryPlan, IsAPureFunction) {
  const auto intervals = random_intervals(7, 80, 30);
  EXPECT_EQ(plan_memory(intervals, alignment).offsets, plan_memory(intervals, alignment).offsets);
}

TEST(MemoryPlan, IsNearTheLowerBound) {
  double worst = 0.0;
  for (unsigned seed = 0; seed < 100; ++seed) {
    const auto intervals = random_intervals(seed, 100, 40);
    const double bound = static_cast<double>(live_peak(intervals, alignment));
    const double bytes = static_cast<double>(plan_memory(intervals, alignment).bytes);
    EXPECT_GE(bytes, bound);
    worst = std::max(worst, bytes / bound);
  }
  EXPECT_LE(worst, 1.15);
}

TEST(MemoryPlan, OfAModelWastesNothing) {
  const auto intervals = nested_intervals(24);
  const MemoryLayout layout = plan_memory(intervals, alignment);
  expect_valid(intervals, layout);
  EXPECT_LE(static_cast<double>(layout.bytes), 1.02 * static_cast<double>(live_peak(intervals, alignment)));
}

TEST(MemoryPlan, NeighboursInTimeShareMemory) {
  const std::vector<BufferLifetime> intervals{{0, 1, 640}, {2, 3, 640}, {4, 4, 600}};
  EXPECT_EQ(plan_memory(intervals, alignment).bytes, 640u);
}

TEST(MemoryPlan, TheLastTickCounts) {
  const std::vector<BufferLifetime> intervals{{0, 2, 64}, {2, 3, 64}};
  EXPECT_EQ(plan_memory(intervals, alignment).bytes, 128u);
}

TEST(MemoryPlan, WhatIsIdleLeavesItsPlaceToOthers) {
  const BufferLifetime idle{0, 9, 640, {1, 8}};
  EXPECT_EQ(plan_memory(std::vector<BufferLifetime>{idle, {1, 8, 640}}, alignment).bytes, 640u);
  EXPECT_EQ(plan_memory(std::vector<BufferLifetime>{idle, {2, 7, 640, {3, 6}}, {3, 6, 640}}, alignment).bytes,
            640u);
  EXPECT_EQ(plan_memory(std::vector<BufferLifetime>{idle, {0, 8, 640}}, alignment).bytes, 1280u);
  EXPECT_EQ(plan_memory(std::vector<BufferLifetime>{idle, {1, 9, 640}}, alignment).bytes, 1280u);
  EXPECT_EQ(live_peak(std::vector<BufferLifetime>{idle, {1, 8, 640}}, alignment), 640u);
}

TEST(MemoryPlan, NothingNeedsNothing) {
  EXPECT_EQ(plan_memory({}, alignment).bytes, 0u);
}

TEST(MemoryPlan, AnIntervalThatEndsBeforeItBeginsIsRefused) {
  const std::vector<BufferLifetime> intervals{{2, 1, 64}};
  EXPECT_THROW(plan_memory(intervals, alignment), std::logic_error);
}

TEST(MemoryPlan, AnIntervalThatIsIdleAtItsEndIsRefused) {
  for (const Ticks idle : {Ticks{1, 2}, Ticks{2, 4}, Ticks{0, 9}})
    EXPECT_THROW(plan_memory(std::vector<BufferLifetime>{{1, 4, 64, idle}}, alignment), std::logic_error);
}

}  // namespace
}  // namespace encore::memory
