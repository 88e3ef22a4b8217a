// SPDX-License-Identifier: BSD-3-Clause
// Tests the section of a report about a search (report/searches.cpp and what it calls): cost, the scores of
// fresh seeds, the budget beside random search, importance of variables, and pictures. Numbers must equal
// values that follow from the scores below; words may change.
#include "plan/search/search.hpp"
#include "store/searches.hpp"
#include "unit/report/report_fixture.hpp"

namespace encore::report {
namespace {

using plan::search::DecisionKind;
using plan::search::Observation;
using plan::search::Outcome;
using testing::contains;

class SearchesReportTest : public testing::ReportTest {
 protected:
  store::SearchRow row_;
  store::SearchRecord record_;

  void begin(const std::string& method, const std::string& pruning = "none") {
    plan::RandomVariable rate, kind;
    rate.key = "optimizer.learning_rate";
    rate.law = plan::RandomVariable::Law::log_uniform;
    rate.low = 1e-4;
    rate.high = 1e-1;
    kind.key = "model.kind";
    kind.law = plan::RandomVariable::Law::choice;
    kind.values = {{std::string("plain"), {}}, {std::string("gated"), {}}};
    plan::search::SearchOptions options;
    options.method = method == "tpe" ? plan::search::Method::tpe : plan::search::Method::random;
    options.pruning = pruning == "asha" ? plan::search::Pruning::asha : plan::search::Pruning::none;
    options.startup = 5;
    options.objectives = {{"dev/f1", true}};
    options.epochs = 9;
    row_ = store::SearchRow{};
    record_ = store::SearchRecord{};
    row_.name = "find-" + method;
    row_.identity = method + pruning;
    row_.backend = "openmp";
    row_.settings = plan::search::settings_json(options);
    row_.space = plan::search::space_json({rate, kind});
    row_.sweep = store().add_sweep("find", "find.toml", "");
    store::add_search(store(), row_);
  }

