// SPDX-License-Identifier: BSD-3-Clause
// Tests the statistics that reports show for a sweep (analysis/sweep_statistics.hpp): main_effect(), the
// share of a score's variance that one setting explains, and expected_best(), the mean best score of n
// trials. Expected values are those of scipy and of an enumeration of all draws, both in statistics.json; run
// make_statistics.py instead of editing the file.
#include "analysis/sweep_statistics.hpp"
#include "unit/analysis/scipy_numbers.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include <nlohmann/json.hpp>

namespace encore::analysis {
namespace {

TEST(SweepStatistics, MainEffectsAsScipyHasThem) {
  ASSERT_EQ(scipy()["main_effects"].size(), 4u);
  for (const nlohmann::json& wanted : scipy()["main_effects"]) {
    SCOPED_TRACE(wanted.dump());
    const auto effect = main_effect(wanted["values"].get<std::vector<double>>(),
                                    wanted["level"].get<std::vector<std::size_t>>());
    ASSERT_TRUE(effect && effect->f && effect->p);
    EXPECT_NEAR(effect->share, wanted["share"].get<double>(), 1e-12);
    EXPECT_NEAR(effect->adjusted, wanted["adjusted"].get<double>(), 1e-12);
    EXPECT_NEAR(*effect->f, wanted["f"].get<double>(), 1e-9 * *effect->f);
    EXPECT_NEAR(*effect->p, wanted["p"].get<double>(), 1e-10);
  }
}

TEST(SweepStatistics, ThereIsNoEffectWithoutLevelsOrSpread) {
  const std::vector<double> values = {0.1, 0.2, 0.3}, equal = {0.5, 0.5, 0.5};
  const std::vector<std::size_t> one = {0, 0, 0}, two = {0, 1, 1}, each = {0, 1, 2};
  EXPECT_FALSE(main_effect(values, one));
  EXPECT_FALSE(main_effect(equal, two));
  EXPECT_FALSE(main_effect(std::vector<double>{0.1, 0.2}, std::vector<std::size_t>{0, 1}));
  const auto effect = main_effect(values, each);
  ASSERT_TRUE(effect);
  EXPECT_EQ(effect->share, 1.0);
  EXPECT_FALSE(effect->f) << "no level has a second value to estimate chance";
  const auto perfect =
      main_effect(std::vector<double>{0.1, 0.1, 0.4, 0.4}, std::vector<std::size_t>{0, 0, 1, 1});
  ASSERT_TRUE(perfect);
  EXPECT_FALSE(perfect->p) << "no spread is left within the levels";
}

TEST(SweepStatistics, ExpectedBestIsTheMeanOverAllDraws) {
  ASSERT_EQ(scipy()["expected_best"].size(), 3u);
  for (const nlohmann::json& wanted : scipy()["expected_best"]) {
    const auto best =
        expected_best(wanted["values"].get<std::vector<double>>(), wanted["maximize"], wanted["best"].size());
    ASSERT_EQ(best.size(), wanted["best"].size());
    for (std::size_t n = 0; n < best.size(); ++n)
      EXPECT_NEAR(best[n], wanted["best"][n].get<double>(), 1e-13) << wanted << n;
  }
  EXPECT_TRUE(expected_best({}, true, 3).empty());
}

}  // namespace
}  // namespace encore::analysis
