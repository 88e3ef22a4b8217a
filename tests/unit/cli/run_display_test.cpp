// SPDX-License-Identifier: BSD-3-Clause
// Tests RunDisplay (cli/run_display.hpp), by which `exp run` shows a training run: the live line of a
// terminal, the log lines elsewhere, and the words about a run that makes no progress. The lines are compared
// character by character; their first words stay, because users search logs for them.
#include "cli/run_display.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include <sstream>

namespace encore::cli {
namespace {

TEST(RunDisplay, ProgressNamesStepEpochLossSpeedRateAndTimeLeft) {
  EXPECT_EQ(progress_text({.step = 120,
                           .total_steps = 600,
                           .epoch = 2,
                           .loss = 0.41234,
                           .learning_rate = 4.8e-4,
                           .tokens_per_second = 12345,
                           .eta_seconds = 34}),
            "step 120/600  epoch 2  loss 0.4123  12.3k tokens/s  lr 0.00048  34 s left");
}

TEST(RunDisplay, BetweenTwoStepsItNamesWhatIsDone) {
  EXPECT_EQ(progress_text({.step = 120,
                           .total_steps = 600,
                           .epoch = 2,
                           .loss = 0.41234,
                           .tokens_per_second = 12345,
                           .eta_seconds = 34,
                           .activity = "generating text for dev",
                           .activity_share = 0.259}),
            "step 120/600  epoch 2  loss 0.4123  generating text for dev  25 %");
}

TEST(RunDisplay, NamesNoLossBeforeTheFirstStepAfterAResume) {
  EXPECT_EQ(progress_text({.step = 600,
                           .total_steps = 600,
                           .epoch = 10,
                           .loss = std::nan(""),
                           .activity = "scoring test",
                           .activity_share = 0.5}),
            "step 600/600  epoch 10  scoring test  50 %");
}

const Metric dev_f1 = {.name = "dev/f1", .meaning = {.name = "f1", .title = "F1", .fraction = true}};

TEST(RunDisplay, MeasuresShowTheScoresOfOneSplitTheSelectedOneFirst) {
  std::vector<Metric> metrics = {
      dev_f1,
      {.name = "dev/recall", .meaning = {.name = "recall"}},
      {.name = "dev/f1/PER", .meaning = {.name = "f1/{label}", .title = "F1", .fraction = true}},
      {.name = "dev/loss", .meaning = {.name = "loss", .better = Better::lower}}};
  define(metrics, {.name = "dev/recall", .meaning = {.name = "recall", .fraction = true}});
  define(metrics, {.name = "test/bleu", .meaning = {.name = "bleu", .title = "BLEU"}});
  const record::MeasuredValues dev = {
      {"dev/loss", 0.3125}, {"dev/f1/PER", 0.1}, {"dev/f1", 0.5432}, {"dev/new", 7}, {"dev/recall", 0.5}};
  EXPECT_EQ(measures_text(dev, metrics, "dev/f1"), "dev F1 54.32  recall 50.00  loss 0.3125  new 7");
  EXPECT_EQ(measures_text(dev, metrics, "dev/loss"), "dev loss 0.3125  F1 54.32  recall 50.00  new 7");
  EXPECT_EQ(measures_text({{"test/bleu", 31.5}}, metrics, "dev/f1"), "test BLEU 31.5");
  EXPECT_EQ(measures_text({{"train/loss", 1.0}}, metrics, "dev/f1"), "");
}

TEST(RunDisplay, WithoutATerminalEveryScoreIsALineWithTheTime) {
  std::ostringstream out;
  Console console(out, out);
  LiveLines lines(out, Terminal{});
  RunDisplay display("tiny", console, lines, 0, false, "dev/f1");
  display.defined(dev_f1);
  display.happened(record::Progressed{.step = 5, .total_steps = 20, .epoch = 1, .loss = 0.5});
  display.stepped(4, 0.75);
  display.stepped(5, 0.25);
  display.happened(record::Evaluated{.step = 5, .epoch = 1, .measures = {{"dev/f1", 0.25}}});
  const std::string text = out.str();
  EXPECT_TRUE(text.ends_with(" tiny  step 5  epoch 1  train loss 0.5  dev F1 25.00\n")) << text;
  EXPECT_EQ(text[2], ':') << text;
}

TEST(RunDisplay, TheTrainingLossIsTheMeanSinceTheLastScores) {
  std::ostringstream out;
  Console console(out, out);
  LiveLines lines(out, Terminal{});
  RunDisplay display("tiny", console, lines, 0, false, "dev/f1");
  display.defined(dev_f1);
  display.stepped(1, 4.0);
  display.happened(record::Evaluated{.step = 1, .measures = {{"dev/f1", 0.25}}});
  display.stepped(2, 1.0);
  display.stepped(3, 2.0);
  display.happened(record::Evaluated{.step = 3, .measures = {{"dev/f1", 0.5}}});
  display.happened(record::Evaluated{.step = 3, .measures = {{"dev/f1", 0.5}}});
  const std::string text = out.str();
  EXPECT_NE(text.find("step 1  train loss 4  dev F1 25.00\n"), std::string::npos) << text;
  EXPECT_NE(text.find("step 3  train loss 1.5  dev F1 50.00\n"), std::string::npos) << text;
  EXPECT_TRUE(text.ends_with("step 3  dev F1 50.00\n")) << "no step since: " << text;
}

TEST(RunDisplay, ComparesInactivityWithTheUsualStep) {
  EXPECT_EQ(inactivity_text({.seconds = 40.7, .usual_step = 0.02, .stepped = true}),
            "no step for 40 s, usually 0.02 s");
  EXPECT_EQ(inactivity_text({.seconds = 700, .usual_step = 12, .stepped = true}),
            "no step for 11m 40s, usually 12 s");
  EXPECT_EQ(inactivity_text({.seconds = 40, .stepped = true}), "no step for 40 s");
  EXPECT_EQ(inactivity_text({.seconds = 80}), "no step yet, 1m 20s after its start");
}

TEST(RunDisplay, TheLiveLineSaysThatNothingHappens) {
  std::ostringstream out;
  Console console(out, out);
  {
    LiveLines lines(out, Terminal{.live = true});
    RunDisplay display("tiny", console, lines, 0, false, "dev/f1");
    display.defined(dev_f1);
    display.happened(record::Progressed{.step = 5, .total_steps = 20});
    display.silent({.seconds = 40, .usual_step = 0.02, .stepped = true});
  }
  const std::string text = out.str();
  EXPECT_NE(text.find("tiny  step 5/20  no step for 40 s, usually 0.02 s"), std::string::npos) << text;
}

TEST(RunDisplay, QuietShowsOnlyProblems) {
  std::ostringstream out;
  Console console(out, out);
  LiveLines lines(out, Terminal{});
  RunDisplay display("tiny", console, lines, 0, true);
  display.happened(record::Evaluated{.step = 5, .epoch = 1, .measures = {{"dev/f1", 0.25}}});
  display.happened(record::Logged{.text = "hidden"});
  display.happened(record::Logged{.level = record::LogLevel::warning, .text = "shown"});
  const std::string text = out.str();
  EXPECT_TRUE(text.ends_with(" tiny  warning: shown\n")) << text;
  EXPECT_EQ(text.find("hidden"), std::string::npos);
}

}  // namespace
}  // namespace encore::cli
