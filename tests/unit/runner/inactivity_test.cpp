// SPDX-License-Identifier: BSD-3-Clause
// Tests Inactivity (runner/inactivity.hpp): when the time since a worker's last step is worth a message, and
// when it passes the limit of --step-timeout. `exp run` and `exp status` use it. The factor may change; a
// usual pause must give no message.
#include "runner/inactivity.hpp"

#include <gtest/gtest.h>

namespace encore::runner {
namespace {

TEST(Inactivity, IsNoticeableWhereItIsMuchLongerThanAnythingBefore) {
  const auto noticeable = [](double seconds, double step, double pause) {
    return Inactivity{.seconds = seconds, .usual_step = step, .longest_pause = pause, .stepped = true}
        .noticeable();
  };
  EXPECT_TRUE(noticeable(40, 0.02, 0.5));
  EXPECT_FALSE(noticeable(9, 0.02, 0.5)) << "a short one never is";
  EXPECT_FALSE(noticeable(40, 3, 3)) << "slow steps";
  EXPECT_TRUE(noticeable(61, 3, 3));
  EXPECT_FALSE(noticeable(40, 0.02, 20)) << "a dev score took as long before";
  EXPECT_FALSE((Inactivity{.seconds = 40, .stepped = false}.noticeable())) << "it may read its data";
  EXPECT_TRUE((Inactivity{.seconds = 61, .stepped = false}.noticeable()));
  EXPECT_FALSE((Inactivity{.seconds = 1e6, .stepped = true, .last_step_done = true}.noticeable()))
      << "only scores follow";
}

TEST(Inactivity, PassesALimitWhereTheWorkerStartsOrTrains) {
  using std::chrono::seconds;
  const auto passed = [](WorkerStage stage, double silent, int limit) -> std::int64_t {
    const auto time = passed_limit(stage, silent, seconds(limit));
    return time ? time->count() : 0;
  };
  EXPECT_EQ(passed(WorkerStage::training, 5.0, 5), 5);
  EXPECT_EQ(passed(WorkerStage::training, 4.9, 5), 0);
  EXPECT_EQ(passed(WorkerStage::training, 1e6, 0), 0) << "no limit";
  EXPECT_EQ(passed(WorkerStage::preparing, 1e6, 5), 0) << "it may train a vocabulary";
  EXPECT_EQ(passed(WorkerStage::starting, 59.0, 5), 0) << "a launcher has a minute";
  EXPECT_EQ(passed(WorkerStage::starting, 60.0, 5), 60);
  EXPECT_EQ(passed(WorkerStage::starting, 60.0, 300), 0);
  EXPECT_EQ(passed(WorkerStage::starting, 300.0, 300), 300);
}

TEST(Inactivity, IsReadFromTheNewestProgressOrTheStart) {
  store::RunRow run;
  run.started = 90.0;
  const Inactivity first = inactivity_of(run, 140.0);
  EXPECT_EQ(first.seconds, 50.0);
  EXPECT_FALSE(first.stepped || first.last_step_done);
  run.progress = record::Progressed{.step = 5, .total_steps = 20, .step_seconds = 0.02, .longest_pause = 0.5};
  run.progress_time = 100.0;
  const Inactivity inactivity = inactivity_of(run, 140.0);
  EXPECT_EQ(inactivity.seconds, 40.0);
  EXPECT_EQ(inactivity.usual_step, 0.02);
  EXPECT_EQ(inactivity.longest_pause, 0.5);
  EXPECT_TRUE(inactivity.stepped && !inactivity.last_step_done);
  EXPECT_EQ(inactivity_of(run, 95.0).seconds, 0.0) << "the clock of another host";
  run.progress->step = 20;
  EXPECT_TRUE(inactivity_of(run, 140.0).last_step_done);
}

}  // namespace
}  // namespace encore::runner
