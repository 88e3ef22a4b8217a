// SPDX-License-Identifier: BSD-3-Clause
// Tests LossScaling (train/loss_scaling.hpp), the factor on the loss that float16 needs: how it falls and
// rises, that it changes no bit of a training in which nothing overflows, and that it follows from the
// gradients alone, so that a resumed run has the same factors.
#include "train/loss_scaling.hpp"

#include <gtest/gtest.h>

#include "config/core_schema.hpp"
#include "kernels/products/gemm.hpp"
#include "record/checkpoint.hpp"
#include "support/training_runs.hpp"
#include "unit/record/temporary_folder.hpp"

namespace encore::train {
namespace {

using testing::Recorder;
using testing::ScriptedControl;

LossScaling scaling_of(double first, std::int64_t steps_to_rise) {
  config::TrainTable train;
  train.loss_scale = first;
  train.loss_scale_steps = steps_to_rise;
  return LossScaling(train);
}

TEST(LossScaling, FallsAtOnceAndRisesAfterSeveralUpdates) {
  const LossScaling scaling = scaling_of(8.0, 3);
  record::Progress progress;
  EXPECT_EQ(LossScaling::factor(progress), 1.0);
  scaling.begin(progress);
  EXPECT_EQ(LossScaling::factor(progress), 8.0);
  EXPECT_EQ(LossScaling::update_number(progress, 1), 1);
  EXPECT_FALSE(scaling.updated(progress));
  EXPECT_FALSE(scaling.updated(progress));
  EXPECT_TRUE(LossScaling::overflowed(progress));  // the third step
  EXPECT_EQ(LossScaling::factor(progress), 4.0);
  EXPECT_EQ(LossScaling::update_number(progress, 4), 3) << "the third update is that of step 4";
  EXPECT_FALSE(scaling.updated(progress)) << "the count starts at zero";
  EXPECT_FALSE(scaling.updated(progress));
  EXPECT_TRUE(scaling.updated(progress));
  EXPECT_EQ(LossScaling::factor(progress), 8.0);
  EXPECT_EQ(progress.loss_scale, (record::LossScale{.factor = 8.0, .steps = 0, .left_out = 1}));
}

TEST(LossScaling, EndsAtOneAndAtTheLargest) {
  const LossScaling scaling = scaling_of(2.0, 1);
  record::Progress progress;
  scaling.begin(progress);
  EXPECT_TRUE(LossScaling::overflowed(progress));
  EXPECT_FALSE(LossScaling::overflowed(progress)) << "such gradients do not come from the factor";
  EXPECT_EQ(progress.loss_scale->left_out, 1);
  for (int step = 0; step < 200; ++step) scaling.updated(progress);
  EXPECT_EQ(LossScaling::factor(progress), config::most_loss_scale);
}

TEST(LossScaling, IsAbsentUnlessRequested) {
  record::Progress progress;
  const LossScaling scaling{config::TrainTable()};
  scaling.begin(progress);
  EXPECT_FALSE(progress.loss_scale);
  EXPECT_FALSE(scaling.updated(progress));
  EXPECT_FALSE(LossScaling::overflowed(progress));
  EXPECT_EQ(LossScaling::update_number(progress, 7), 7);
}

class LossScalingRuns : public ::testing::Test {
 protected:
  void SetUp() override { testing::write_corpora(folder_.path()); }

  Recorder run(const std::string& name, const std::vector<std::string>& overrides, int stop_after = 0) const {
    return testing::run_attempt(folder_.path() / name, testing::tiny_specification(folder_.path(), overrides),
                                ScriptedControl(stop_after));
  }
  std::string newest(const std::string& name) const {
    const auto found = record::find_newest_checkpoint(folder_.path() / name);
    std::string all = found->tensors.text("progress");
    for (const auto& [tensor, entry] : found->tensors.tensors())
      all.append(reinterpret_cast<const char*>(entry.bytes.data()), entry.bytes.size());
    return all;
  }

