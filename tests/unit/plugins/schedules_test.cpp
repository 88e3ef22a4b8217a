// Schedules at the points that matter: first step, end of the warm-up, last step, and a warm-up longer than
// the run.
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

TEST(ConstantSchedule, warms_up_and_stays) {
  const auto constant = schedule("constant", ten);
  EXPECT_DOUBLE_EQ(constant->factor(1), 0.1);
  EXPECT_DOUBLE_EQ(constant->factor(10), 1.0);
  EXPECT_DOUBLE_EQ(constant->factor(100), 1.0);
  EXPECT_DOUBLE_EQ(schedule("constant", none)->factor(1), 1.0);
}

TEST(LinearSchedule, is_the_smaller_of_the_way_up_and_the_way_down) {
  const auto linear = schedule("linear", ten);
  for (std::int64_t s = 0; s < 100; ++s)  // PyTorch's lambda counts steps from 0
    EXPECT_DOUBLE_EQ(linear->factor(s + 1), std::min((s + 1) / 10.0, (100.0 - s) / 90.0)) << s;
  EXPECT_DOUBLE_EQ(schedule("linear", none)->factor(1), 1.0);
  EXPECT_DOUBLE_EQ(schedule("linear", none)->factor(100), 0.01);
  EXPECT_DOUBLE_EQ(linear->factor(500), 0.0);
}

TEST(LinearSchedule, a_warm_up_longer_than_the_run_never_exceeds_one) {
  const auto linear = schedule("linear", {{"warmup_steps", std::int64_t{200}}}, 50);
  for (std::int64_t step = 1; step <= 50; ++step)
    EXPECT_LE(linear->factor(step), static_cast<double>(step) / 200.0);
}

TEST(CosineSchedule, ends_at_its_floor) {
  const auto cosine = schedule("cosine", {{"warmup_steps", std::int64_t{10}}, {"floor", 0.1}});
  EXPECT_DOUBLE_EQ(cosine->factor(1), 0.1);
  EXPECT_DOUBLE_EQ(cosine->factor(10), 1.0);
  EXPECT_NEAR(cosine->factor(55), 0.55, 1e-12);
  EXPECT_NEAR(cosine->factor(100), 0.1, 1e-12);
  EXPECT_LE(schedule("cosine", none)->factor(1), 1.0);
}

TEST(NoamSchedule, peaks_at_the_end_of_the_warm_up) {
  const auto noam = schedule("noam", ten);
  EXPECT_DOUBLE_EQ(noam->factor(10), 1.0 / std::sqrt(10.0 * 64.0));
  EXPECT_LT(noam->factor(9), noam->factor(10));
  EXPECT_LT(noam->factor(11), noam->factor(10));
  EXPECT_DOUBLE_EQ(noam->factor(40), 0.5 * noam->factor(10));
}

}  // namespace
}  // namespace encore::test
