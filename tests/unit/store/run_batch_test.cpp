// SPDX-License-Identifier: BSD-3-Clause
// Tests RunBatch (store/run_batch.hpp), queries over many runs at once for reports: they must give the
// answers that store/queries.cpp gives for each run alone. The SQL may change.
#include "store/run_batch.hpp"

#include <cmath>
#include <limits>

#include "unit/store/store_fixture.hpp"

namespace encore::testing {
namespace {

class RunBatchTest : public StoreTest {
 protected:
  /// Trains a run of `steps` steps. If `died` is not 0, its first attempt ends after that many steps, and its
  /// second one resumes at step `resumed`.
  store::RunRow train(char letter, const std::string& name, std::int64_t steps, std::int64_t died = 0,
                      std::int64_t resumed = 0) {
    const std::int64_t run = add(letter, name);
    if (died > 0) attempt(run, 1, died, 1000.0, store::RunState::interrupted);
    attempt(run, died > 0 ? resumed : 1, steps, 0.0, store::RunState::completed);
    return store().read_run(run);
  }

  void attempt(std::int64_t run, std::int64_t first, std::int64_t last, double above, store::RunState state) {
    const auto lease = store().begin_attempt(run);
    record::SpoolWriter spool(spool_of(*lease), lease->ordinal);
    spool.event(
        record::Started{.numeric_environment = record::JsonText(nlohmann::json{{"backend", "openmp"}}),
                        .host = record::JsonText(nlohmann::json{{"name", "here"}}),
                        .build = record::JsonText(nlohmann::json{{"version", "1"}}),
                        .plugins = {{.name = "p", .version = "1", .sha256 = "ab", .fingerprint = "f"}}});
    for (std::int64_t step = first; step <= last; ++step) {
      spool.point("train/loss", step, above + static_cast<double>(step));
      spool.event(record::Digested{.step = step, .scope = "parameters", .sha256 = std::to_string(step)});
    }
    spool.sync();
    store().finish_attempt(*lease, state, "");
  }
};

TEST_F(RunBatchTest, GivesTheAnswersOfEachRunAlone) {
  const std::vector<store::RunRow> runs = {train('a', "one", 4), train('b', "two", 5, 3, 2)};
  train('c', "not asked for", 3);
  store::RunBatch batch(store(), runs);
  const auto params = batch.params();
  const auto datasets = batch.datasets();
  const auto attempts = batch.attempts();
  const auto digests = batch.last_digests();
  EXPECT_EQ(params.size(), 2u);
  EXPECT_EQ(attempts.size(), 2u);
  for (const store::RunRow& run : runs) {
    const auto own = store().read_params(run.number);
    ASSERT_EQ(params.at(run.number).size(), own.size());
    for (std::size_t i = 0; i < own.size(); ++i) {
      EXPECT_EQ(params.at(run.number)[i].key, own[i].key);
      EXPECT_EQ(params.at(run.number)[i].value, own[i].value);
    }
    EXPECT_EQ(datasets.at(run.number).at(0).sha256, store().read_datasets(run.number).at(0).sha256);
    const auto alone = store().read_attempts(run.number);
    ASSERT_EQ(attempts.at(run.number).size(), alone.size());
    for (std::size_t i = 0; i < alone.size(); ++i) {
      EXPECT_EQ(attempts.at(run.number)[i].state, alone[i].state);
      EXPECT_EQ(attempts.at(run.number)[i].environment, alone[i].environment);
      EXPECT_EQ(attempts.at(run.number)[i].plugins.at(0).sha256, alone[i].plugins.at(0).sha256);
    }
    EXPECT_EQ(static_cast<std::size_t>(batch.digest_counts().at(run.number)),
              store().read_digests(run.number).size());
    EXPECT_EQ(digests.at(run.number).at(0).step, store().read_digests(run.number).back().step);
  }
  ASSERT_EQ(batch.metrics().size(), 1u);
  EXPECT_EQ(batch.metrics()[0].name, "train/loss");
  EXPECT_TRUE(store::RunBatch(store(), {}).params().empty());
}

TEST_F(RunBatchTest, CurvesHoldThePointsThatCount) {
  const std::vector<store::RunRow> runs = {train('a', "one", 4), train('b', "two", 5, 3, 2)};
  const store::BinnedCurves curves = store::RunBatch(store(), runs).curves("train/loss", 100);
  EXPECT_EQ(curves.width, 1);
  for (const store::RunRow& run : runs) {
    const auto alone = store().read_curve(run.number, "train/loss");
    const auto& bins = curves.runs.at(run.number);
    ASSERT_EQ(bins.size(), alone.size());
    for (std::size_t i = 0; i < alone.size(); ++i) {
      EXPECT_EQ(curves.step(bins[i].bin), static_cast<double>(alone[i].step));
      EXPECT_EQ(bins[i].mean, alone[i].value);
    }
  }
  EXPECT_TRUE(store::RunBatch(store(), runs).curves("dev/f1", 100).runs.empty());
}

TEST_F(RunBatchTest, LongCurvesAreMeansOfBinsAndKeepWhatIsNotFinite) {
  const store::RunRow run = train('a', "one", 1000);
  store().database().execute("UPDATE point SET value = NULL, special = 'nan' WHERE step = 500");
  const store::BinnedCurves curves = store::RunBatch(store(), {run}).curves("train/loss", 10);
  EXPECT_EQ(curves.width, 100);
  const auto& bins = curves.runs.at(run.number);
  ASSERT_EQ(bins.size(), 10u);
  EXPECT_EQ(curves.step(bins[0].bin), 50.5) << "the middle of steps 1 to 100";
  EXPECT_DOUBLE_EQ(bins[0].mean, 50.5);
  EXPECT_TRUE(std::isnan(bins[4].mean));
  std::int64_t points = 0;
  for (const store::CurveBin& bin : bins) points += bin.points;
  EXPECT_EQ(points, 1000);
}

}  // namespace
}  // namespace encore::testing