  void decide(const plan::search::Decision& decision, const plan::search::Trial& trial,
              const store::TrialRow& row) {
    store::add_decision(store(), row_.number, record_, decision, trial, row);
    record_.history.decisions.push_back(decision);
  }
  void observe(Observation observation) {
    observation.seconds = 2.0;
    store::add_observation(store(), row_.number, record_, observation, "");
    record_.history.observations.push_back(std::move(observation));
  }
  std::int64_t run(std::size_t trial, std::int64_t seed, double dev, double test = 0.5,
                   store::RunState state = store::RunState::completed) {
    testing::Told told{.name = "find-" + std::to_string(trial) + row_.identity, .seed = seed};
    told.measures = {{"dev/f1", dev}, {"test/f1", test}};
    if (state != store::RunState::completed) told.measures = nullptr;
    told.state = state;
    return tell(told).number;
  }
  /// Adds a trial with one run, which is trained to its end, or fails if `value` is NaN.
  void trial(double rate, double kind, double value, Outcome outcome = Outcome::complete,
             std::int64_t epochs = 9) {
    const std::size_t number = record_.trials.size();
    const store::TrialRow row{.problem = {}, .runs = {run(number, 1, value)}};
    decide({.kind = DecisionKind::propose,
            .trial = number,
            .epochs = epochs,
            .observations = record_.history.observations.size(),
            .point = {rate, kind}},
           {{rate, kind}, {true, true}}, row);
    record_.trials.push_back(row);
    Observation one{.trial = number, .epochs = epochs, .outcome = outcome};
    if (outcome != Outcome::failed) one.values = {value};
    observe(std::move(one));
  }
  void confirm(std::size_t number, const std::vector<double>& fresh) {
    store::TrialRow row;
    double sum = 0.0;
    for (std::size_t i = 0; i < fresh.size(); ++i) {
      row.confirmations.push_back(run(number, static_cast<std::int64_t>(i) + 2, fresh[i], fresh[i] - 0.1));
      sum += fresh[i];
    }
    decide({.kind = DecisionKind::confirm,
            .trial = number,
            .epochs = 9,
            .observations = record_.history.observations.size(),
            .limits = {.confirm = 1, .confirm_seeds = static_cast<std::int64_t>(fresh.size())}},
           {}, row);
    observe({.trial = number,
             .epochs = 9,
             .outcome = Outcome::confirmed,
             .values = {sum / static_cast<double>(fresh.size())}});
  }
  /// Adds twelve trials whose score follows from the rate alone; one of them failed.
  void twelve() {
    for (int i = 0; i < 12; ++i)
      trial(1e-4 * std::pow(10.0, 0.25 * i), i % 2, 0.3 + 0.04 * ((i * 5) % 12),
            i == 7 ? Outcome::failed : Outcome::complete);
  }
};

TEST_F(SearchesReportTest, ReportsItsCostAndTheBestTrials) {
  begin("random");
  twelve();
  const document::Document document = report();
  const document::TableBlock& costs = table(document, "search-costs");
  EXPECT_EQ(cell(costs, "find-random", "trials").number, 12.0);
  EXPECT_EQ(cell(costs, "find-random", "failed").number, 1.0);
  EXPECT_EQ(cell(costs, "find-random", "searching").number, 24.0) << "the failed one too";
  EXPECT_EQ(cell(costs, "find-random", "confirming").number, 0.0);
  const document::TableBlock& best = table(document, "best-trials-search-1");
  EXPECT_EQ(best.rows.front()[3].number, 70.0) << "the one that failed would have been better";
  EXPECT_EQ(best.rows.front()[3].text.plain(), "70.00");
  EXPECT_EQ(best.rows.size(), 10u);
  EXPECT_EQ(table(report({.most_rows = 0}), "best-trials-search-1").rows.size(), 11u) << "for programs all";
  EXPECT_TRUE(contains(text_of(document), "confirm = 3 in [search] trains the best three again"));
  EXPECT_EQ(find_table(document, "confirmed-search-1"), nullptr);
}

TEST_F(SearchesReportTest, NamesTrialsWhoseMeasureIsUndefined) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  begin("random");
  trial(1e-3, 0, nan);
  trial(1e-2, 0, 0.2);
  trial(1e-2, 1, nan);
  const document::Document some = report();
  EXPECT_EQ(table(some, "best-trials-search-1").rows.front()[0].text.plain(), "2");
  EXPECT_TRUE(contains(text_of(some),
                       "dev/f1 is undefined in trials 1 and 3: ranked behind every trial with a value."))
      << text_of(some);
  begin("tpe");
  trial(1e-3, 0, nan);
  EXPECT_TRUE(contains(text_of(report()), "dev/f1 is undefined in every trial, so none is the best one"));
}

TEST_F(SearchesReportTest, SetsFreshSeedsBesideTheScoreOfTheChoice) {
  begin("random");
  twelve();
  confirm(11, {0.60, 0.62, 0.64});
  confirm(2, {0.70, 0.71, 0.72});
  const document::Document document = report();
  const document::TableBlock& confirmed = table(document, "confirmed-search-1");
  ASSERT_EQ(confirmed.rows.size(), 2u);
  EXPECT_EQ(confirmed.rows[0][0].text.plain(), "3") << "the best fresh mean first, not the best selected";
  EXPECT_NEAR(*cell(confirmed, "3", "fresh mean").number, 71.0, 1e-9);
  // t(2) = 4.302653 times 1 / sqrt(3)
  EXPECT_NEAR(*cell(confirmed, "3", "from").number, 71.0 - 4.302652729911275 / std::sqrt(3.0), 1e-6);
  EXPECT_NEAR(*cell(confirmed, "3", "to").number, 71.0 + 4.302652729911275 / std::sqrt(3.0), 1e-6);
  EXPECT_NEAR(*cell(confirmed, "3", "fresh less selected").number, 1.0, 1e-9);
  EXPECT_NEAR(*cell(confirmed, "3", "test/f1, fresh mean").number, 61.0, 1e-9);
  EXPECT_NE(figure(document, "figure-confirmed-search-1"), nullptr);
  EXPECT_TRUE(contains(text_of(document), "the winner's curse"));
  EXPECT_TRUE(contains(text_of(document),
                       "Trial 3 has the best mean over fresh seeds, 71.00 % (95 %: 68.52 to 73.48)"))
      << text_of(document);
  EXPECT_EQ(cell(table(document, "search-costs"), "find-random", "confirming").number, 4.0);
}

TEST_F(SearchesReportTest, DrawsTheBestSoFarBesideRandomSearch) {
  begin("random");
  twelve();
  const document::Document document = report();
  const auto& chart = std::get<document::LineChart>(figure(document, "figure-budget-search-1")->chart);
  ASSERT_EQ(chart.series.size(), 2u);
  EXPECT_EQ(chart.series[0].x.back(), 12.0) << "the failed training was paid for";
  EXPECT_NEAR(chart.series[0].y.back(), 70.0, 1e-9);
  // Eleven scores and a failed one, which counts as the worst: the mean of twelve.
  const document::TableBlock& draws = table(document, "random-best-search-1");
  double sum = 0.3;
  for (int i = 0; i < 12; ++i) sum += i == 7 ? 0.0 : 0.3 + 0.04 * ((i * 5) % 12);
  EXPECT_NEAR(*draws.rows.front()[1].number, 100.0 * sum / 12.0, 1e-9);
  EXPECT_LT(*draws.rows.front()[2].number, *draws.rows.front()[1].number);
  EXPECT_GT(*draws.rows.front()[3].number, *draws.rows.front()[1].number);
  EXPECT_TRUE(contains(text_of(document), "from the 12 random trials of find-random"));
  EXPECT_EQ(find_table(document, "expected-best-test-f1"), nullptr)
      << "points that a search chose are not random draws";
}

TEST_F(SearchesReportTest, OfTpeOnlyItsFirstTrialsAreRandomDraws) {
  begin("tpe");
  twelve();
  const document::Document document = report();
  EXPECT_TRUE(
      contains(text_of(document), "from the 5 random trials of find-tpe, including the first ones of tpe"))
      << text_of(document);
  EXPECT_EQ(table(document, "random-best-search-1").rows.back()[0].number, 5.0);
  // Random search of the same space in the same report: its draws are more.
  begin("random");
  twelve();
  const document::Document both = report();
  EXPECT_EQ(table(both, "random-best-search-1").rows.back()[0].number, 17.0);
  EXPECT_EQ(table(both, "random-best-search-2").rows.back()[0].number, 17.0);
}

TEST_F(SearchesReportTest, PrunedDrawsMakeNoBaseline) {
  begin("random", "asha");
  for (int i = 0; i < 12; ++i)
    trial(1e-4 * std::pow(10.0, 0.25 * i), 0, 0.3 + 0.01 * i, i < 9 ? Outcome::measured : Outcome::complete,
          i < 9 ? 1 : 9);
  const document::Document document = report();
  EXPECT_EQ(find_table(document, "random-best-search-1"), nullptr);
  EXPECT_TRUE(contains(text_of(document), "The final scores of pruned random draws are unknown"));
  const document::TableBlock& budget = table(document, "budget-search-1");
  EXPECT_NEAR(*budget.rows.back()[0].number, 9.0 / 9.0 + 3.0, 1e-12)
      << "nine ninths, and three whole trainings";
}

TEST_F(SearchesReportTest, HasImportanceSlicesMapsAndParallelCoordinatesWithTheirNumbers) {
  begin("random");
  for (int i = 0; i < 24; ++i) trial(1e-4 * std::pow(10.0, 0.125 * i), i % 2, 0.3 + 0.02 * i);
  const document::Document document = report();
  const document::TableBlock& importance = table(document, "importance-search-1");
  EXPECT_GT(*cell(importance, "learning_rate", "explained").number, 90.0);
  EXPECT_LT(*cell(importance, "kind", "explained").number, 5.0);
  EXPECT_NE(figure(document, "slice-2-search-1"), nullptr);
  const auto& map = std::get<document::HeatMapChart>(figure(document, "map-1-search-1")->chart);
  EXPECT_EQ(map.panels.front().values.size(), map.rows.size() * map.columns.size());
  EXPECT_EQ(map.panels.front().marks.size(), 24u);
  EXPECT_EQ(std::ranges::count(map.panels.front().marks, true, &document::HeatMapChart::Mark::strong), 1);
  const auto& lines = std::get<document::ParallelChart>(figure(document, "parallel-search-1")->chart);
  EXPECT_EQ(lines.lines.size(), 24u);
  EXPECT_EQ(lines.dimensions.size(), 3u);
  const nlohmann::json json = nlohmann::json::parse(text_of(document));
  EXPECT_TRUE(contains(json.dump(), "\"kind\":\"heat_map\""));
  EXPECT_EQ(figure(document, "figure-importance-test-f1"), nullptr) << "not again by runs";
}

TEST_F(SearchesReportTest, IsASectionByNameAndShortInTheBriefForm) {
  begin("random");
  twelve();
  confirm(11, {0.60, 0.62});
  const document::Document only = report({.sections = {"searches"}});
  ASSERT_EQ(only.sections.size(), 1u);
  EXPECT_EQ(only.sections.front().id, "searches");
  EXPECT_EQ(find_table(report({.without = {"searches"}}), "search-costs"), nullptr);
  const document::Document brief = report({.brief = true});
  EXPECT_NE(find_table(brief, "confirmed-search-1"), nullptr);
  EXPECT_EQ(figure(brief, "figure-confirmed-search-1"), nullptr);
  EXPECT_EQ(find_table(brief, "importance-search-1"), nullptr);
}

TEST_F(SearchesReportTest, WithoutASearchThereIsNoSection) {
  tell_all("plain", {0.5, 0.6, 0.7});
  for (const document::Section& section : report().sections) EXPECT_NE(section.id, "searches");
}

}  // namespace
}  // namespace encore::report
