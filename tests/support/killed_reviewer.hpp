// SPDX-License-Identifier: BSD-3-Clause
// Functions for tests that kill a process in the middle of its work on a review queue. kill_at() runs the
// work in a child process and kills it at a named point of a transaction (review::QueueHooks), review_all()
// is such work, and fault_of_reviewed() checks the queue afterwards. unit/review/queue_process_test.cpp kills
// a few processes, bench/review_queue.cpp a hundred. The child waits at the point until it is killed; this
// must stay so, or the result would depend on time.
#pragma once

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "review/queue.hpp"

namespace encore::testing {

/// Runs `work` in a child process and kills it with SIGKILL when its queue reaches `point` for the
/// `occurrence`-th time, counted from 1. Returns whether it came there; a child that ends before was not
/// killed.
inline bool kill_at(const std::filesystem::path& path, const std::string& point, int occurrence,
                    const std::function<void(review::Queue&)>& work) {
  int pipe_ends[2];
  if (::pipe(pipe_ends) != 0) throw std::runtime_error("cannot make a pipe");
  const pid_t child = ::fork();
  if (child < 0) throw std::runtime_error("cannot fork");
  if (child == 0) {
    ::close(pipe_ends[0]);
    int seen = 0;
    try {
      review::QueueHooks hooks;
      hooks.reached = [&](std::string_view here) {
        if (here != point || ++seen != occurrence) return;
        const char sign = 'x';
        if (::write(pipe_ends[1], &sign, 1) == 1)
          for (;;) ::pause();
      };
      review::Queue queue(path, hooks);
      work(queue);
    } catch (...) {
      ::_exit(1);
    }
    ::_exit(0);
  }
  ::close(pipe_ends[1]);
  char sign = 0;
  const bool came = ::read(pipe_ends[0], &sign, 1) == 1;
  ::close(pipe_ends[0]);
  if (came) ::kill(child, SIGKILL);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (!came && !(WIFEXITED(status) && WEXITSTATUS(status) == 0))
    throw std::runtime_error("the process failed before it was killed");
  return came;
}

/// Claims and decides items until none is left. Every tenth decision is undone and made again.
inline void review_all(review::Queue& queue, const std::string& reviewer) {
  for (int done = 0; const auto item = queue.claim(reviewer); ++done) {
    queue.decide(item->id, item->proposed, reviewer);
    if (done % 10 != 9) continue;
    queue.undo(item->id, reviewer);
    queue.decide(item->id, item->proposed, reviewer);
  }
}

/// Returns what is wrong with a queue of which all items were reviewed: items that are lost or open, decided
/// twice, or counted wrongly. "" if nothing is.
inline std::string fault_of_reviewed(review::Queue& queue, std::size_t items) {
  const std::vector<review::Item> done = queue.list({.waiting = false, .done = true, .most = items + 1});
  if (done.size() != items)
    return std::to_string(done.size()) + " of " + std::to_string(items) + " are decided";
  for (const review::Item& item : done) {
    if (item.opinions.size() != 1)
      return item.id + " has " + std::to_string(item.opinions.size()) + " opinions";
    int decisions = 0;
    for (const review::TrailEntry& entry : queue.trail(item.id))
      decisions += entry.event == review::Event::decided ? 1 : entry.event == review::Event::undone ? -1 : 0;
    if (decisions != 1) return item.id + " has " + std::to_string(decisions) + " decisions in its trail";
  }
  const review::QueueCounts counts = queue.counts();
  if (counts.done != static_cast<std::int64_t>(items) || counts.waiting != 0)
    return "the counts are " + std::to_string(counts.done) + " decided, " + std::to_string(counts.waiting) +
           " waiting";
  return "";
}

}  // namespace encore::testing
