// SPDX-License-Identifier: BSD-3-Clause
// Tests stop requests (runner/stop_request.hpp), the files by which `exp stop` reaches a process that works
// on a run: a request reaches the attempt that it names, even if that attempt begins after the request was
// made, and must reach no other attempt.
#include "runner/stop_request.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <vector>

#include <gtest/gtest.h>

#include "unit/record/temporary_folder.hpp"

namespace encore::runner {
namespace {

TEST(StopRequest, ReachesAnAttemptThatBeginsAfterItWasMade) {
  const testing::TemporaryFolder folder;
  request_stop(folder.path(), 2, StopWish::checkpoint);
  forget_stop_requests_before(folder.path(), 2);  // the first action of an attempt
  EXPECT_EQ(requested_stop(folder.path(), 2), StopWish::checkpoint);
}

TEST(StopRequest, ReachesNoOtherAttempt) {
  const testing::TemporaryFolder folder;
  request_stop(folder.path(), 2, StopWish::checkpoint);
  EXPECT_EQ(requested_stop(folder.path(), 1), StopWish::none);
  EXPECT_EQ(requested_stop(folder.path(), 3), StopWish::none);
  forget_stop_requests_before(folder.path(), 3);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(StopRequest, OfTwoRequestsTheLaterOneCounts) {
  const testing::TemporaryFolder folder;
  request_stop(folder.path(), 1, StopWish::checkpoint);
  request_stop(folder.path(), 1, StopWish::kill);
  EXPECT_EQ(requested_stop(folder.path(), 1), StopWish::kill);
  request_stop(folder.path(), 1, StopWish::checkpoint);
  EXPECT_EQ(requested_stop(folder.path(), 1), StopWish::checkpoint);
}

TEST(StopRequest, MayBeMadeBySeveralProcessesAtOnce) {
  const testing::TemporaryFolder folder;
  std::vector<pid_t> processes;
  for (int i = 0; i < 4; ++i) {
    processes.push_back(::fork());
    if (processes.back() != 0) continue;
    try {
      for (int again = 0; again < 50; ++again) request_stop(folder.path(), 1, StopWish::kill);
    } catch (const std::exception&) {
      ::_exit(1);
    }
    ::_exit(0);
  }
  for (const pid_t process : processes) {
    int status = -1;
    ::waitpid(process, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(requested_stop(folder.path(), 1), StopWish::kill);
  forget_stop_requests_before(folder.path(), 2);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path())) << "nothing else is left";
}

}  // namespace
}  // namespace encore::runner
