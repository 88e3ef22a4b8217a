// SPDX-License-Identifier: BSD-3-Clause
// Tests selection_notices(), the warning about a run whose metric could not choose a checkpoint because it
// never changed or was undefined; `exp show`, `exp compare` and reports print it, and the messages are
// compared word by word. Two tests are about store::judged_measure(), by which a search reads the value of a
// run. ChosenSeedTest tests the candidates of a comparison: a seed by which a search chose a setting does
// not count beside fresh seeds, because the choice favoured it.
#include "analysis/selection_notice.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "analysis/comparison.hpp"
#include "store/run_score.hpp"
#include "store/searches.hpp"
#include "unit/analysis/replicates.hpp"

namespace encore::analysis {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

class SelectionNoticeTest : public testing::ReplicatesTest {
 protected:
  /// Adds the run and returns the notice about it; empty if there is none.
  std::string notice_of(const testing::Told& told) {
    const store::RunRow run = tell(told);
    const auto notices = selection_notices(store(), {run});
    return notices.empty() ? "" : notices.at(run.number);
  }
};

TEST_F(SelectionNoticeTest, NamesAMetricThatNeverMoved) {
  const std::vector<double> losses = {3.0, 2.0, 1.0};
  EXPECT_EQ(
      notice_of({.name = "still",
                 .curves = {{"dev/f1", {0.0, 0.0, 0.0}}, {"dev/loss", losses}},
                 .best_step = 30,
                 .ties = "loss"}),
      "dev/f1 is 0.00 at all 3 evaluations, so it cannot choose a checkpoint; the run keeps step 30, that "
      "of the "
      "lowest dev/loss; train.select can name another measure");
  EXPECT_EQ(
      notice_of(
          {.name = "old", .curves = {{"dev/f1", {0.0, 0.0, 0.0}}, {"dev/loss", losses}}, .best_step = 10}),
      "dev/f1 is 0.00 at all 3 evaluations, so it cannot choose a checkpoint; the run keeps step 10, the "
      "earliest "
      "with that value; train.select can name another measure");
  EXPECT_EQ(notice_of({.name = "undefined",
                       .curves = {{"dev/f1", {nan, nan, nan}}, {"dev/loss", losses}},
                       .best_step = 30,
                       .ties = "loss"}),
            "dev/f1 is undefined at all 3 evaluations, so it cannot choose a checkpoint; the run keeps step "
            "30, that of "
            "the lowest dev/loss; train.select can name another measure");
  EXPECT_EQ(notice_of({.name = "missing", .curves = {{"dev/loss", {1.0}}}, .best_step = 10, .ties = "loss"})
                .substr(0, 43),
            "dev/f1 is undefined at the only evaluation,");
  EXPECT_EQ(notice_of({.name = "partly",
                       .curves = {{"dev/f1", {nan, 0.5, 0.5}}, {"dev/loss", losses}},
                       .best_step = 30,
                       .ties = "loss"})
                .substr(0, 66),
            "dev/f1 is 50.00 at 2 of 3 evaluations and undefined at the others,");
}

TEST_F(SelectionNoticeTest, NamesAMetricThatTheSetLeavesNothingToCount) {
  EXPECT_EQ(
      notice_of({.name = "short",
                 .curves = {{"dev/f1", {0.0, 0.1}}, {"dev/loss", {2.0, 1.0}}},
                 .best_step = 20,
                 .ties = "loss",
                 .undefined = true}),
      "dev/f1 is undefined on the development set, whose labels or references leave it nothing to count, so "
      "it "
      "cannot choose a checkpoint; the run keeps step 20, that of the lowest dev/loss; train.select can name "
      "another measure");
}

TEST_F(SelectionNoticeTest, ASearchJudgesNoRunByAMetricThatTheSetLeavesUndefined) {
  testing::Told told{.name = "short",
                     .measures = {{"dev/f1", 0.0}, {"dev/accuracy", 0.5}},
                     .best_step = 20,
                     .ties = "loss",
                     .undefined = true};
  const store::RunRow undefined = tell(told);
  EXPECT_EQ(store::judged_measure(store(), undefined, "dev/f1"), std::nullopt);
  EXPECT_EQ(store::judged_measure(store(), undefined, "dev/accuracy"), 0.5) << "not the undefined metric";
  EXPECT_EQ(store::judged_measure(store(), undefined, "dev/bleu"), std::nullopt);
  told.name = "long";
  told.undefined = false;
  EXPECT_EQ(store::judged_measure(store(), tell(told), "dev/f1"), 0.0);
}

TEST_F(SelectionNoticeTest, IsSilentWhereTheMetricMovedOrHadNoChanceTo) {
  EXPECT_EQ(
      notice_of({.name = "moved", .curves = {{"dev/f1", {0.0, 0.0, 0.1}}, {"dev/loss", {3.0, 2.0, 1.0}}}}),
      "");
  EXPECT_EQ(notice_of({.name = "single", .curves = {{"dev/f1", {0.0}}, {"dev/loss", {3.0}}}}), "");
  EXPECT_EQ(notice_of({.name = "nothing"}), "") << "no evaluation at all";
}

TEST_F(SelectionNoticeTest, StandsInAComparisonOncePerCandidate) {
  std::vector<store::RunRow> runs;
  for (const std::int64_t seed : {1, 2})
    runs.push_back(tell({.name = "still",
                         .seed = seed,
                         .curves = {{"dev/f1", {0.5, 0.5}}, {"dev/loss", {2.0, 1.0}}},
                         .best_step = 20,
                         .ties = "loss"}));
  runs.push_back(tell({.name = "moved", .curves = {{"dev/f1", {0.5, 0.6}}, {"dev/loss", {2.0, 1.0}}}}));
  const Comparison comparison = collect_candidates(store(), runs, {.metric = {.name = "test/f1"}});
  ASSERT_EQ(comparison.notices.size(), 1U);
  EXPECT_EQ(
      comparison.notices[0],
      "still: the metric that chooses the checkpoint never moved in 2 of 2 runs; in still-s1 dev/f1 is 50.00 "
      "at all 2 "
      "evaluations, so it cannot choose a checkpoint; the run keeps step 20, that of the lowest dev/loss; "
      "train.select can name another measure");
}

TEST_F(SelectionNoticeTest, TheRuleForTiesIsThatOfTheRuns) {
  const store::RunRow by_loss = tell({.name = "new", .ties = "loss"}), by_first = tell({.name = "old"});
  EXPECT_EQ(ties_text({by_first}), "the earliest of equals");
  EXPECT_EQ(ties_text({by_loss}), "of equals that with the lowest dev/loss, then the latest");
  EXPECT_EQ(ties_text({by_loss, by_first}),
            "of equals that with the lowest dev/loss, then the latest (in 1 of 2 runs, of an earlier "
            "version, the earliest "
            "of equals)");
}

TEST_F(SelectionNoticeTest, ASearchJudgesByTheCheckpointThatTheRunWouldKeep) {
  const store::RunRow run =
      tell({.name = "rungs", .curves = {{"dev/f1", {0.0, 0.0, 0.5}}, {"dev/loss", {3.0, 1.0, 2.0}}}});
  const auto loss_at = [&](std::int64_t step) {
    return store::value_at(store(), run.number, "max dev/f1", "dev/loss", step);
  };
  EXPECT_EQ(loss_at(10), 3.0);
  EXPECT_EQ(loss_at(25), 1.0) << "of equal scores the one with the lower loss";
  EXPECT_EQ(loss_at(30), 2.0) << "the better score";
  EXPECT_TRUE(std::isnan(loss_at(5)));
  const store::RunRow undefined =
      tell({.name = "nan", .curves = {{"dev/f1", {nan, nan}}, {"dev/loss", {3.0, 1.0}}}});
  EXPECT_EQ(store::value_at(store(), undefined.number, "max dev/f1", "dev/loss", 20), 1.0);
  EXPECT_TRUE(std::isnan(store::value_at(store(), undefined.number, "max dev/f1", "dev/f1", 20)));
}

class ChosenSeedTest : public testing::ReplicatesTest {
 protected:
  /// Adds a search with one trial: the run of seed 1 chose it, those of the other seeds confirm it.
  void search(const std::vector<store::RunRow>& chosen, const std::vector<store::RunRow>& fresh) {
    store::Database& database = store().database();
    database
        .cached(
            "INSERT INTO search (number, name, sweep, identity, backend, settings, space, created) "
            "VALUES (1, 'tune', 1, 'i', 'openmp', '{}', '[]', 0)")
        .run();
    database.cached("INSERT INTO search_trial (search, number, point, active) VALUES (1, 0, '[]', '[]')")
        .run();
    for (const auto* runs : {&chosen, &fresh})
      for (const store::RunRow& run : *runs)
        database.cached("INSERT INTO search_run (search, trial, run, confirms) VALUES (1, 0, ?, ?)")
            .run(run.number, runs == &fresh ? 1 : 0);
  }
};

TEST_F(ChosenSeedTest, DoesNotCountBesideFreshOnes) {
  const store::RunRow chosen =
      tell({.name = "a", .seed = 1, .measures = {{"test/f1", 0.9}, {"dev/f1", 0.9}}});
  std::vector<store::RunRow> fresh;
  for (const std::int64_t seed : {2, 3})
    fresh.push_back(tell({.name = "a", .seed = seed, .measures = {{"test/f1", 0.5}, {"dev/f1", 0.5}}}));
  const store::RunRow other = tell({.name = "b", .seed = 1, .measures = {{"test/f1", 0.7}}});
  search({chosen}, fresh);
  const std::vector<store::RunRow> runs = {chosen, fresh[0], fresh[1], other};
  const Comparison comparison = collect_candidates(store(), runs, {.metric = {.name = "test/f1"}});
  const Candidate& candidate = comparison.candidates.at(0);
  EXPECT_EQ(candidate.values, (std::vector<double>{0.5, 0.5}));
  EXPECT_DOUBLE_EQ(candidate.mean, 0.5);
  EXPECT_EQ(values_of(candidate, "dev/f1"), (std::vector<double>{0.5, 0.5}));
  EXPECT_EQ(candidate.runs.at(0).missing,
            "search tune chose the setting by this seed, and fresh seeds stand for it");
  ASSERT_EQ(comparison.notices.size(), 1U);
  EXPECT_EQ(comparison.notices[0],
            "a: its mean is over seeds that no search has seen; a-s1, by which a search chose the setting, "
            "does not count");
  EXPECT_EQ(comparison.candidates.at(1).values, (std::vector<double>{0.7})) << "of no search";
}

TEST_F(ChosenSeedTest, CountsWhereThereAreNoFreshOnes) {
  const store::RunRow chosen = tell({.name = "a", .seed = 1, .measures = {{"test/f1", 0.9}}});
  const store::RunRow failed =
      tell({.name = "a", .seed = 2, .measures = nullptr, .state = store::RunState::failed});
  search({chosen}, {failed});
  const Comparison comparison =
      collect_candidates(store(), {chosen, failed}, {.metric = {.name = "test/f1"}});
  EXPECT_EQ(comparison.candidates.at(0).values, (std::vector<double>{0.9}));
  EXPECT_TRUE(comparison.notices.empty());
}

}  // namespace
}  // namespace encore::analysis
