// SPDX-License-Identifier: BSD-3-Clause
// run_parts(): runs numbered parts of host work on several threads. The threads are std::thread, because the
// control program shares this folder and has no OpenMP. Read parallel.hpp first: results must not depend on
// their number.
#include "base/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <thread>
#include <vector>

namespace encore {

void run_parts(std::int64_t count, int threads, const std::function<void(std::int64_t)>& part) {
  std::vector<std::exception_ptr> failures(static_cast<std::size_t>(count));
  std::atomic<std::int64_t> next = 0;
  const auto work = [&] {
    for (std::int64_t i = next++; i < count; i = next++) try {
        part(i);
      } catch (...) {
        failures[static_cast<std::size_t>(i)] = std::current_exception();
      }
  };
  std::vector<std::jthread> helpers;
  for (std::int64_t i = 1; i < std::min<std::int64_t>(threads, count); ++i) helpers.emplace_back(work);
  work();
  helpers.clear();  // waits
  for (const std::exception_ptr& failure : failures)
    if (failure) std::rethrow_exception(failure);
}

}  // namespace encore
