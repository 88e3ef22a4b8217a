// SPDX-License-Identifier: BSD-3-Clause
// Tests the names of candidates, differences and pictures in a report (make_report(), report/report.hpp, with
// report/candidate_key.hpp): a candidate is named by what it differs in, and every picture has a text that
// describes it. The words may change; two different candidates must never have one name.
#include <algorithm>

#include "unit/report/report_fixture.hpp"

namespace encore::testing {
namespace {

/// Returns the column of names in the key, the table that introduces the candidates.
std::vector<std::string> names_in(const document::TableBlock& key) {
  std::vector<std::string> names;
  for (const auto& row : key.rows)
    for (std::size_t i = 0; i < row.size(); ++i)
      if (key.columns[i].name == "name") names.push_back(row[i].text.plain());
  std::sort(names.begin(), names.end());
  return names;
}

TEST_F(ReportTest, CandidatesAreNamedByWhatTheyDifferIn) {
  tell_all("net-dropout=0.1-rate=1e-05-warmup=20", {0.5, 0.6});
  tell_all("net-dropout=0.1-rate=2e-05-warmup=20", {0.4, 0.5});
  const document::Document document = report();
  EXPECT_EQ(names_in(table(document, "answer-test-f1")),
            (std::vector<std::string>{"rate=1e-05", "rate=2e-05"}))
      << "a number is not cut at its minus";
  EXPECT_EQ(table(document, "answer-test-f1").notes.at(0).plain(),
            "Left out of names, here and below: net-dropout=0.1- in front and -warmup=20 behind.");
  // The abstract uses the same name.
  EXPECT_TRUE(contains(text_of(document), "A (rate=1e-05) has the highest mean of 2 candidates"));
  const auto& chart = std::get<document::ScatterChart>(figure(document, "figure-test-f1")->chart);
  EXPECT_EQ(chart.categories, (std::vector<std::string>{"A: rate=1e-05", "B: rate=2e-05"}));
}

TEST_F(ReportTest, NamesWhoseRestWouldBeANumberOrNothingStayWhole) {
  tell_all("net-1", {0.5, 0.6});
  tell_all("net-2", {0.4, 0.5});
  EXPECT_EQ(names_in(table(report(), "answer-test-f1")), (std::vector<std::string>{"net-1", "net-2"}));
  tell_all("net", {0.4, 0.5});
  EXPECT_EQ(names_in(table(report(), "answer-test-f1")), (std::vector<std::string>{"net", "net-1", "net-2"}));
  EXPECT_FALSE(contains(text_of(report()), "Left out of names"));
}

TEST_F(ReportTest, FailedRunsDoNotLengthenNamesAndKeepTheirOwn) {
  tell_all("net-rate=1", {0.5, 0.6});
  tell_all("net-rate=2", {0.4, 0.5});
  tell({.name = "other", .measures = nullptr, .state = store::RunState::failed, .reason = "why"});
  EXPECT_EQ(names_in(table(report(), "answer-test-f1")),
            (std::vector<std::string>{"other", "rate=1", "rate=2"}));
  tell({.name = "rate=1", .measures = nullptr, .state = store::RunState::failed, .reason = "why"});
  EXPECT_EQ(names_in(table(report(), "answer-test-f1")),
            (std::vector<std::string>{"net-rate=1", "net-rate=2", "other", "rate=1"}))
      << "two candidates never have one name";
}

TEST_F(ReportTest, DifferencesOfPercentagesArePoints) {
  tell_all("a", {0.5, 0.6, 0.55});
  tell_all("b", {0.4, 0.45, 0.5});
  const document::TableBlock pairs = table(report(), "pairs-test-f1");
  EXPECT_EQ(pairs.columns.at(2).unit, "points");
  EXPECT_EQ(table(report(), "results-test-f1").columns.at(3).unit, "%");
}

TEST_F(ReportTest, ACurveThatWouldFlattenTheOthersGetsALogarithmicAxis) {
  tell({.name = "a"});
  const auto scale = [&] {
    return std::get<document::LineChart>(figure(report(), "curve-train-loss")->chart).y.scale;
  };
  EXPECT_EQ(scale(), document::Axis::Scale::linear);
  const store::RunRow wild = tell({.name = "b"});
  store().database().execute("UPDATE point SET value = 1e9 WHERE run = " + std::to_string(wild.number));
  EXPECT_EQ(scale(), document::Axis::Scale::logarithmic);
}

TEST_F(ReportTest, AlternativeTextsDescribeThePictures) {
  for (const double dropout : {0.1, 0.3})
    for (std::int64_t seed = 1; seed <= 2; ++seed)
      tell({.name = dropout < 0.2 ? "low" : "high",
            .seed = seed,
            .measures = {{"test/f1", dropout + 0.01 * static_cast<double>(seed)}},
            .dropout = dropout});
  const document::Document document = report();
  EXPECT_EQ(figure(document, "parallel-test-f1")->alternative,
            "Parallel coordinates of 4 runs over 1 parameter. The highest score, 32.00 %, has dropout 0.3.");
  EXPECT_TRUE(contains(figure(document, "timeline")->alternative, ": 4 completed."));
  EXPECT_TRUE(contains(figure(document, "curve-train-loss")->alternative, "A: 0.3 ends at 0.375. "));
}

}  // namespace
}  // namespace encore::testing
