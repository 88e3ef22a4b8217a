// A request to stop reaches the attempt that it names, however young that is, and no other.
#include "runner/stop_request.hpp"

#include <gtest/gtest.h>

#include "unit/record/temporary_folder.hpp"

namespace encore {
namespace {

TEST(StopRequest, reaches_an_attempt_that_begins_after_it_was_made) {
  const testing::TemporaryFolder folder;
  request_stop(folder.path(), 2, StopWish::checkpoint);
  forget_stop_requests_before(folder.path(), 2);  // what an attempt does first
  EXPECT_EQ(requested_stop(folder.path(), 2), StopWish::checkpoint);
}

TEST(StopRequest, is_for_no_other_attempt) {
  const testing::TemporaryFolder folder;
  request_stop(folder.path(), 2, StopWish::checkpoint);
  EXPECT_EQ(requested_stop(folder.path(), 1), StopWish::none);
  EXPECT_EQ(requested_stop(folder.path(), 3), StopWish::none);
  forget_stop_requests_before(folder.path(), 3);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(StopRequest, of_two_wishes_the_later_one_counts) {
  const testing::TemporaryFolder folder;
  request_stop(folder.path(), 1, StopWish::checkpoint);
  request_stop(folder.path(), 1, StopWish::kill);
  EXPECT_EQ(requested_stop(folder.path(), 1), StopWish::kill);
}

}  // namespace
}  // namespace encore
