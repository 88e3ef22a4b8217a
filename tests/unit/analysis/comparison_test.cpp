// SPDX-License-Identifier: BSD-3-Clause
// Tests compare_runs(), which `exp compare` and reports call: which runs form a candidate (all seeds of one
// setting), which statistical test compares a pair, when no verdict is possible, and the reason that users
// then read. The runs are made in a database by replicates.hpp. select_runs() and MeanDigits, which formats a
// mean with its deviation, are tested here too. The words of a reason may change; a pair without enough runs
// must get no verdict.
#include "analysis/comparison.hpp"

#include <cmath>

#include "store/run_score.hpp"
#include "store/selection.hpp"
#include "unit/analysis/replicates.hpp"

namespace encore::testing {
namespace {

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

class ComparisonTest : public ReplicatesTest {
 protected:
  /// Compares the runs that `words` select. Without a metric in the options, it uses the metric that chooses
  /// checkpoints, on the test set.
  analysis::Comparison compare(analysis::CompareOptions options = {},
                               const std::vector<std::string>& words = {"*"}) {
    const std::vector<store::RunRow> runs = store::select_runs(store(), {.words = words}).runs;
    const std::string name = options.metric.name;
    options.metric = name.empty() ? store::leading_metric(store(), runs)
                                  : store::read_metrics(store().database(), runs).of(name);
    return analysis::compare_runs(store(), runs, options);
  }
  std::vector<std::string> names(const std::vector<std::string>& words) {
    std::vector<std::string> found;
    for (const store::RunRow& run : store::select_runs(store(), {.words = words}).runs)
      found.push_back(run.name);
    return found;
  }
};

/// Scores of five seeds each. `high` is better than `low` by far more than the spread, so every test finds
/// it.
const std::vector<double> low = {0.4512, 0.4601, 0.4478, 0.4659, 0.4533};
const std::vector<double> high = {0.5123, 0.5155, 0.5090, 0.5202, 0.5181};

using Names = std::vector<std::string>;

TEST_F(ComparisonTest, AWordSelectsARunASweepAPatternOrTheBeginningOfNames) {
  tell_all("net-a", {0.1, 0.2});
  tell_all("net-b", {0.3});
  tell_all("other", {0.4});
  EXPECT_EQ(names({"net-a-s2"}), Names({"net-a-s2"}));
  EXPECT_EQ(names({"net"}), Names({"net-a-s1", "net-a-s2", "net-b-s1"})) << "a sweep";
  EXPECT_EQ(names({"*-s1"}), Names({"net-a-s1", "net-b-s1", "other-s1"}));
  EXPECT_EQ(names({"oth", "net-b"}), Names({"other-s1", "net-b-s1"})) << "in the order of the words";
  EXPECT_EQ(names({"net-a", "net-a-s1"}).size(), 2u) << "each run once";
  const store::RunRow run = store().find_run("net-b-s1");
  EXPECT_EQ(names({run.id.substr(0, 8)}), Names({run.name}));
  EXPECT_EQ(names({store().find_run("net-a-s1").group.substr(0, 12)}).size(), 2u);
  const std::string refused = message_of<store::UnknownRun>([&] { names({"othre-s1"}); });
  EXPECT_TRUE(contains(refused, "there is no run \"othre-s1\", and no sweep of that name")) << refused;
  EXPECT_TRUE(contains(refused, "did you mean \"other-s1\"?")) << refused;
}

TEST_F(ComparisonTest, AllMeansAllRunsWhateverTheirNames) {
  tell_all("net", {0.1, 0.2});
  store::Statement(store().database(), "UPDATE run SET name = 'all' WHERE name = 'net-s1'").run();
  EXPECT_EQ(names({"all"}), Names({"all", "net-s2"}));
}

TEST_F(ComparisonTest, SeedsOfAGroupAreOneCandidateAndSharedSeedsArePaired) {
  tell_all("a", low);
  tell_all("b", high);
  const analysis::Comparison comparison = compare();
  ASSERT_EQ(comparison.candidates.size(), 2u);
  EXPECT_EQ(comparison.candidates[0].name, "a");
  EXPECT_EQ(comparison.candidates[0].values, low);
  ASSERT_EQ(comparison.pairs.size(), 1u);
  const analysis::Pair& pair = comparison.pairs[0];
  EXPECT_EQ(pair.test, "paired t");
  EXPECT_EQ(pair.shared, 5u);
  EXPECT_EQ(pair.seeds->p, analysis::paired_t_test(low, high)->p);
  EXPECT_EQ(pair.verdict, analysis::Verdict::higher);
  EXPECT_EQ(comparison.ranking, std::vector<std::size_t>({1, 0}));
  EXPECT_EQ(pair.no_examples, "run b-s1 stored no predictions/test.jsonl");
  EXPECT_TRUE(comparison.notices.empty());
}

TEST_F(ComparisonTest, OtherSeedsAreTestedByWelch) {
  tell_all("a", low);
  for (std::int64_t seed = 11; seed <= 13; ++seed)
    tell({.name = "b", .seed = seed, .measures = {{"test/f1", high[static_cast<std::size_t>(seed - 11)]}}});
  const analysis::Pair pair = compare().pairs.at(0);
  EXPECT_EQ(pair.test, "Welch's t");
  EXPECT_EQ(pair.shared, 0u);
  EXPECT_EQ(pair.verdict, analysis::Verdict::higher);
  EXPECT_TRUE(contains(pair.reason, "independent seeds, 0 shared")) << pair.reason;
}

TEST_F(ComparisonTest, TooFewSeedsAreNotRankedAndTheNeededNumberIsReported) {
  tell_all("a", {0.450, 0.470, 0.440});
  tell_all("b", {0.455, 0.450, 0.465});
  const analysis::Comparison comparison = compare();
  const analysis::Pair& pair = comparison.pairs.at(0);
  EXPECT_EQ(pair.verdict, analysis::Verdict::undecided);
  EXPECT_TRUE(comparison.ranking.empty());
  const std::vector<double> differences = {0.450 - 0.455, 0.470 - 0.450, 0.440 - 0.465};
  EXPECT_EQ(pair.needed, analysis::seeds_for_paired(analysis::deviation_of(differences),
                                                    analysis::mean_of(differences), 0.05, 0.8));
  EXPECT_GT(*pair.needed, 3u);
  EXPECT_TRUE(contains(pair.reason, "3 shared seeds are too few for this spread; about " +
                                        std::to_string(*pair.needed) +
                                        " would show a difference of 0.33 "
                                        "(80 % power at alpha 0.050)"))
      << pair.reason;
  const analysis::Pair coarse = compare({.detect = 0.5}).pairs.at(0);
  EXPECT_EQ(coarse.verdict, analysis::Verdict::undecided);
  EXPECT_TRUE(contains(coarse.reason, "no difference; 3 shared seeds would show one of 50.00"))
      << coarse.reason;
}

TEST_F(ComparisonTest, TheBestMeanComesFirstInEveryTable) {
  tell_all("a", low);
  tell_all("b", high);
  tell({.name = "c", .measures = nullptr, .state = store::RunState::failed});
  const analysis::Comparison comparison = compare();
  EXPECT_EQ(analysis::best_first(comparison), std::vector<std::size_t>({1, 0, 2}));
  EXPECT_EQ(comparison.pairs.at(0).a, 1u);
  EXPECT_EQ(comparison.pairs.at(0).b, 0u);
  EXPECT_GT(comparison.pairs.at(0).difference, 0.0);
}

TEST(MeanDigits, ADeviationHasTheDecimalsOfItsMean) {
  const Metric loss{.name = "dev/loss", .meaning = {.name = "loss"}};
  const auto texts = [&](double mean, double deviation) {
    const analysis::MeanDigits digits(loss, mean, deviation);
    return digits.text(mean) + " " + digits.text(deviation);
  };
  EXPECT_EQ(texts(12.3456, 0.0123456), "12.346 0.012");
  EXPECT_EQ(texts(12.3456, 3.21098), "12.35 3.21");
  EXPECT_EQ(texts(0.5, 0.00123), "0.5000 0.0012");
  EXPECT_EQ(texts(123456.7, 4321.0), "123457 4321");
  EXPECT_EQ(texts(0.5, 0.0), "0.5000 0.0000");
  EXPECT_EQ(texts(2e-12, 1e-13), "2e-12 1e-13") << "too small for decimals";
  const double nothing = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(analysis::MeanDigits(loss, 12.3456, nothing).text(12.3456), "12.35");
  EXPECT_EQ(analysis::MeanDigits(loss, 12.3456, nothing).text(nothing), "-");
  const Metric share{.name = "test/f1", .meaning = {.name = "f1", .fraction = true}};
  EXPECT_EQ(analysis::MeanDigits(share, 0.5, 0.00001).text(0.00001), "0.00");
}

TEST_F(ComparisonTest, OneSeedSaysNothingOfTheSpread) {
  tell_all("a", {0.4});
  tell_all("b", {0.9});
  const analysis::Pair pair = compare().pairs.at(0);
  EXPECT_EQ(pair.verdict, analysis::Verdict::refused);
  EXPECT_EQ(pair.reason,
            "b has one seed, which says nothing about the spread; train at least three (seeds = [1, 2, 3])")
      << "the better one stands first";
  EXPECT_FALSE(pair.needed);
  EXPECT_FALSE(compare().candidates[0].t);
}

TEST_F(ComparisonTest, TwoSeedsAreTestedWithOneDegreeOfFreedom) {
  tell_all("a", {0.40, 0.42});
  tell_all("b", {0.50, 0.53});
  const analysis::Pair pair = compare().pairs.at(0);
  ASSERT_TRUE(pair.seeds);
  EXPECT_EQ(pair.seeds->freedom, 1.0);
}

TEST_F(ComparisonTest, EqualValuesHaveNoSpreadToTestAgainst) {
  tell_all("a", {0.5, 0.5, 0.5});
  tell_all("b", {0.6, 0.6, 0.6});
  const analysis::Pair pair = compare().pairs.at(0);
  EXPECT_EQ(pair.verdict, analysis::Verdict::refused);
  EXPECT_TRUE(contains(pair.reason, "there is no spread to test against; does the seed change anything?"))
      << pair.reason;
}

TEST_F(ComparisonTest, SeedsThatDifferAlikeInBothNeedMoreOfThem) {
  tell_all("a", {0.5, 0.625});
  tell_all("b", {0.5, 0.625});
  const analysis::Pair pair = compare().pairs.at(0);
  EXPECT_EQ(pair.verdict, analysis::Verdict::refused);
  EXPECT_TRUE(
      contains(pair.reason, "there is no spread to test against; train more seeds, such as --seeds 1-5"))
      << pair.reason;
}

TEST_F(ComparisonTest, RunsWithoutAValueAreShownNotDropped) {
  tell_all("a", low);
  tell({.name = "a",
        .seed = 6,
        .measures = nullptr,
        .state = store::RunState::failed,
        .reason = "the loss is not finite"});
  tell({.name = "a", .seed = 7, .measures = {{"test/f1", nullptr}}});
  tell({.name = "a", .seed = 8, .state = store::RunState::pending});
  tell({.name = "a", .seed = 9, .measures = {{"dev/f1", 0.5}}});
  tell({.name = "b", .seed = 1, .measures = nullptr, .state = store::RunState::stopped});
  const analysis::Comparison comparison = compare();
  const analysis::Candidate& a = comparison.candidates.at(0);
  EXPECT_EQ(a.values, low);
  ASSERT_EQ(a.runs.size(), 9u);
  EXPECT_EQ(a.runs[5].missing, "failed: the loss is not finite");
  EXPECT_EQ(a.runs[6].missing, "its test/f1 is not finite");
  EXPECT_EQ(a.runs[7].missing, "pending");
  EXPECT_EQ(a.runs[8].missing, "has no test/f1");
  EXPECT_EQ(comparison.pairs.at(0).reason, "b has no complete run");
  EXPECT_TRUE(comparison.ranking.empty());
}

TEST_F(ComparisonTest, AMetricOutsideTheResultIsItsLastPoint) {
  tell_all("a", {0.1, 0.2});
  EXPECT_EQ(compare({.metric = {.name = "train/loss"}}).candidates.at(0).values,
            std::vector<double>({0.25, 0.5}));
  const std::string refused = message_of<Error>([&] { compare({.metric = {.name = "test/f2"}}); });
  EXPECT_EQ(refused, "none of these runs has a metric \"test/f2\"; did you mean \"test/f1\"?");
}

TEST_F(ComparisonTest, NumericEnvironmentsArePooledOnlyWhenAsked) {
  tell_all("a", low);
  tell({.name = "a", .seed = 6, .measures = {{"test/f1", 0.46}}, .device = "cpu two"});
  tell({.name = "a", .seed = 1, .measures = {{"test/f1", 0.47}}, .backend = "cuda", .device = "gpu"});
  const analysis::Comparison apart = compare();
  ASSERT_EQ(apart.candidates.size(), 3u);
  EXPECT_EQ(apart.candidates[0].name, "a [device cpu one]");
  EXPECT_EQ(apart.candidates[0].values, low);
  EXPECT_EQ(apart.candidates[1].name, "a [device cpu two]");
  EXPECT_EQ(apart.candidates[1].values, std::vector<double>({0.46}));
  EXPECT_EQ(
      apart.notices.at(0),
      "a: runs from 2 plugin files or numeric environments are kept apart (--pool makes one candidate of "
      "them): device is \"cpu one\" and \"cpu two\"");

  const analysis::Comparison pooled = compare({.pool = true});
  ASSERT_EQ(pooled.candidates.size(), 2u) << "backends are not pooled";
  EXPECT_EQ(pooled.candidates[0].name, "a [openmp]");
  EXPECT_EQ(pooled.candidates[1].name, "a [cuda]");
  ASSERT_EQ(pooled.notices.size(), 2u);
  EXPECT_EQ(pooled.notices[0],
            "a [openmp] pools 2 numeric environments: device is \"cpu one\" and \"cpu two\"");
  EXPECT_TRUE(contains(pooled.notices[1], "were computed in different numeric environments: backend is "));
}

TEST_F(ComparisonTest, PluginFilesAreComparedAndNotPooled) {
  tell_all("a", {0.40, 0.41, 0.42});
  for (std::int64_t seed = 1; seed <= 3; ++seed)
    tell({.name = "a",
          .seed = seed,
          .measures = {{"test/f1", 0.49 + 0.01 * static_cast<double>(seed)}},
          .fresh = true,
          .plugin = "0123456789abcdef"});
  const analysis::Comparison apart = compare();
  ASSERT_EQ(apart.candidates.size(), 2u);
  EXPECT_EQ(apart.candidates[0].name, "a [plugin p 1]");
  EXPECT_EQ(apart.candidates[1].name, "a [plugin p 0123456789ab]");
  EXPECT_EQ(apart.pairs.at(0).shared, 3u) << "repeats of the same seeds";
  EXPECT_TRUE(contains(apart.notices.at(0), "plugin p is another file")) << apart.notices.at(0);
  const analysis::Comparison pooled = compare({.pool = true});
  ASSERT_EQ(pooled.candidates.size(), 1u);
  EXPECT_EQ(pooled.candidates[0].values.size(), 3u) << "one of two repeats counts";
}

TEST_F(ComparisonTest, ARunThatNeverStartedBelongsToTheFirstEnvironment) {
  tell({.name = "a", .seed = 1, .state = store::RunState::pending});
  tell({.name = "a", .seed = 2, .measures = {{"test/f1", 0.4}}});
  tell({.name = "a", .seed = 3, .measures = {{"test/f1", 0.5}}, .device = "cpu two"});
  const analysis::Comparison comparison = compare();
  ASSERT_EQ(comparison.candidates.size(), 2u);
  EXPECT_EQ(comparison.candidates[0].runs.size(), 2u);
}

TEST_F(ComparisonTest, SeveralDifferencesMakeNumberedEnvironments) {
  tell({.name = "a", .seed = 1});
  tell({.name = "a", .seed = 2, .device = "cpu two", .plugin = "2"});
  const analysis::Comparison comparison = compare();
  EXPECT_EQ(comparison.candidates.at(0).name, "a [environment 1]");
  EXPECT_EQ(comparison.candidates.at(1).name, "a [environment 2]");
  EXPECT_TRUE(contains(comparison.notices.at(0), "device is ") &&
              contains(comparison.notices.at(0), "plugin p is another file"))
      << comparison.notices.at(0);
}

TEST_F(ComparisonTest, RunsWithTheNamesOfEarlierVersionsAreOneCandidate) {
  tell({.name = "a-seed=1", .seed = 1});
  const store::RunRow run = store().find_run("a-seed=1-s1");
  store().database().execute("UPDATE run SET name = 'a-seed=1' WHERE id = '" + run.id + "'");
  EXPECT_EQ(compare().candidates.at(0).name, "a");
}

TEST_F(ComparisonTest, ARepeatDoesNotCountAsAnotherSeed) {
  tell_all("a", {0.1, 0.2});
  tell({.name = "a", .seed = 2, .measures = {{"test/f1", 0.3}}, .fresh = true});
  const analysis::Comparison comparison = compare();
  EXPECT_EQ(comparison.candidates.at(0).values, std::vector<double>({0.1, 0.3})) << "the newest counts";
  ASSERT_EQ(comparison.notices.size(), 1u);
  EXPECT_TRUE(contains(comparison.notices[0], "are repeats of one run")) << comparison.notices[0];
}

TEST_F(ComparisonTest, AnotherTestSetIsRefused) {
  tell_all("a", low);
  for (std::int64_t seed = 1; seed <= 5; ++seed)
    tell({.name = "b",
          .seed = seed,
          .measures = {{"test/f1", high[static_cast<std::size_t>(seed - 1)]}},
          .test_set = std::string(64, 'e')});
  const analysis::Pair pair = compare().pairs.at(0);
  EXPECT_EQ(pair.verdict, analysis::Verdict::refused);
  EXPECT_EQ(pair.reason, "they were not scored on the same test set");
  EXPECT_FALSE(pair.needed);
}

TEST_F(ComparisonTest, HolmCountsEveryPair) {
  tell_all("a", low);
  tell_all("b", high);
  tell_all("c", {0.4620, 0.4590, 0.4501, 0.4640, 0.4555});
  const analysis::Comparison comparison = compare();
  ASSERT_EQ(comparison.pairs.size(), 3u);
  std::vector<double> p_values;
  for (const analysis::Pair& pair : comparison.pairs) p_values.push_back(pair.seeds->p);
  const std::vector<double> corrected = analysis::holm(p_values);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(comparison.pairs[i].corrected, corrected[i]);
  EXPECT_TRUE(comparison.ranking.empty()) << "a and c are not distinguished, so nothing is ranked";
}

TEST_F(ComparisonTest, ExamplesAreTestedWherePredictionsAreStored) {
  const std::string right = R"({"truth": ["B-PER"], "predicted": ["B-PER"]})"
                            "\n";
  const std::string wrong = R"({"truth": ["B-PER"], "predicted": ["O"]})"
                            "\n";
  std::string good, bad;
  for (int i = 0; i < 40; ++i) {
    good += right;
    bad += i < 12 ? wrong : right;
  }
  for (std::int64_t seed = 1; seed <= 2; ++seed) {
    tell({.name = "a", .seed = seed, .predictions = good});
    tell({.name = "b", .seed = seed, .predictions = bad});
  }
  const analysis::Pair pair = compare().pairs.at(0);
  ASSERT_TRUE(pair.examples) << pair.no_examples;
  EXPECT_EQ(pair.examples->examples, 40u);
  EXPECT_LT(pair.examples->p, 0.002);
  EXPECT_EQ(pair.verdict, analysis::Verdict::refused) << "examples do not replace seeds";
  EXPECT_TRUE(contains(compare({.metric = {.name = "train/loss"}}).pairs.at(0).no_examples,
                       "train/loss does not follow from the statistics of single examples"));

  const store::RunRow run = store().find_run("b-s2");
  write_bytes(store().run_folder(run.id) / "predictions/test.jsonl", good);
  EXPECT_TRUE(contains(compare().pairs.at(0).no_examples, "test.jsonl is not the file that was recorded"));
  std::filesystem::remove(store().run_folder(run.id) / "predictions/test.jsonl");
  EXPECT_TRUE(contains(compare().pairs.at(0).no_examples, "test.jsonl is gone"));
}

TEST_F(ComparisonTest, ExamplesAreTestedByAnyMeasureThatFollowsFromThem) {
  const std::vector<Measure> measures = {{.name = "perplexity",
                                          .better = Better::lower,
                                          .reducer = Reducer::exponential,
                                          .columns = {"loss", "tokens"}},
                                         {.name = "bleu"}};
  std::string good, bad;
  for (int i = 0; i < 40; ++i) {
    good += "{\"predicted\": \"x\", \"statistics\": {\"loss\": 1, \"tokens\": 2}}\n";
    bad += "{\"predicted\": \"x\", \"statistics\": {\"loss\": " + std::string(i < 12 ? "3" : "1") +
           ", \"tokens\": 2}}\n";
  }
  for (const std::string name : {"a", "b"})
    tell({.name = name,
          .measures = {{"test/perplexity", 1.5}, {"test/bleu", 31.0}},
          .predictions = name == "a" ? good : bad,
          .select = "min dev/perplexity",
          .defined = measures});
  const analysis::Comparison comparison = compare();
  EXPECT_EQ(comparison.options.metric.name, "test/perplexity")
      << "the metric that chooses checkpoints, on test";
  ASSERT_TRUE(comparison.pairs.at(0).examples) << comparison.pairs.at(0).no_examples;
  EXPECT_LT(comparison.pairs.at(0).examples->p, 0.002);
  EXPECT_NEAR(comparison.pairs.at(0).examples->difference, std::exp(0.5) - std::exp(0.8), 1e-12);
  EXPECT_EQ(compare({.metric = {.name = "test/bleu"}}).pairs.at(0).no_examples,
            "test/bleu does not follow from the statistics of single examples; test/perplexity does");
}

TEST_F(ComparisonTest, ByRunEachRunStandsForItself) {
  tell_all("a", {0.1, 0.2});
  const analysis::Comparison comparison = compare({.by_run = true});
  ASSERT_EQ(comparison.candidates.size(), 2u);
  EXPECT_EQ(comparison.candidates[1].name, "a-s2");
  EXPECT_EQ(comparison.pairs.at(0).verdict, analysis::Verdict::refused);
}

}  // namespace
}  // namespace encore::testing
