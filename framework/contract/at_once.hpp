// SPDX-License-Identifier: BSD-3-Clause
// at_once() runs the same work on several threads that begin together, for const functions of plugins that
// the host calls from several threads. task_checks.cpp and tokenizer_checks.cpp call it. A race is found only
// by chance, so a build with the thread sanitizer (preset tsan) runs the same checks and finds each access
// without a lock. Nothing else depends on it.
#pragma once

#include <atomic>
#include <future>
#include <thread>
#include <vector>

namespace encore::contract {

inline constexpr std::size_t threads_at_once = 4;

/// Calls `work(thread)`, which returns whether it succeeded, from four threads at once; returns whether all
/// did. An exception of a thread is thrown here when all have ended.
template <class Work>
bool at_once(const Work& work) {
  std::atomic<std::size_t> arrived = 0;  // spinning: sleeping threads would wake one after the other
  std::vector<std::future<bool>> threads;
  for (std::size_t thread = 0; thread < threads_at_once; ++thread)
    threads.push_back(std::async(std::launch::async, [&, thread] {
      for (++arrived; arrived < threads_at_once;) std::this_thread::yield();
      return work(thread);
    }));
  for (const std::future<bool>& thread : threads) thread.wait();
  bool all = true;
  for (std::future<bool>& thread : threads) all = thread.get() && all;
  return all;
}

}  // namespace encore::contract
