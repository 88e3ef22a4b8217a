// SPDX-License-Identifier: BSD-3-Clause
// Tests the wording that all sections of a report share (report/wording.hpp, report/candidate_key.hpp): how
// settings are written as numbers, and how reasons end. The wording may change, but in all sections at once.
#include "report/wording.hpp"

#include <gtest/gtest.h>

#include "report/candidate_key.hpp"

namespace encore::report {
namespace {

TEST(Wording, NumbersOfSettingsAreAsShortAsTheyCanBe) {
  EXPECT_EQ(config::setting_text(0.00327243), "0.00327243");
  EXPECT_EQ(config::setting_text(1.0), "1");
  EXPECT_EQ(config::setting_text(1e-4), "1e-4");
  EXPECT_EQ(config::setting_text(7), "7");
  EXPECT_EQ(config::setting_text({0.00327243, 1.0, "a"}), "[0.00327243,1,\"a\"]");
  EXPECT_EQ(config::setting_text(true), "true");
}

TEST(Wording, AReasonThatAsksGetsNoFullStop) {
  analysis::Comparison comparison;
  for (const char* reason : {"does the seed change anything?", "one seed"}) {
    analysis::Pair& pair = comparison.pairs.emplace_back();
    pair.b = comparison.pairs.size();
    pair.reason = reason;
  }
  const std::vector<std::string> texts = refusal_texts(comparison, {"A", "B", "C"});
  EXPECT_EQ(texts, (std::vector<std::string>{"No test of A and B: does the seed change anything?",
                                             "No test of A and C: one seed."}));
}

}  // namespace
}  // namespace encore::report
