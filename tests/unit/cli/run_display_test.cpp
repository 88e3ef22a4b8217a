#include "cli/run_display.hpp"

#include <gtest/gtest.h>

namespace encore {
namespace {

TEST(RunDisplay, ProgressNamesStepEpochLossSpeedRateAndTimeLeft) {
  EXPECT_EQ(progress_text({120, 600, 2, 0.41234, 4.8e-4, 12345, 34}),
            "step 120/600  epoch 2  loss 0.4123  12.3k tokens/s  lr 0.00048  34 s left");
}

TEST(RunDisplay, MeasuresShowTheScoresOfOneSplit) {
  EXPECT_EQ(
      measures_text({{"dev/f1", 0.5432}, {"dev/precision", 0.6}, {"dev/loss", 0.3125}, {"dev/f1/PER", 0.1}}),
      "dev F1 54.32  precision 60.00  loss 0.3125");
  EXPECT_EQ(measures_text({{"test/f1", 1.0}}), "test F1 100.00");
  EXPECT_EQ(measures_text({{"train/loss", 1.0}}), "");
}

TEST(RunDisplay, WithoutATerminalEveryScoreIsALineWithTheTime) {
  testing::internal::CaptureStdout();
  LiveLines lines(stdout, Terminal{});
  RunDisplay display("tiny", lines, 0, false);
  display.progressed({5, 20, 1, 0.5, 1e-3, 100, 1});
  display.measured({5, {{"dev/f1", 0.25}}, 1, 0.5});
  const std::string text = testing::internal::GetCapturedStdout();
  EXPECT_TRUE(text.ends_with(" tiny  step 5  epoch 1  train loss 0.5  dev F1 25.00\n")) << text;
  EXPECT_EQ(text[2], ':') << text;
}

TEST(RunDisplay, SilenceIsHeldAgainstTheUsualStep) {
  EXPECT_EQ(silence_text({.seconds = 40.7, .usual_step = 0.02, .stepped = true}),
            "no step for 40 s, usually 0.02 s");
  EXPECT_EQ(silence_text({.seconds = 700, .usual_step = 12, .stepped = true}),
            "no step for 11m 40s, usually 12 s");
  EXPECT_EQ(silence_text({.seconds = 40, .stepped = true}), "no step for 40 s");
  EXPECT_EQ(silence_text({.seconds = 80}), "no step yet, 1m 20s after its start");
}

TEST(RunDisplay, TheLiveLineSaysThatNothingHappens) {
  testing::internal::CaptureStdout();
  {
    LiveLines lines(stdout, Terminal{.live = true});
    RunDisplay display("tiny", lines, 0, false);
    display.progressed({.step = 5, .total_steps = 20});
    display.silent({.seconds = 40, .usual_step = 0.02, .stepped = true});
  }
  const std::string text = testing::internal::GetCapturedStdout();
  EXPECT_NE(text.find("tiny  step 5/20  no step for 40 s, usually 0.02 s"), std::string::npos) << text;
}

TEST(RunDisplay, QuietLeavesOnlyWhatIsWrong) {
  testing::internal::CaptureStdout();
  LiveLines lines(stdout, Terminal{});
  RunDisplay display("tiny", lines, 0, true);
  display.measured({5, {{"dev/f1", 0.25}}, 1, 0.5});
  display.logged("info", "hidden");
  display.logged("warning", "shown");
  const std::string text = testing::internal::GetCapturedStdout();
  EXPECT_TRUE(text.ends_with(" tiny  warning: shown\n")) << text;
  EXPECT_EQ(text.find("hidden"), std::string::npos);
}

}  // namespace
}  // namespace encore
