// A request to stop reaches the attempt that it names, however young that is, and no other.
#include "runner/stop_request.hpp"

#include <gtest/gtest.h>

#include "unit/record/temporary_folder.hpp"

namespace encore {
namespace {

TEST(StopRequest, reaches_an_attempt_that_begins_after_it_was_made) {
  const testing::TemporaryFolder folder;
  request_stop(folder.path(), 2);
  forget_stop_requests_before(folder.path(), 2);  // what an attempt does first
  EXPECT_TRUE(stop_requested(folder.path(), 2));
}

TEST(StopRequest, is_for_no_other_attempt) {
  const testing::TemporaryFolder folder;
  request_stop(folder.path(), 2);
  EXPECT_FALSE(stop_requested(folder.path(), 1));
  EXPECT_FALSE(stop_requested(folder.path(), 3));
  forget_stop_requests_before(folder.path(), 3);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

}  // namespace
}  // namespace encore
