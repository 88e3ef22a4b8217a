// SPDX-License-Identifier: BSD-3-Clause
// Tests a review queue that several processes use at once, and processes that are killed within a
// transaction: no item is lost, decided twice or given to two people, and no process is locked out. A killed
// process waits at a named point before, so the result does not depend on time (support/killed_reviewer.hpp).
#include <set>

#include "support/killed_reviewer.hpp"
#include "unit/review/queue_fixture.hpp"

namespace encore::testing {
namespace {

using review::Queue;

class QueueProcesses : public QueueTest {
 protected:
  /// Makes a queue with this number of items, with the clock of the machine.
  void fill(std::size_t items) {
    Queue queue = Queue::make(path(), {.application = "desk", .lease_seconds = 1e6}, {"billing"});
    std::vector<review::NewItem> all;
    for (std::size_t i = 0; i < items; ++i)
      all.push_back(new_item("i" + std::to_string(i), static_cast<double>(i % 7) / 7.0));
    add(queue, all);
  }
  static int exit_code_of(pid_t child) {
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
};

TEST_F(QueueProcesses, LetEightReviewersWorkAtOnce) {
  constexpr std::size_t items = 400;
  fill(items);
  int gate[2];
  ASSERT_EQ(::pipe(gate), 0);
  std::vector<pid_t> children;
  for (int i = 0; i < 8; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      ::close(gate[1]);
      try {
        Queue queue(path());
        char sign = 0;
        while (::read(gate[0], &sign, 1) > 0) {
        }  // until all have opened the queue
        review_all(queue, "reviewer " + std::to_string(i));
      } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        ::_exit(1);
      }
      ::_exit(0);
    }
    children.push_back(child);
  }
  ::close(gate[0]);
  ::close(gate[1]);
  for (const pid_t child : children) EXPECT_EQ(exit_code_of(child), 0) << "a reviewer was locked out";
  Queue queue(path());
  EXPECT_EQ(fault_of_reviewed(queue, items), "");
  std::int64_t opinions = 0;
  for (const auto& [reviewer, count] : queue.numbers().by_reviewer) opinions += count;
  EXPECT_EQ(opinions, static_cast<std::int64_t>(items));
}

TEST_F(QueueProcesses, MayBeKilledAtEachPointOfATransaction) {
  constexpr std::size_t items = 60;
  fill(items);
  int kills = 0;
  for (int time = 1; time <= 7; ++time)
    for (const char* point : {"begun", "written", "committed"})
      kills += kill_at(path(), point, time, [](Queue& queue) { review_all(queue, "anna"); }) ? 1 : 0;
  EXPECT_EQ(kills, 21);
  Queue queue(path());
  EXPECT_GT(queue.counts().done, 0);
  review_all(queue, "anna");  // the item that was held is hers
  EXPECT_EQ(fault_of_reviewed(queue, items), "");
}

TEST_F(QueueProcesses, AddAllItemsOrNoneWhenKilled) {
  fill(1);
  for (const auto& [point, expected] : {std::pair("begun", 1), {"written", 1}, {"committed", 4}}) {
    ASSERT_TRUE(kill_at(path(), point, 1, [](Queue& queue) {
      add(queue, {new_item("a", 0.5), new_item("b", 0.5), new_item("c", 0.5)});
    }));
    Queue queue(path());
    EXPECT_EQ(queue.counts().waiting, expected) << point;
    EXPECT_EQ(queue.list({.most = 10}).size(), static_cast<std::size_t>(expected)) << point;
  }
}

}  // namespace
}  // namespace encore::testing
