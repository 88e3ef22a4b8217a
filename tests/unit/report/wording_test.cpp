// How reports write settings, intervals of shares and reasons.
#include "report/wording.hpp"

#include <gtest/gtest.h>

#include "report/power.hpp"

namespace encore {
namespace {

TEST(Wording, numbers_of_settings_are_as_short_as_they_can_be) {
  EXPECT_EQ(setting_text(0.00327243), "0.00327243");
  EXPECT_EQ(setting_text(1.0), "1");
  EXPECT_EQ(setting_text(1e-4), "1e-4");
  EXPECT_EQ(setting_text(7), "7");
  EXPECT_EQ(setting_text({0.00327243, 1.0, "a"}), "[0.00327243,1,\"a\"]");
  EXPECT_EQ(setting_text(true), "true");
}

TEST(Wording, a_picture_shows_no_share_beyond_all_and_nothing) {
  const Metric share{.name = "test/f1", .meaning = {.name = "f1", .fraction = true}},
      loss{.name = "test/loss"};
  const Interval wide{-2.0, 3.0};
  EXPECT_EQ(possible_part(share, wide).low, 0.0);
  EXPECT_EQ(possible_part(share, wide).high, 1.0);
  EXPECT_EQ(possible_part(share, {0.4, 0.6}).low, 0.4);
  EXPECT_EQ(possible_part(loss, wide).low, -2.0) << "a loss may be anything";
}

TEST(Wording, a_reason_that_asks_gets_no_full_stop) {
  Comparison comparison;
  for (const char* reason : {"does the seed change anything?", "one seed"}) {
    Pair& pair = comparison.pairs.emplace_back();
    pair.b = comparison.pairs.size();
    pair.reason = reason;
  }
  const std::vector<std::string> texts = refusal_texts(comparison, {"A", "B", "C"});
  EXPECT_EQ(texts, (std::vector<std::string>{"No test of A and B: does the seed change anything?",
                                             "No test of A and C: one seed."}));
}

}  // namespace
}  // namespace encore
