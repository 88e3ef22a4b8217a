// SPDX-License-Identifier: BSD-3-Clause
// GCC's OpenMP by itself spins 300,000 rounds, which are milliseconds. On a machine that others use too, a
// spinning thread takes the CPU from the very thread that it waits for. The next kernel mostly begins within
// microseconds, before a thread would fall asleep. Tried instead: OMP_WAIT_POLICY=passive, which sleeps at
// once and pays a system call for each kernel.
#include "runner/brief_waiting.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace encore {
namespace {

constexpr double spin_seconds = 2e-4;

/// One round of OpenMP's loop takes 1 to 50 nanoseconds, depending on the processor's pause, so it is timed:
/// the shortest of several tries counts, because this process may be interrupted. Together they take about 50
/// microseconds.
double seconds_of_a_round() {
  using Clock = std::chrono::steady_clock;
  constexpr int rounds = 128, tries = 8;
  double shortest = 1.0;
  std::atomic<int> word = 0;
  for (int attempt = 0; attempt < tries; ++attempt) {
    const auto begin = Clock::now();
    for (int round = 0; round < rounds && word.load(std::memory_order_relaxed) == 0; ++round) {
#if defined(__x86_64__)
      _mm_pause();
#else
      std::atomic_signal_fence(std::memory_order_seq_cst);
#endif
    }
    shortest = std::min(shortest, std::chrono::duration<double>(Clock::now() - begin).count());
  }
  constexpr double clock_resolution = 1e-8;
  return std::max(shortest, clock_resolution) / rounds;
}

}  // namespace

std::map<std::string, std::string> brief_waiting() {
  if (std::getenv("OMP_WAIT_POLICY") != nullptr || std::getenv("GOMP_SPINCOUNT") != nullptr) return {};
  static const auto rounds = static_cast<std::int64_t>(spin_seconds / seconds_of_a_round()) + 1;
  return {{"GOMP_SPINCOUNT", std::to_string(rounds)}};
}

}  // namespace encore
