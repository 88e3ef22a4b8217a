// SPDX-License-Identifier: BSD-3-Clause
// Tests AnswerProgress (record/answer_progress.hpp): the lines of progress that a worker prints before its
// answer come back from their text, and any other line must not be taken for progress, because it is the
// user's output.
#include "record/answer_progress.hpp"

#include <gtest/gtest.h>

namespace encore::record {
namespace {

TEST(AnswerProgress, ComesBackFromItsLine) {
  const AnswerProgress progress = {.what = "written", .unit = "\"texts\"", .done = 7, .all = 1000};
  EXPECT_EQ(progress.line().find('\n'), std::string::npos);
  EXPECT_EQ(AnswerProgress::parse(progress.line()), progress);
}

TEST(AnswerProgress, AnotherLineIsNotProgress) {
  for (const char* line : {"", "{}", "{\"step\":1}", "{\"at_work\":", "{\"at_work\":{}}",
                           "{\"at_work\":[\"a\",1,2]}", "{\"at_work\":[\"a\",-1,2,\"b\"]}",
                           "{\"at_work\":[1,1,2,\"b\"]}", " {\"at_work\":[\"a\",1,2,\"b\"]}"})
    EXPECT_FALSE(AnswerProgress::parse(line)) << line;
}

}  // namespace
}  // namespace encore::record
