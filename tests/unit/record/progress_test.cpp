// SPDX-License-Identifier: BSD-3-Clause
// Tests Progress as the JSON text in a checkpoint's metadata (record/progress.hpp): no bit is lost, and
// fields that earlier versions lacked have their default. Stored checkpoints have this text, so its names
// stay.
#include "record/progress.hpp"

#include <gtest/gtest.h>
#include <encore/error.hpp>

namespace encore::record {
namespace {

TEST(Progress, ReadsBackWhatWasWritten) {
  const Progress progress{412, 3, 17, 400, 0.1 + 0.2, 2, true};
  EXPECT_EQ(progress_from_text(progress_to_text(progress)), progress);
}

TEST(Progress, HasNoBestValueBeforeTheFirstEvaluation) {
  EXPECT_EQ(progress_from_text(progress_to_text(Progress{})), Progress{});
}

TEST(Progress, KeepsTheFactorOnTheLossWhereThereIsOne) {
  Progress progress{412, 3, 17, 400, 0.5, 2, true};
  progress.loss_scale = LossScale{.factor = 0x1p130, .steps = 1999, .left_out = 3};
  EXPECT_EQ(progress_from_text(progress_to_text(progress)), progress);
  EXPECT_EQ(progress_to_text(Progress{}).find("loss_scale"), std::string::npos);
}

TEST(Progress, KeepsTheLossesOfTheRuleForTies) {
  Progress progress{412, 3, 17, 400, 0.5, 2, true};
  progress.best_loss = 0.1 + 0.2;
  progress.lowest_loss = 0x1p-1070;
  EXPECT_EQ(progress_from_text(progress_to_text(progress)), progress);
  EXPECT_EQ(progress_to_text(Progress{}).find("_loss"), std::string::npos) << "as earlier versions write it";
}

TEST(Progress, RejectsInvalidText) {
  for (std::string text : {"", "[]", "{}", R"({"step": "one"})"})
    EXPECT_THROW(progress_from_text(text), Error) << text;
  Progress scaled;
  scaled.loss_scale = LossScale();
  for (std::string text = progress_to_text(scaled); const char* part : {"factor", "left_out"})
    EXPECT_THROW(progress_from_text(std::string(text).replace(text.find(part), 1, "F")), Error) << part;
}

}  // namespace
}  // namespace encore::record
