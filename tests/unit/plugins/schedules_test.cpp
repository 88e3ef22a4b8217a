// SPDX-License-Identifier: BSD-3-Clause
// Tests the schedules that ship (plugins/schedules) at the points that matter: the first step, the end of the
// warm-up, the last step, and a warm-up longer than the run. A change of a factor changes the bits of every
// run with that schedule.
#include <cmath>

#include "unit/plugins/built_in.hpp"

namespace encore::test {
namespace {

std::unique_ptr<Schedule> schedule(const std::string& name, const Settings& settings,
                                   std::int64_t total = 100) {
  return make_built_in<Kind::schedule>(name + "_schedule", name, settings,
                                       {.total_steps = total, .width = 64});
}
const Settings ten{{"warmup_steps", std::int64_t{10}}};
const Settings none{{"warmup_steps", std::int64_t{0}}};

TEST(ConstantSchedule, WarmsUpAndStays) {
  const auto constant = schedule("constant", ten);
  EXPECT_DOUBLE_EQ(constant->factor(1), 0.1);
  EXPECT_DOUBLE_EQ(constant->factor(10), 1.0);
  EXPECT_DOUBLE_EQ(constant->factor(100), 1.0);
  EXPECT_DOUBLE_EQ(schedule("constant", none)->factor(1), 1.0);
}

TEST(LinearSchedule, IsTheSmallerOfTheWayUpAndTheWayDown) {
  const auto linear = schedule("linear", ten);
  for (std::int64_t s = 0; s < 100; ++s)  // PyTorch's lambda counts steps from 0
    EXPECT_DOUBLE_EQ(linear->factor(s + 1), std::min((s + 1) / 10.0, (100.0 - s) / 90.0)) << s;
  EXPECT_DOUBLE_EQ(schedule("linear", none)->factor(1), 1.0);
  EXPECT_DOUBLE_EQ(schedule("linear", none)->factor(100), 0.01);
  EXPECT_DOUBLE_EQ(linear->factor(500), 0.0);
}

TEST(LinearSchedule, AWarmUpLongerThanTheRunNeverExceedsOne) {
  const auto linear = schedule("linear", {{"warmup_steps", std::int64_t{200}}}, 50);
  for (std::int64_t step = 1; step <= 50; ++step)
    EXPECT_LE(linear->factor(step), static_cast<double>(step) / 200.0);
}

TEST(CosineSchedule, EndsAtItsFloor) {
  const auto cosine = schedule("cosine", {{"warmup_steps", std::int64_t{10}}, {"floor", 0.1}});
  EXPECT_DOUBLE_EQ(cosine->factor(1), 0.1);
  EXPECT_DOUBLE_EQ(cosine->factor(10), 1.0);
  EXPECT_NEAR(cosine->factor(55), 0.55, 1e-12);
  EXPECT_NEAR(cosine->factor(100), 0.1, 1e-12);
  EXPECT_LE(schedule("cosine", none)->factor(1), 1.0);
}

/// A ratio of 0.15 of 100 steps is 15 steps.
TEST(ScheduleWarmupRatio, IsTheSameAsItsNumberOfSteps) {
  const Settings ratio{{"warmup_ratio", 0.15}}, steps{{"warmup_steps", std::int64_t{15}}};
  for (const char* name : {"constant", "linear", "cosine", "noam", "wsd"}) {
    const auto by_ratio = schedule(name, ratio), by_steps = schedule(name, steps);
    for (std::int64_t step = 1; step <= 100; ++step)
      EXPECT_EQ(by_ratio->factor(step), by_steps->factor(step)) << name << ' ' << step;
  }
  EXPECT_DOUBLE_EQ(schedule("constant", {{"warmup_ratio", 0.07}})->factor(7), 1.0) << "rounded, not cut";
  EXPECT_LT(schedule("constant", {{"warmup_ratio", 0.07}})->factor(6), 1.0);
  EXPECT_TRUE(std::isfinite(schedule("noam", {{"warmup_ratio", 0.0}})->factor(1))) << "at least one step";
  EXPECT_DOUBLE_EQ(schedule("cosine", {{"warmup_ratio", 0.0}})->factor(100), 0.0);
}

/// A number of steps that equals the default is refused as well, because the file sets it.
TEST(ScheduleWarmupRatio, IsRefusedBesideANumberOfSteps) {
  for (const char* name : {"constant", "linear", "cosine", "noam", "wsd"})
    for (const std::int64_t steps : {10, 0, 200, 4000}) {
      if (steps == 0 && name == std::string("noam")) continue;  // out of its range
      try {
        schedule(name, {{"warmup_ratio", 0.1}, {"warmup_steps", steps}});
        FAIL() << name;
      } catch (const OptionError& error) {
        EXPECT_EQ(error.option(), "warmup_ratio");
        EXPECT_EQ(error.what(), "warmup_ratio and warmup_steps = " + std::to_string(steps) +
                                    " exclude each other: keep one of them");
      }
    }
}

TEST(NoamSchedule, PeaksAtTheEndOfTheWarmUp) {
  const auto noam = schedule("noam", ten);
  EXPECT_DOUBLE_EQ(noam->factor(10), 1.0 / std::sqrt(10.0 * 64.0));
  EXPECT_LT(noam->factor(9), noam->factor(10));
  EXPECT_LT(noam->factor(11), noam->factor(10));
  EXPECT_DOUBLE_EQ(noam->factor(40), 0.5 * noam->factor(10));
}

/// With 100 steps and PyTorch's defaults: from 1 / 25 up to step 30, from there down to 1 / 250000 at step
/// 100; half way up and down the cosine is in the middle.
TEST(OneCycleSchedule, FollowsTheFormulaOfItsTwoPhases) {
  const auto cycle = schedule("one_cycle", {});
  EXPECT_NEAR(cycle->factor(1), 0.04, 1e-15);
  EXPECT_DOUBLE_EQ(cycle->factor(30), 1.0);
  EXPECT_DOUBLE_EQ(cycle->factor(65), 0.5 * (1.0 + 4e-6));
  EXPECT_NEAR(cycle->factor(100), 4e-6, 1e-18);
  for (std::int64_t step = 1; step <= 30; ++step)
    EXPECT_NEAR(cycle->factor(step), 1.0 - 0.96 * 0.5 * (1.0 + std::cos(M_PI * double(step - 1) / 29.0)),
                1e-14);
  for (std::int64_t step = 2; step <= 100; ++step)
    EXPECT_EQ(cycle->factor(step) > cycle->factor(step - 1), step <= 30) << step;
  EXPECT_NEAR(cycle->factor(200), 4e-6, 1e-18);
}

TEST(OneCycleSchedule, GoesInLinesIfAsked) {
  const auto cycle = schedule("one_cycle",
                              {{"annealing", std::string("linear")},
                               {"warmup_share", 0.5},
                               {"initial_divisor", 10.0},
                               {"final_divisor", 5.0}},
                              12);
  // The peak lies at step 6: up by 0.9 / 5 a step, then down by 0.98 / 6.
  for (std::int64_t step = 1; step <= 6; ++step)
    EXPECT_NEAR(cycle->factor(step), 0.1 + 0.18 * double(step - 1), 1e-14);
  for (std::int64_t step = 6; step <= 12; ++step)
    EXPECT_NEAR(cycle->factor(step), 1.0 - 0.98 / 6.0 * double(step - 6), 1e-14);
}

/// Cases: the peak lies between two steps, at the first step or before it, or lasts to the end; and runs of
/// one step.
TEST(OneCycleSchedule, IsFiniteAndAtMostOneForEveryLengthAndShare) {
  for (const std::int64_t total : {1, 2, 3, 7, 10})
    for (const double share : {0.0, 0.1, 0.3, 0.5, 1.0}) {
      const auto cycle = schedule("one_cycle", {{"warmup_share", share}}, total);
      for (std::int64_t step = 1; step <= total; ++step) {
        EXPECT_GT(cycle->factor(step), 0.0) << total << " " << share << " " << step;
        EXPECT_LE(cycle->factor(step), 1.0) << total << " " << share << " " << step;
      }
    }
  EXPECT_DOUBLE_EQ(schedule("one_cycle", {{"warmup_share", 0.1}}, 10)->factor(1), 1.0);
  EXPECT_DOUBLE_EQ(schedule("one_cycle", {{"warmup_share", 1.0}}, 10)->factor(10), 1.0);
}

/// Ten steps up, 70 at the top, 20 down: the first of the 20 still has the factor 1, and the floor is one
/// step after the last.
TEST(WsdSchedule, RisesStaysAndFalls) {
  for (const char* decay : {"sqrt", "linear", "cosine"}) {
    const auto wsd =
        schedule("wsd", {{"warmup_steps", std::int64_t{10}}, {"decay", std::string(decay)}, {"floor", 0.1}});
    EXPECT_DOUBLE_EQ(wsd->factor(1), 0.1) << decay;
    for (std::int64_t step = 10; step <= 81; ++step)
      EXPECT_EQ(wsd->factor(step), 1.0) << decay << ' ' << step;
    for (std::int64_t step = 82; step <= 100; ++step)
      EXPECT_LT(wsd->factor(step), wsd->factor(step - 1)) << decay << ' ' << step;
    EXPECT_GT(wsd->factor(100), 0.1) << decay;
    EXPECT_DOUBLE_EQ(wsd->factor(101), 0.1) << decay;
    EXPECT_DOUBLE_EQ(wsd->factor(500), 0.1) << decay;
  }
}

TEST(WsdSchedule, FallsInTheShapeThatIsAskedFor) {
  const auto fall = [](const char* decay, std::int64_t step) {
    return schedule("wsd", {{"warmup_steps", std::int64_t{0}}, {"decay", std::string(decay)}})->factor(step);
  };
  EXPECT_DOUBLE_EQ(fall("sqrt", 86), 0.5);  // a quarter of the decay has passed
  EXPECT_DOUBLE_EQ(fall("linear", 86), 0.75);
  EXPECT_NEAR(fall("cosine", 86), 0.5 + 0.25 * std::sqrt(2.0), 1e-15);
  EXPECT_NEAR(fall("linear", 100), 0.05, 1e-15);
}

/// Rates before the decay are the same in runs of any length, so a run can be trained longer from there.
TEST(WsdSchedule, DoesNotDependOnTheLengthOfTheRunBeforeTheDecay) {
  const auto one = schedule("wsd", ten, 100), other = schedule("wsd", ten, 1000);
  for (std::int64_t step = 1; step <= 80; ++step) EXPECT_EQ(one->factor(step), other->factor(step)) << step;
}

/// A warm-up that reaches into the decay or beyond the run, no decay, only a decay; runs of one step.
TEST(WsdSchedule, IsAboveZeroAndAtMostOneForEveryLengthAndShare) {
  for (const std::int64_t total : {1, 2, 3, 7, 100})
    for (const std::int64_t warmup : {0, 5, 200})
      for (const double share : {0.0, 0.1, 0.5, 1.0}) {
        const auto wsd = schedule("wsd", {{"warmup_steps", warmup}, {"decay_share", share}}, total);
        for (std::int64_t step = 1; step <= total; ++step) {
          EXPECT_GT(wsd->factor(step), 0.0) << total << ' ' << warmup << ' ' << share << ' ' << step;
          EXPECT_LE(wsd->factor(step),
                    std::min(1.0, double(step) / double(std::max<std::int64_t>(1, warmup))));
        }
      }
  EXPECT_EQ(schedule("wsd", {{"warmup_steps", std::int64_t{0}}, {"decay_share", 0.0}})->factor(100), 1.0);
}

}  // namespace
}  // namespace encore::test
