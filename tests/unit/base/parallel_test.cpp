// SPDX-License-Identifier: BSD-3-Clause
// Tests run_parts() (base/parallel.hpp), which divides host work such as encoding or hashing among threads:
// each part is done once for any number of threads, and of several errors the one of the part with the
// smallest number is thrown, so that no result depends on threads.
#include "base/parallel.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

TEST(RunParts, DoesEachPartOnce) {
  for (const int threads : {0, 1, 2, 9}) {
    std::vector<std::atomic<int>> done(101);
    encore::run_parts(101, threads, [&](std::int64_t i) { ++done[static_cast<std::size_t>(i)]; });
    for (const std::atomic<int>& count : done) EXPECT_EQ(count, 1) << threads << " threads";
  }
}

TEST(RunParts, DoesNothingWithoutParts) {
  encore::run_parts(0, 4, [](std::int64_t) { FAIL(); });
}

TEST(RunParts, ThrowsWhatThePartWithTheSmallestNumberThrew) {
  for (const int threads : {1, 4}) {
    std::atomic<int> done = 0;
    try {
      encore::run_parts(50, threads, [&](std::int64_t i) {
        ++done;
        if (i % 10 == 7) throw std::runtime_error("part " + std::to_string(i));
      });
      FAIL() << "nothing was thrown";
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "part 7");
    }
    EXPECT_EQ(done, 50);
  }
}

}  // namespace
