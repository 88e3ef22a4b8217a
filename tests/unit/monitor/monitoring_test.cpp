// SPDX-License-Identifier: BSD-3-Clause
// Tests monitor() (monitor/monitoring.hpp), which summarizes the inputs that a served model has answered for
// `exp monitor`: means, the window of newest inputs, latency, the share of right answers with its interval,
// and the same as JSON. Programs read that JSON, so its names stay.
#include "monitor/monitoring.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace encore::monitor {
namespace {

record::TextReference some_reference() {
  record::TextReference reference{.source = "dev", .step = 7};
  reference.histograms.labels = {{"name", 0}, {"none", 0}};
  for (int i = 0; i < 100; ++i)
    reference.histograms.add(
        {.tokens = 10 + i % 5, .confidence = 0.9, .labels = {{i % 4 == 0 ? "name" : "none", 1}}});
  return reference;
}

std::vector<store::ServedText> texts(int count, std::int64_t tokens) {
  std::vector<store::ServedText> list;
  for (int i = 0; i < count; ++i)
    list.push_back({.request = std::to_string(i),
                    .time = 100.0 + i,
                    .seconds = 0.001 * (i + 1),
                    .facts = {.tokens = tokens, .confidence = 0.9, .labels = {{"none", 1}}}});
  return list;
}

TEST(Monitoring, DescribesTheWindowAndTestsAll) {
  const Monitoring said = monitor(some_reference(), texts(100, 40), {3, 4}, {.window = 20, .alpha = 0.001});
  EXPECT_EQ(said.texts, 100);
  EXPECT_EQ(said.window, 20);
  EXPECT_EQ(said.first, 100.0);
  EXPECT_EQ(said.last, 199.0);
  EXPECT_NEAR(said.seconds_median, 0.090, 1e-9) << "median of the last twenty, from 81 to 100 ms";
  EXPECT_NEAR(said.seconds_95, 0.099, 1e-9);
  ASSERT_EQ(said.measures.size(), 4U);
  EXPECT_EQ(said.measures[0].name, "pieces");
  EXPECT_NEAR(*said.measures[0].reference, 12.0, 1e-9);
  EXPECT_NEAR(*said.measures[0].live, 40.0, 1e-9);
  EXPECT_GT(said.measures[0].shift.psi, 1.0);
  EXPECT_EQ(said.measures[3].name, "labels");
  ASSERT_EQ(said.labels.size(), 2U);
  EXPECT_NEAR(said.labels[0].reference, 0.25, 1e-9);
  EXPECT_NEAR(said.labels[0].live, 0.0, 1e-9);
  ASSERT_TRUE(said.alert());
  EXPECT_LT(*said.alarm, 60);
  const nlohmann::ordered_json json = json_of(said);
  EXPECT_EQ(json.at("alert"), true);
  EXPECT_EQ(json.at("test").at("alarm_after"), *said.alarm);
  EXPECT_EQ(json.at("feedback").at("texts"), 4);
}

TEST(Monitoring, NoInputsGiveNoAlert) {
  const Monitoring said = monitor(some_reference(), {}, {}, {});
  EXPECT_FALSE(said.alert());
  EXPECT_EQ(said.texts, 0);
  EXPECT_TRUE(json_of(said).at("test").at("alarm_after").is_null());
  EXPECT_FALSE(json_of(said).at("feedback").contains("low"));
}

TEST(Monitoring, ASmallNumberOfAnswersGivesAWideInterval) {
  const analysis::Interval few = interval_of({3, 4}), many = interval_of({750, 1000}), none = interval_of({});
  EXPECT_NEAR(few.low, 0.3006, 1e-3);
  EXPECT_NEAR(few.high, 0.9544, 1e-3);
  EXPECT_NEAR(many.low, 0.7222, 1e-3);
  EXPECT_NEAR(many.high, 0.7759, 1e-3);
  EXPECT_EQ(none.low, 0.0);
  EXPECT_EQ(none.high, 1.0);
}

}  // namespace
}  // namespace encore::monitor
