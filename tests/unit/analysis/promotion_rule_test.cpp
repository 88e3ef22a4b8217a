// SPDX-License-Identifier: BSD-3-Clause
// Tests the rule by which `exp retrain` lets a new run take the place of its parent
// (analysis/promotion_rule.hpp): an expression over gains such as "old >= -0.5 && new > 0", where `old` is
// the gain on the old test set and `new` that on new examples. Also tests the gains themselves, and
// Retraining, whose JSON is stored with a run and must read back equal.
#include "analysis/promotion_rule.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include <nlohmann/json.hpp>

#include "base/measure_json.hpp"
#include "unit/record/temporary_folder.hpp"

namespace encore::analysis {
namespace {

using testing::message_of;

Metric accuracy() {
  return {.name = "test/accuracy",
          .meaning = {.name = "accuracy",
                      .help = "a share",
                      .fraction = true,
                      .reducer = Reducer::ratio,
                      .columns = {"right", "all"}}};
}

Metric loss() {
  return {.name = "test/loss",
          .meaning = {.name = "loss", .help = "a cost", .better = Better::lower, .reducer = Reducer::opaque}};
}

/// Returns the statistics of one example for each letter: '1' is a right answer.
Statistics answers(const std::string& right) {
  Statistics statistics;
  for (const char letter : right) add_example(statistics, {{"right", letter == '1' ? 1 : 0}, {"all", 1}});
  return statistics;
}

/// Returns a comparison with these gains in points; each interval reaches one point to either side.
Retraining retraining(double old_gain, double new_gain) {
  Retraining made{.parent = "0123456789",
                  .measure = accuracy(),
                  .old_set = {},
                  .new_set = {},
                  .new_files = {},
                  .rule = {}};
  made.old_set = {.what = "test set",
                  .examples = 10,
                  .parent = 0.5,
                  .run = 0.5 + old_gain / 100,
                  .gain = old_gain,
                  .low = old_gain - 1,
                  .high = old_gain + 1};
  made.new_set = {.what = "new.tsv",
                  .examples = 5,
                  .parent = 0.5,
                  .run = 0.5 + new_gain / 100,
                  .gain = new_gain,
                  .low = new_gain - 1,
                  .high = new_gain + 1};
  return made;
}

TEST(PromotionRule, AsksForGainsAndTheEndsOfTheirIntervals) {
  EXPECT_TRUE(PromotionRule(default_promotion_rule).holds(retraining(-0.5, 0.1)));
  EXPECT_FALSE(PromotionRule(default_promotion_rule).holds(retraining(-0.6, 5)));
  EXPECT_FALSE(PromotionRule(default_promotion_rule).holds(retraining(3, 0)));
  EXPECT_TRUE(PromotionRule("old >= -0.5 and new > 0").holds(retraining(0, 1)));
  EXPECT_TRUE(PromotionRule("old > 9 or new_low > 0").holds(retraining(0, 1.5)));
  EXPECT_FALSE(PromotionRule("new_low > 0").holds(retraining(0, 0.9)));
  EXPECT_TRUE(PromotionRule("!(old_high < 0) && (new > 0 || new_high >= 2)").holds(retraining(-1, 1)));
}

TEST(PromotionRule, RejectsInvalidRules) {
  const auto refusal = [](const std::string& text) {
    return message_of<Error>([&] { PromotionRule rule(text); });
  };
  EXPECT_EQ(refusal("1 > 0"),
            "the rule \"1 > 0\" names no measured value; there are \"old\", \"new\", \"old_low\", "
            "\"new_low\", \"old_high\", \"new_high\"");
  EXPECT_EQ(refusal("nwe > 0"), "the rule \"nwe > 0\" names \"nwe\"; did you mean \"new\"?");
  EXPECT_NE(refusal("new > ").find("cannot be read: expected"), std::string::npos);
  EXPECT_NE(refusal("").find("cannot be read: expected"), std::string::npos);
  EXPECT_EQ(message_of<Error>([] { PromotionRule("old > 0 && new_low > 0").require_answered_by(loss()); }),
            "the rule \"old > 0 && new_low > 0\" asks for new_low, but loss does not follow from single "
            "examples, so that it has no interval; leave it out, or choose another measure (--measure)");
  EXPECT_NO_THROW(PromotionRule("old > 0").require_answered_by(loss()));
  EXPECT_NO_THROW(PromotionRule("old_low > 0").require_answered_by(accuracy()));
}

TEST(Retraining, AGainIsInPointsAndPositiveWhereTheRunIsBetter) {
  const ComparedSet better = compared(accuracy(), "set", answers("1100000000"), answers("1111110000"));
  EXPECT_EQ(better.examples, 10u);
  EXPECT_NEAR(better.gain, 40.0, 1e-9);
  ASSERT_TRUE(better.low && better.high);
  EXPECT_TRUE(*better.low > 0 && *better.low < 40 && *better.high > 40 && *better.high <= 80);
  const ComparedSet lower = compared(loss(), "set", 10, 2.0, 1.5);
  EXPECT_NEAR(lower.gain, 0.5, 1e-12);
  EXPECT_FALSE(lower.low || lower.high);
  EXPECT_EQ(gain_text(loss(), lower), "+0.50 better");
  EXPECT_EQ(message_of<Error>([] { compared(accuracy(), "test set", answers("11"), answers("111")); }),
            "on the test set the run was scored on 3 examples and its parent on 2, so that they cannot be "
            "compared");
}

TEST(Retraining, IsReadBackAsRecorded) {
  Retraining before = retraining(-0.25, 3);
  before.new_files = {{"/data/new.tsv", "ab"}};
  before.held_out = 0.2;
  before.rule = "new > 0";
  before.promoted = true;
  before.new_set.low.reset();
  const Retraining after = retraining_in(json_of(before));
  EXPECT_EQ(json_of(after), json_of(before));
  EXPECT_EQ(
      sentences(after),
      (std::vector<std::string>{
          "on the old set (test set, 10 examples) accuracy went from 50.00 to 49.75: -0.25 points (95 % "
          "interval -1.25 to +0.75)",
          "on the new set (new.tsv, 5 examples) accuracy went from 50.00 to 53.00: +3.00 points",
          "the rule \"new > 0\" holds: it was promoted"}));
  EXPECT_NE(message_of<Error>([] {
              retraining_in({{"parent", "x"}});
            }).find("is incomplete"),
            std::string::npos);
}

}  // namespace
}  // namespace encore::analysis
