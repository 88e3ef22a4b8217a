// SPDX-License-Identifier: BSD-3-Clause
// Tests the checkpoints of a run folder (record/checkpoint.hpp): the newest intact one is found even if later
// ones are damaged, and pruning never removes those that a run needs. The trainer and the runner rely on both
// when a run resumes.
#include "record/checkpoint.hpp"

#include <gtest/gtest.h>

#include "record/spool.hpp"
#include "unit/record/temporary_folder.hpp"

namespace encore::record {
namespace {

using testing::message_of;
using testing::read_bytes;
using testing::TemporaryFolder;
using testing::write_bytes;

class CheckpointTest : public ::testing::Test {
 protected:
  SavedFile save(std::int64_t step) {
    const std::vector<float> weights = {static_cast<float>(step), 1.0f};
    const TensorSlice slice{"parameter/w", DType::float32, {2}, std::as_bytes(std::span(weights))};
    return save_checkpoint(folder_.path(), step, {slice}, {{"step", std::to_string(step)}});
  }
  void record(SpoolWriter& spool, std::int64_t step, const std::string& sha256) {
    spool.event(Saved{.step = step, .path = checkpoint_path(step), .sha256 = sha256});
  }
  std::int64_t newest() {
    damaged_.clear();
    const auto found = find_newest_checkpoint(folder_.path(), &damaged_);
    return found ? found->file.step : -1;
  }
  /// Changes one bit of a weight: the structure stays valid.
  void flip_last_bit(std::int64_t step) {
    std::string bytes = read_bytes(folder_ / checkpoint_path(step));
    bytes.back() = static_cast<char>(bytes.back() ^ 1);
    write_bytes(folder_ / checkpoint_path(step), bytes);
  }

  TemporaryFolder folder_;
  std::vector<DamagedCheckpoint> damaged_;
};

TEST_F(CheckpointTest, NamesAndLists) {
  EXPECT_EQ(checkpoint_path(123), "checkpoints/step-00000123.safetensors");
  EXPECT_TRUE(list_checkpoints(folder_.path()).empty());
  EXPECT_EQ(newest(), -1);
  for (std::int64_t step : {20, 100000000, 3}) save(step);
  write_bytes(folder_ / "checkpoints/step-x.safetensors", "");
  write_bytes(folder_ / "checkpoints/step-00000200.safetensors.part", "");
  std::vector<std::int64_t> steps;
  for (const CheckpointFile& file : list_checkpoints(folder_.path())) steps.push_back(file.step);
  EXPECT_EQ(steps, (std::vector<std::int64_t>{3, 20, 100000000}));
  EXPECT_EQ(newest(), 100000000);
}

TEST_F(CheckpointTest, FindsTheNewestIntactOneBeforeDamagedOnes) {
  SpoolWriter spool(folder_ / spool_name(1), 1);
  for (std::int64_t step : {10, 20, 30, 40}) record(spool, step, save(step).sha256);
  EXPECT_EQ(newest(), 40);
  EXPECT_TRUE(damaged_.empty());
  std::filesystem::resize_file(folder_ / checkpoint_path(40), 50);
  EXPECT_EQ(newest(), 30);
  flip_last_bit(30);
  EXPECT_EQ(newest(), 20);
  ASSERT_EQ(damaged_.size(), 2u);
  EXPECT_NE(damaged_[1].reason.find("SHA-256 is not the one that was recorded"), std::string::npos);
  write_bytes(folder_ / checkpoint_path(20), "");
  flip_last_bit(10);
  EXPECT_EQ(newest(), -1);
  EXPECT_EQ(damaged_.size(), 4u);
  EXPECT_THROW(load_checkpoint(folder_.path(), 10), Error);
  EXPECT_THROW(load_checkpoint(folder_.path(), 50), Error);
}

TEST_F(CheckpointTest, ACheckpointThatWasNotYetRecordedCountsByItsStructure) {
  SpoolWriter spool(folder_ / spool_name(1), 1);
  record(spool, 10, save(10).sha256);
  save(20);
  EXPECT_EQ(newest(), 20);
}

TEST_F(CheckpointTest, ALaterRecordReplacesAnEarlierOne) {
  {
    SpoolWriter spool(folder_ / spool_name(1), 1);
    record(spool, 10, std::string(64, '0'));
  }
  SpoolWriter spool(folder_ / spool_name(2), 2);
  EXPECT_EQ(save(10).sha256.size(), 64u);
  EXPECT_EQ(newest(), -1);
  record(spool, 10, save(10).sha256);
  EXPECT_EQ(newest(), 10);
  EXPECT_EQ(load_checkpoint(folder_.path(), 10).text("step"), "10");
}

TEST_F(CheckpointTest, UnusableFilesAreSkipped) {
  save(10);
  save(20);
  const auto found = find_newest_checkpoint(folder_.path(), &damaged_, [](const Safetensors& tensors) {
    if (tensors.text("step") == "20") throw Error("of another question");
  });
  ASSERT_TRUE(found);
  EXPECT_EQ(found->file.step, 10);
  EXPECT_EQ(damaged_.at(0).reason, "of another question");
}

TEST_F(CheckpointTest, PruningKeepsWhatItMust) {
  for (std::int64_t step : {10, 20, 30, 40}) save(step);
  write_bytes(folder_ / "checkpoints/step-00000050.safetensors.part", "unfinished");
  write_bytes(folder_ / "checkpoints/notes.txt", "somebody's own");
  EXPECT_EQ(prune_checkpoints(folder_.path(), {20, 40}), (std::vector<std::int64_t>{10, 30}));
  EXPECT_EQ(list_checkpoints(folder_.path()).size(), 2u);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "checkpoints/step-00000050.safetensors.part"));
  EXPECT_TRUE(std::filesystem::exists(folder_ / "checkpoints/notes.txt"));
  EXPECT_TRUE(prune_checkpoints(folder_.path(), {20, 40}).empty());
}

}  // namespace
}  // namespace encore::record
