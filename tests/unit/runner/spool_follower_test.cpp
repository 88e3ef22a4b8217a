// SPDX-License-Identifier: BSD-3-Clause
// Tests SpoolFollower (runner/spool_follower.hpp), which passes the events of a growing spool to the control
// program: each event must arrive once and in order, metrics after their meaning, and the last record and the
// result are kept, because they decide how the attempt ended.
#include "runner/spool_follower.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <cmath>
#include <map>

#include "support/raw_event.hpp"

namespace encore::runner {
namespace {

using testing::write_event;

/// Logs the events that it gets.
class Listener final : public RunObserver {
 public:
  void happened(const record::Event& event) override {
    record::handle(
        event,
        [&](const record::Started& started) {
          heard += "started " + std::to_string(*started.parameters) + "; ";
        },
        [&](const record::Progressed& progress) {
          heard +=
              "step " + std::to_string(progress.step) + "/" + std::to_string(progress.total_steps) + "; ";
        },
        [&](const record::Evaluated& scores) {
          heard += "measured " + std::to_string(scores.step) + " x" + std::to_string(scores.measures.size()) +
                   "; ";
        },
        [&](const record::Logged& line) {
          heard += std::string(record::name_of(line.level)) + " " + line.text + "; ";
        });
  }
  void defined(const Metric& metric) override { titles += metric.title() + "; "; }
  void stepped(std::int64_t step, double loss) override { losses[step] = loss; }
  void noticed(const std::string& text) override { heard += "notice " + text + "; "; }

  std::string heard, titles;
  std::map<std::int64_t, double> losses;
};

class SpoolFollowerTest : public ::testing::Test {
 protected:
  SpoolFollowerTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "encore-follower-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
  }
  ~SpoolFollowerTest() override { std::filesystem::remove_all(folder_); }
  std::filesystem::path spool() const { return folder_ / record::spool_name(1); }

  std::filesystem::path folder_;
  Listener listener_;
};

TEST_F(SpoolFollowerTest, ReportsTheMeaningOfMetricsBeforeTheirValues) {
  record::SpoolWriter writer(spool(), 1);
  writer.define("dev/accuracy", Measure{.name = "accuracy", .title = "Accuracy", .fraction = true});
  writer.point("dev/accuracy", 1, 0.5);
  writer.point("dev/f1", 1, 0.5);
  writer.flush();
  SpoolFollower follower(spool(), listener_);
  follower.poll();
  EXPECT_EQ(listener_.titles, "Accuracy; F1; ")
      << "the second is of an older worker, which records no meaning";
}

TEST_F(SpoolFollowerTest, ReportsWhatWasAppendedSinceTheLastTime) {
  SpoolFollower follower(spool(), listener_);
  follower.poll();
  EXPECT_EQ(listener_.heard, "") << "no spool yet";
  record::SpoolWriter writer(spool(), 1);
  writer.event(record::Started{.parameters = 7});
  writer.point("train/loss", 1, 0.5);
  writer.event(record::Progressed{.step = 1, .total_steps = 9, .loss = 0.5});
  follower.poll();
  EXPECT_EQ(listener_.heard, "started 7; step 1/9; ");
  writer.event(record::Evaluated{.step = 5, .measures = {{"dev/f1", 0.5}, {"dev/loss", std::nan("")}}});
  writer.event(record::Logged{.level = record::LogLevel::warning, .text = "careful"});
  follower.poll();
  EXPECT_EQ(listener_.heard, "started 7; step 1/9; measured 5 x2; warning careful; ");
  EXPECT_EQ(follower.step(), 1) << "the last step that was trained";
  EXPECT_FALSE(follower.ended());
}

TEST_F(SpoolFollowerTest, KnowsTheTimeSinceTheLastRecord) {
  SpoolFollower follower(spool(), listener_);
  follower.poll();
  EXPECT_EQ(follower.stage(), WorkerStage::starting);
  record::SpoolWriter writer(spool(), 1);
  writer.flush();
  follower.poll();
  EXPECT_EQ(follower.stage(), WorkerStage::preparing) << "it still reads its data";
  EXPECT_FALSE(follower.inactivity().stepped);
  writer.event(record::Started{.parameters = 7});
  writer.point("train/loss", 1, 0.5);
  writer.event(record::Progressed{.step = 1, .total_steps = 9, .step_seconds = 0.25, .longest_pause = 0.5});
  follower.poll();
  EXPECT_EQ(follower.stage(), WorkerStage::training);
  EXPECT_EQ(follower.unheard(), 0.0);
  EXPECT_EQ(follower.inactivity().seconds, 0.0);
  EXPECT_EQ(follower.inactivity().usual_step, 0.25);
  EXPECT_EQ(follower.inactivity().longest_pause, 0.5);
  EXPECT_TRUE(follower.inactivity().stepped && !follower.inactivity().last_step_done);
  for (double before = 0.0; before < 0.01; before = follower.unheard()) follower.poll();
  EXPECT_EQ(follower.inactivity().seconds, follower.unheard()) << "time passes without records";
  writer.event(record::Logged{.text = "still there"});
  follower.poll();
  EXPECT_EQ(follower.unheard(), 0.0) << "any record is a sign of life";
  EXPECT_GE(follower.inactivity().seconds, 0.01) << "but no step";
  writer.event(record::Progressed{.step = 9, .total_steps = 9});
  follower.poll();
  EXPECT_TRUE(follower.inactivity().last_step_done);
}

TEST_F(SpoolFollowerTest, EveryStepComesWithItsTrainingLoss) {
  record::SpoolWriter writer(spool(), 1);
  writer.point("train/gradient_norm", 1, 100.0);
  writer.point("train/loss", 1, 0.5);
  writer.point("train/loss", 2, 0.25);
  writer.flush();
  SpoolFollower follower(spool(), listener_);
  follower.poll();
  EXPECT_EQ(listener_.losses, (std::map<std::int64_t, double>{{1, 0.5}, {2, 0.25}}));
  EXPECT_EQ(follower.step(), 2);
}

TEST_F(SpoolFollowerTest, KeepsResultAndLastRecord) {
  record::SpoolWriter writer(spool(), 1);
  writer.event(record::Concluded{.best_step = 3, .measures = {{"test/f1", 0.75}}});
  writer.event(record::Ended{.ending = record::Ending::completed, .step = 4});
  writer.flush();
  SpoolFollower follower(spool(), listener_);
  follower.poll();
  ASSERT_TRUE(follower.ended() && follower.result());
  EXPECT_EQ(*follower.ended(), (record::Ended{.ending = record::Ending::completed, .step = 4}));
  EXPECT_EQ(follower.result()->measures, (record::MeasuredValues{{"test/f1", 0.75}}));
}

TEST_F(SpoolFollowerTest, EventsOfAnUnknownShapeAreAccepted) {
  record::SpoolWriter writer(spool(), 1);
  write_event(writer, "progress", {{"step", "five"}, {"loss", nullptr}});
  write_event(writer, "measured", {{"measures", 3}});
  write_event(writer, "finished", {{"step", nullptr}});
  write_event(writer, "from the future", {{"x", 1}});
  writer.event_text("no JSON");
  writer.event(record::Logged{.text = "behind them"});
  writer.flush();
  SpoolFollower follower(spool(), listener_);
  follower.poll();
  EXPECT_EQ(listener_.heard, "info behind them; ");
  EXPECT_FALSE(follower.ended()) << "its last record cannot be read: the worker's exit decides";
}

}  // namespace
}  // namespace encore::runner