  testing::TemporaryFolder folder_;
};

TEST_F(LossScalingRuns, APowerOfTwoChangesNoBit) {
  for (const std::string precision : {"float32", "bfloat16", "float64"}) {
    if (precision == "bfloat16" && !Device().gemm().multiplies(DType::bfloat16)) continue;
    const std::string type = "train.precision=" + precision;
    const Recorder plain = run(precision, {type});
    const Recorder scaled =
        run(precision + " scaled", {type, "train.loss_scale=1024", "train.loss_scale_steps=5"});
    EXPECT_EQ(scaled.digests, plain.digests) << precision;
    EXPECT_EQ(scaled.result, plain.result);
    ASSERT_EQ(scaled.steps.size(), plain.steps.size());
    for (std::size_t i = 0; i < plain.steps.size(); ++i) {
      EXPECT_EQ(scaled.steps[i].loss, plain.steps[i].loss);
      EXPECT_EQ(scaled.steps[i].gradient_norm, plain.steps[i].gradient_norm);
    }
    EXPECT_EQ(std::ranges::count(scaled.logs, "step 5: train.loss_scale is now 2048"), 1);
    EXPECT_EQ(std::ranges::count(scaled.logs, "step 20: train.loss_scale is now 16384"), 1);
  }
}

/// Sets the factor to 2^130, which is infinite in float32.
const std::vector<std::string> too_large = {"train.loss_scale=1.361129467683754e39",
                                            "train.loss_scale_steps=4"};

TEST_F(LossScalingRuns, AStepWithoutFiniteGradientsMakesNoUpdate) {
  const Recorder recorded = run("run", too_large);
  EXPECT_EQ(recorded.ending, record::Ending::completed) << recorded.reason;
  EXPECT_EQ(recorded.steps.size(), 24U);
  ASSERT_FALSE(recorded.logs.empty());
  EXPECT_EQ(recorded.logs.front(),
            "step 1: a gradient is not finite, and nothing is updated; train.loss_scale is now "
            "6.80564733841877e38");
  EXPECT_FALSE(std::isfinite(recorded.steps.front().gradient_norm));
  for (const std::string scope : {"parameters", "optimizer/first_moment"})
    EXPECT_EQ(recorded.digests.at({1, scope}), recorded.digests.at({0, scope})) << scope;
  std::size_t left_out = 0;
  for (const StepReport& step : recorded.steps) {
    EXPECT_TRUE(std::isfinite(step.loss));
    left_out += !std::isfinite(step.gradient_norm);
  }
  EXPECT_GT(left_out, 2U) << "it rises to values that are too large again and again";
  EXPECT_LT(left_out, 12U);
  EXPECT_LT(recorded.steps.back().loss, recorded.steps.front().loss);
}

TEST_F(LossScalingRuns, StoppingAndResumingChangesNoBit) {
  run("whole", too_large);
  const std::string whole = newest("whole");
  EXPECT_NE(whole.find("\"loss_scale\""), std::string::npos);
  for (const int stop_after : {1, 2, 11}) {
    const std::string name = "stopped" + std::to_string(stop_after);
    run(name, too_large, stop_after);
    EXPECT_EQ(run(name, too_large).ending, record::Ending::completed);
    EXPECT_EQ(newest(name), whole) << "stopped after step " << stop_after;
  }
}

TEST_F(LossScalingRuns, GradientsThatOverflowWithAnyFactorAreAFailure) {
  const Recorder recorded = run("run", {"optimizer.learning_rate=1e30", "train.loss_scale=1"});
  EXPECT_EQ(recorded.ending, record::Ending::failed);
  EXPECT_NE(recorded.reason.find("is not finite; it began in"), std::string::npos) << recorded.reason;
}

TEST_F(LossScalingRuns, Float16LearnsAsFloat32Does) {
  if (!Device().gemm().multiplies(DType::float16)) GTEST_SKIP() << "no float16 products in this build";
  const Recorder narrow = run("narrow", {"train.precision=float16"});
  const Recorder wide = run("wide", {});
  ASSERT_EQ(narrow.ending, record::Ending::completed) << narrow.reason;
  for (std::size_t i = 0; i < wide.steps.size(); ++i)
    EXPECT_NEAR(narrow.steps[i].loss, wide.steps[i].loss, 0.02 * wide.steps[0].loss) << "step " << i + 1;
  EXPECT_NE(narrow.steps.back().loss, wide.steps.back().loss) << "otherwise the option had no effect";
  EXPECT_NE(newest("narrow").find("\"factor\":65536.0"), std::string::npos) << "nothing was beyond float16";
}

}  // namespace
}  // namespace encore::train
