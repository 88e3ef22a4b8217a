// Progress survives its way through a checkpoint's metadata with all bits.
#include "record/progress.hpp"

#include <gtest/gtest.h>
#include <encore/error.hpp>

namespace encore {
namespace {

TEST(Progress, ReadsBackWhatWasWritten) {
  const Progress progress{412, 3, 17, 400, 0.1 + 0.2, 2, true};
  EXPECT_EQ(progress_from_text(progress_to_text(progress)), progress);
}

TEST(Progress, HasNoBestValueBeforeTheFirstEvaluation) {
  EXPECT_EQ(progress_from_text(progress_to_text(Progress{})), Progress{});
}

TEST(Progress, RefusesTextThatIsNoProgress) {
  for (const char* text : {"", "[]", "{}", R"({"step": "one"})"})
    EXPECT_THROW(progress_from_text(text), Error) << text;
}

}  // namespace
}  // namespace encore
