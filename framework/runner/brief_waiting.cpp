// SPDX-License-Identifier: BSD-3-Clause
// brief_waiting(): computes how often OpenMP threads spin before they sleep, about 0.2 ms. GCC's default of
// 300,000 rounds takes milliseconds; on a shared machine a spinning thread then takes the CPU from the thread
// that it waits for. The next kernel mostly begins within microseconds, before a thread would sleep.
// OMP_WAIT_POLICY=passive was tried: it sleeps at once and costs a system call for each kernel.
// worker_process.cpp and cli/become_worker.cpp call it. The number decides speed only, so it may change. Read
// worker_process.hpp first.
#include "runner/worker_process.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace encore::runner {
namespace {

constexpr double spin_seconds = 2e-4;

/// Measures one round of OpenMP's waiting loop, which takes 1 to 50 nanoseconds depending on the processor.
/// The shortest of several tries counts, because this process may be interrupted. All tries take about 50
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

}  // namespace encore::runner
