#include "runner/spool_follower.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <limits>

namespace encore {
namespace {

/// Writes down what it is told.
class Listener final : public RunObserver {
 public:
  void started(const nlohmann::json& description) override {
    heard += "started " + description["parameters"].dump() + "; ";
  }
  void progressed(const Progress& progress) override {
    heard += "step " + std::to_string(progress.step) + "/" + std::to_string(progress.total_steps) + "; ";
    last_loss = progress.loss;
  }
  void measured(const Scores& scores) override {
    heard += "measured " + std::to_string(scores.step) + " x" + std::to_string(scores.measures.size()) + "; ";
    last_scores = scores;
  }
  void logged(const std::string& level, const std::string& text) override {
    heard += level + " " + text + "; ";
  }
  void noticed(const std::string& text) override { heard += "notice " + text + "; "; }

  std::string heard;
  double last_loss = -1.0;
  Scores last_scores;
};

class SpoolFollowerTest : public testing::Test {
 protected:
  SpoolFollowerTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "encore-follower-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
  }
  ~SpoolFollowerTest() override { std::filesystem::remove_all(folder_); }
  std::filesystem::path spool() const { return folder_ / spool_name(1); }

  std::filesystem::path folder_;
  Listener listener_;
};

TEST_F(SpoolFollowerTest, TellsWhatWasAppendedSinceTheLastTime) {
  SpoolFollower follower(spool(), listener_);
  follower.poll();
  EXPECT_EQ(listener_.heard, "") << "no spool yet";
  SpoolWriter writer(spool(), 1);
  writer.event("started", {{"parameters", 7}});
  writer.point("train/loss", 1, 0.5);
  writer.event("progress", {{"step", 1}, {"total_steps", 9}, {"loss", 0.5}});
  follower.poll();
  EXPECT_EQ(listener_.heard, "started 7; step 1/9; ");
  writer.event("measured", {{"step", 5}, {"measures", {{"dev/f1", 0.5}, {"dev/loss", nullptr}}}});
  writer.event("log", {{"level", "warning"}, {"text", "careful"}});
  follower.poll();
  EXPECT_EQ(listener_.heard, "started 7; step 1/9; measured 5 x1; warning careful; ");
  EXPECT_EQ(follower.step(), 1) << "the last step that was trained";
  EXPECT_FALSE(follower.finished());
}

TEST_F(SpoolFollowerTest, KnowsHowLongNothingWasTold) {
  SpoolFollower follower(spool(), listener_);
  SpoolWriter writer(spool(), 1);
  follower.poll();
  EXPECT_EQ(follower.unheard(), 0.0) << "it still reads its data";
  EXPECT_FALSE(follower.silence().stepped);
  writer.event("started", {{"parameters", 7}});
  writer.point("train/loss", 1, 0.5);
  writer.event("progress", {{"step", 1}, {"total_steps", 9}, {"step_seconds", 0.25}, {"longest_pause", 0.5}});
  follower.poll();
  EXPECT_EQ(follower.unheard(), 0.0);
  EXPECT_EQ(follower.silence().seconds, 0.0);
  EXPECT_EQ(follower.silence().usual_step, 0.25);
  EXPECT_EQ(follower.silence().longest_pause, 0.5);
  EXPECT_TRUE(follower.silence().stepped && !follower.silence().last_step_done);
  for (double before = 0.0; before < 0.01; before = follower.unheard()) follower.poll();
  EXPECT_EQ(follower.silence().seconds, follower.unheard()) << "time passes where nothing comes";
  writer.event("log", {{"level", "info"}, {"text", "still there"}});
  follower.poll();
  EXPECT_EQ(follower.unheard(), 0.0) << "any record is a sign of life";
  EXPECT_GE(follower.silence().seconds, 0.01) << "but no step";
  writer.event("progress", {{"step", 9}, {"total_steps", 9}});
  follower.poll();
  EXPECT_TRUE(follower.silence().last_step_done);
}

TEST_F(SpoolFollowerTest, ScoresComeWithTheMeanTrainingLossSinceTheLastOnes) {
  SpoolWriter writer(spool(), 1);
  writer.point("train/gradient_norm", 1, 100.0);
  writer.point("train/loss", 1, 0.5);
  writer.point("train/loss", 2, 0.25);
  writer.event("measured", {{"step", 2}, {"epoch", 3}, {"measures", {{"dev/f1", 0.5}}}});
  writer.flush();
  SpoolFollower follower(spool(), listener_);
  follower.poll();
  EXPECT_EQ(listener_.last_scores.train_loss, 0.375);
  EXPECT_EQ(listener_.last_scores.epoch, 3);
  writer.event("measured", {{"step", 2}, {"measures", {{"test/f1", 0.5}}}});
  follower.poll();
  EXPECT_FALSE(listener_.last_scores.train_loss);
  EXPECT_FALSE(listener_.last_scores.epoch);
}

TEST_F(SpoolFollowerTest, KeepsResultAndLastWord) {
  SpoolWriter writer(spool(), 1);
  writer.event("result", {{"best_step", 3}, {"measures", {{"test/f1", 0.75}}}});
  writer.event("finished", {{"state", "completed"}, {"reason", ""}, {"step", 4}});
  writer.flush();
  SpoolFollower follower(spool(), listener_);
  follower.poll();
  ASSERT_TRUE(follower.finished() && follower.result());
  EXPECT_EQ(follower.finished()->state, "completed");
  EXPECT_EQ(follower.finished()->step, 4);
  EXPECT_EQ(follower.result()->measures.at("test/f1"), 0.75);
}

TEST_F(SpoolFollowerTest, EventsOfAnUnknownShapeAreNoTrouble) {
  SpoolWriter writer(spool(), 1);
  writer.event("progress", {{"step", "five"}, {"loss", std::numeric_limits<double>::quiet_NaN()}});
  writer.event("measured", {{"measures", 3}});
  writer.event("finished", {{"step", nullptr}});
  writer.event("from the future", {{"x", 1}});
  writer.flush();
  SpoolFollower follower(spool(), listener_);
  follower.poll();
  EXPECT_EQ(listener_.heard, "step 0/0; measured 0 x0; ");
  EXPECT_EQ(listener_.last_loss, 0.0);
  ASSERT_TRUE(follower.finished());
  EXPECT_EQ(follower.finished()->state, "");
}

}  // namespace
}  // namespace encore
