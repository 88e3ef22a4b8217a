// What one process asks of another through files.
#include "runner/stop_request.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

namespace encore {
namespace {

class StopRequestTest : public testing::Test {
 protected:
  StopRequestTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "encore-stop-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
  }
  ~StopRequestTest() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path folder_;
};

TEST_F(StopRequestTest, ARunIsAskedToCheckpointOrKilled) {
  EXPECT_EQ(requested_stop(folder_), StopWish::none);
  request_stop(folder_, StopWish::checkpoint);
  EXPECT_EQ(requested_stop(folder_), StopWish::checkpoint);
  request_stop(folder_, StopWish::kill);
  EXPECT_EQ(requested_stop(folder_), StopWish::kill) << "the later one counts";
  forget_stop_request(folder_);
  EXPECT_EQ(requested_stop(folder_), StopWish::none);
}

TEST_F(StopRequestTest, ASignCountsFromItsChange) {
  const std::filesystem::path file = stop_sign_of_all(folder_);
  StopSign::raise(file, StopWish::kill);
  const StopSign sign(file);
  EXPECT_EQ(sign.raised(), StopWish::none) << "it stood there before";
  StopSign::raise(file, StopWish::checkpoint);
  EXPECT_EQ(sign.raised(), StopWish::checkpoint);
  StopSign::raise(file, StopWish::kill);
  EXPECT_EQ(sign.raised(), StopWish::kill);
}

}  // namespace
}  // namespace encore
