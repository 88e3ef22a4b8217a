// SPDX-License-Identifier: BSD-3-Clause
// Tests the content of a report (make_report(), report/report.hpp): its numbers must equal an independent
// computation by scipy (unit/analysis/scipy_numbers.hpp), no run may be left out, and no claim may lack a
// test. report_whole_test.cpp tests a report as a whole, report_parts_test.cpp its parts. Words and the look
// of tables may change.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>

#include "document/writers.hpp"
#include "support/places.hpp"
#include "unit/analysis/scipy_numbers.hpp"
#include "unit/report/report_fixture.hpp"

namespace encore::testing {
namespace {

TEST_F(ReportTest, TablesHoldTheNumbersOfAnIndependentComputation) {
  for (const auto& [name, values] : analysis::scipy()["report"]["values"].items()) tell_all(name, values);
  const document::Document document = report();
  const document::TableBlock& results = table(document, "results-test-f1");
  ASSERT_EQ(results.rows.size(), analysis::scipy()["report"]["candidates"].size());
  for (const nlohmann::json& wanted : analysis::scipy()["report"]["candidates"]) {
    const std::string name = wanted["name"];
    const auto expect = [&](const std::string& column, const nlohmann::json& value) {
      const document::TableCell found = cell(results, letter(document, name), column);
      ASSERT_TRUE(found.number) << name << ' ' << column;
      EXPECT_NEAR(*found.number, value.get<double>(), 1e-9) << name << ' ' << column;
    };
    expect("n", wanted["n"]);
    expect("mean", wanted["mean"]);
    if (wanted["n"] == 1) {
      for (const char* column : {"SD", "t low", "t high", "bootstrap low", "bootstrap high"})
        EXPECT_TRUE(cell(results, letter(document, name), column).text.empty())
            << "no interval with n = 1: " << column;
      continue;
    }
    expect("SD", wanted["deviation"]);
    expect("t low", wanted["t"][0]);
    expect("t high", wanted["t"][1]);
    expect("bootstrap low", wanted["bootstrap"][0]);
    expect("bootstrap high", wanted["bootstrap"][1]);
  }
  const document::TableBlock& pairs = table(document, "pairs-test-f1");
  EXPECT_EQ(pairs.rows.size(), 6u);
  std::size_t compared = 0;
  for (const auto& row : pairs.rows)
    for (const nlohmann::json& wanted : analysis::scipy()["report"]["pairs"]) {
      const std::string first = row[0].text.plain(), second = row[1].text.plain(),
                        a = letter(document, wanted["a"]), b = letter(document, wanted["b"]);
      const double sign = first == a && second == b ? 1.0 : first == b && second == a ? -1.0 : 0.0;
      if (sign == 0.0) continue;
      ++compared;
      EXPECT_NEAR(row[2].number.value(), sign * wanted["difference"].get<double>(), 1e-9);
      EXPECT_NEAR(row[sign > 0 ? 3 : 4].number.value(), sign * wanted["low"].get<double>(), 1e-9);
      EXPECT_NEAR(row[sign > 0 ? 4 : 3].number.value(), sign * wanted["high"].get<double>(), 1e-9);
      EXPECT_NEAR(row[9].number.value(), wanted["p"].get<double>(), 1e-10);
      EXPECT_NEAR(row[5].number.value(), wanted["corrected"].get<double>(), 1e-10);
    }
  EXPECT_EQ(compared, 3u);
}

TEST_F(ReportTest, TheTextOfTheHtmlShowsTheSameNumbers) {
  if (std::system("command -v python3 > /dev/null") != 0) GTEST_SKIP() << "python3 is not installed";
  for (const auto& [name, values] : analysis::scipy()["report"]["values"].items()) tell_all(name, values);
  const std::string file = store().path().string() + ".html";
  std::ofstream(file) << document::html_files(report(), document::Templates(ENCORE_SOURCE_DIR "/reports"),
                                              "r.html")
                             .front()
                             .bytes;
  const std::string folder = ENCORE_SOURCE_DIR "/tests/unit/";
  const std::string command =
      "python3 " + folder + "report/check_numbers.py " + folder + "analysis/statistics.json " + file + " >&2";
  EXPECT_EQ(std::system(command.c_str()), 0);
}

TEST_F(ReportTest, OnlyACandidateThatBeatsEveryOtherIsMarkedBest) {
  tell_all("a", {0.45, 0.46, 0.44, 0.455, 0.452});
  tell_all("b", {0.55, 0.56, 0.54, 0.557, 0.551});
  EXPECT_TRUE(cell(table(report(), "answer-test-f1"), "b", "mean").best);
  EXPECT_TRUE(cell(table(report(), "results-test-f1"), "A", "mean").best);
  EXPECT_FALSE(cell(table(report(), "answer-test-f1"), "a", "mean").best);
  EXPECT_EQ(cell(table(report(), "answer-test-f1"), "b", "verdict").text.plain(), "best: highest");
  EXPECT_EQ(cell(table(report(), "answer-test-f1"), "a", "verdict").text.plain(), "lower");
  EXPECT_TRUE(contains(text_of(report()), "A (b) is highest of 2 candidates"));
  tell_all("c", {0.552, 0.558, 0.543, 0.554, 0.553});
  EXPECT_FALSE(cell(table(report(), "answer-test-f1"), "b", "mean").best) << "b and c are not distinguished";
  EXPECT_TRUE(contains(text_of(report()), "no candidate is called best"));
}

TEST_F(ReportTest, OfALossTheLowestIsBest) {
  const auto tell_losses = [&](const std::string& name, double loss) {
    for (std::int64_t seed = 1; seed <= 4; ++seed)
      tell({.name = name,
            .seed = seed,
            .measures = {{"test/loss", loss + 0.001 * static_cast<double>(seed * seed)}}});
  };
  tell_losses("a", 0.2);
  tell_losses("b", 0.3);
  tell({.name = "b", .seed = 9, .measures = {{"test/loss", 0.37}}});
  tell({.name = "a", .seed = 9, .measures = {{"test/loss", 0.21}}});
  const document::Document document = report({.metric = "test/loss"});
  const document::TableBlock& results = table(document, "results-test-loss");
  EXPECT_EQ(letter(document, "a", "test-loss"), results.rows.at(0).at(0).text.plain());
  EXPECT_TRUE(results.rows.at(0).at(3).best);
  EXPECT_EQ(results.columns[3].unit, "") << "a loss is not a percentage";
  EXPECT_NEAR(results.rows.at(0).at(3).number.value(), (0.201 + 0.204 + 0.209 + 0.216 + 0.21) / 5, 1e-12);
}

TEST_F(ReportTest, EveryTrialIsCountedAndTrialsWithoutAValueAreShown) {
  tell_all("a", {0.5, 0.6});
  tell({.name = "a",
        .seed = 3,
        .measures = nullptr,
        .state = store::RunState::failed,
        .reason = "the loss is not finite"});
  tell({.name = "a", .seed = 4, .measures = {{"test/f1", nullptr}}});
  tell({.name = "b", .seed = 1, .measures = nullptr, .state = store::RunState::stopped, .reason = "pruned"});
  tell({.name = "b", .seed = 2, .measures = nullptr, .state = store::RunState::lost});
  tell({.name = "b", .seed = 3, .state = store::RunState::pending});
  const document::Document document = report();
  const document::TableBlock& trials = table(document, "trials");
  EXPECT_EQ(cell(trials, "completed", "runs").number, 3.0);
  EXPECT_EQ(cell(trials, "failed", "runs").number, 1.0);
  EXPECT_EQ(cell(trials, "stopped", "runs").number, 1.0);
  EXPECT_EQ(cell(trials, "lost", "runs").number, 1.0);
  EXPECT_EQ(cell(trials, "pending", "runs").number, 1.0);
  EXPECT_EQ(cell(trials, "all", "runs").number, 7.0);
  const document::TableBlock& unfinished = table(document, "unfinished");
  EXPECT_EQ(unfinished.rows.size(), 4u);
  EXPECT_EQ(cell(unfinished, "a-s3", "reason").text.plain(), "the loss is not finite");
  EXPECT_EQ(cell(unfinished, "b-s1", "reason").text.plain(), "pruned");
  const document::TableBlock& results = table(document, "results-test-f1");
  EXPECT_EQ(cell(results, letter(document, "a"), "runs").number, 4.0);
  EXPECT_EQ(cell(results, letter(document, "a"), "n").number, 2.0);
  EXPECT_TRUE(cell(results, letter(document, "b"), "mean").text.empty());
  EXPECT_EQ(cell(table(document, "answer-test-f1"), "a", "n").text.plain(), "2 of 4");
  const std::string text = text_of(document);
  EXPECT_TRUE(contains(text, "a-s3 has no value: failed: the loss is not finite"));
  EXPECT_TRUE(contains(text, "a-s4 has no value: its test/f1 is not finite"));
  EXPECT_EQ(cell(table(report({.most_rows = 0}), "runs"), "a-s4", "test/f1").text.plain(), "not finite");
  EXPECT_EQ(document.facts.front().second, "3 of 7 complete");
}

TEST_F(ReportTest, WithOneRunThereIsNoIntervalNoTestAndNoBand) {
  tell({.name = "a"});
  const document::Document document = report({.runs = {.words = {"a-s1"}}});
  EXPECT_EQ(document.title, "Report of run a-s1");
  EXPECT_TRUE(contains(text_of(document), "(n = 1, which says nothing about the spread)"));
  EXPECT_EQ(find_table(document, "pairs-test-f1"), nullptr);
  const document::Figure* loss = figure(document, "curve-train-loss");
  ASSERT_NE(loss, nullptr);
  EXPECT_TRUE(std::get<document::LineChart>(loss->chart).series.at(0).low.empty());
  EXPECT_EQ(figure(document, "figure-test-f1"), nullptr) << "one value needs no picture";
  EXPECT_EQ(table(document, "answer-test-f1").columns.size(), 5u) << "no columns of tests";
}

TEST_F(ReportTest, CurvesAreMeansOverSeedsWithTheirRange) {
  tell_all("a", {0.5, 0.6, 0.7});  // train/loss at step 1 is a quarter of the seed
  const document::Document document = report();
  const document::Figure* loss = figure(document, "curve-train-loss");
  ASSERT_NE(loss, nullptr);
  const document::Series& series = std::get<document::LineChart>(loss->chart).series.at(0);
  ASSERT_EQ(series.x, std::vector<double>({1.0}));
  EXPECT_DOUBLE_EQ(series.y.at(0), 0.5);
  EXPECT_DOUBLE_EQ(series.low.at(0), 0.25);
  EXPECT_DOUBLE_EQ(series.high.at(0), 0.75);
}

TEST_F(ReportTest, AValueThatIsNotFiniteStaysInTheCurve) {
  const store::RunRow run = tell({.name = "a"});
  store().database().execute(
      "INSERT INTO point (run, metric, step, attempt, value, special) SELECT run, metric, 2, attempt, NULL, "
      "'nan' FROM point");
  store().database().execute(
      "INSERT INTO point (run, metric, step, attempt, value, special) SELECT run, metric, 3, attempt, 0.125, "
      "NULL FROM point WHERE step = 1");
  const document::Document document = report({.runs = {.words = {run.name}}});
  const document::Series& series =
      std::get<document::LineChart>(figure(document, "curve-train-loss")->chart).series.at(0);
  ASSERT_EQ(series.y.size(), 3u);
  EXPECT_TRUE(std::isnan(series.y[1]));
  EXPECT_EQ(series.y[2], 0.125);
  EXPECT_TRUE(contains(text_of(document), "\"nan\""));
}

TEST_F(ReportTest, EnvironmentsArePooledOnlyWhenAsked) {
  tell_all("a", {0.5, 0.6});
  tell({.name = "a", .seed = 3, .measures = {{"test/f1", 0.55}}, .device = "cpu two"});
  EXPECT_TRUE(
      contains(text_of(report()), "a: runs from 2 plugin files or numeric environments are kept apart"));
  EXPECT_TRUE(contains(text_of(report({.pool = true})), "a pools 2 numeric environments: device is"));
  // Facts that all hosts share are listed once, in a table of their own.
  EXPECT_EQ(table(report(), "numeric-environments").columns.size(), 3u);
  EXPECT_EQ(cell(table(report(), "numeric-environments"), "device", "numeric environment 2").text.plain(),
            "cpu two");
  EXPECT_EQ(cell(table(report(), "numeric-environments-common"), "backend", "value").text.plain(), "openmp");
  EXPECT_EQ(find_table(report(), "hosts-common"), nullptr) << "one host shares nothing";
}

TEST_F(ReportTest, RunsOnDifferentTestSetsAreNotCompared) {
  tell_all("a", {0.5, 0.6});
  for (std::int64_t seed = 1; seed <= 2; ++seed)
    tell({.name = "b", .seed = seed, .measures = {{"test/f1", 0.9}}, .test_set = std::string(64, 'e')});
  const document::Document document = report();
  EXPECT_EQ(table(document, "results-test-f1").rows.size(), 1u);
  EXPECT_EQ(table(document, "results-test-f1-2").rows.size(), 1u);
  EXPECT_EQ(find_table(document, "pairs-test-f1"), nullptr);
  EXPECT_TRUE(contains(text_of(document), "Scores on different sets are not compared"));
  EXPECT_TRUE(contains(text_of(document), "test/f1 on data/test.conll (eeeeeeee)"))
      << "two files of one name";
}

TEST_F(ReportTest, ParametersThatVaryAreComparedWithTheScore) {
  const std::vector<double> noise = {0.001, -0.002, 0.0};
  for (const double dropout : {0.1, 0.3})
    for (std::int64_t seed = 1; seed <= 3; ++seed)
      tell({.name = dropout < 0.2 ? "low" : "high",
            .seed = seed,
            .measures = {{"test/f1", 0.5 + dropout / 10 + noise[static_cast<std::size_t>(seed - 1)]}},
            .dropout = dropout});
  const document::Document document = report();
  const document::TableBlock& importance = table(document, "importance-test-f1");
  EXPECT_EQ(importance.rows.at(0).at(0).text.plain(), "dropout");
  // Between the two means 0.02: 6 * 0.01^2 of that and 2 * (0.001^2 + 0.002^2 + ...) within.
  const double mean = (0.001 - 0.002) / 3;
  double within = 0.0;
  for (const double value : noise) within += 2 * (value - mean) * (value - mean);
  EXPECT_NEAR(importance.rows[0][3].number.value(), 100 * 6e-4 / (6e-4 + within), 1e-9);
  EXPECT_EQ(importance.rows.at(1).at(0).text.plain(), "seed");
  const auto& scatter = std::get<document::ScatterChart>(figure(document, "parameter-1-test-f1")->chart);
  EXPECT_EQ(scatter.groups.at(0).points.size(), 6u);
  EXPECT_EQ(scatter.groups[0].points[0].x, 0.3) << "by name: high before low";
  const auto& parallel = std::get<document::ParallelChart>(figure(document, "parallel-test-f1")->chart);
  EXPECT_EQ(parallel.dimensions.size(), 2u);
  EXPECT_EQ(parallel.lines.size(), 6u);
  EXPECT_EQ(cell(table(document, "settings-table"), "model.dropout", "value").text.plain(), "0.1 or 0.3");
}

TEST_F(ReportTest, PredictionsGiveConfusionAndExamples) {
  const std::string predictions =
      R"({"words": ["Ada", "met", "Bob", "in", "Rome"], "truth": ["B-PER", "O", "B-PER", "O", "B-LOC"], "predicted": ["B-PER", "O", "O", "O", "B-PER"]})"
      "\n"
      R"({"words": ["Ada"], "truth": ["B-PER"], "predicted": ["B-PER"]})"
      "\n"
      R"({"words": ["to", "New", "York"], "truth": ["O", "B-LOC", "I-LOC"], "predicted": ["O"]})"
      "\n";
  tell({.name = "a",
        .measures =
            {{"test/f1", 0.5}, {"test/f1/PER", 0.6}, {"test/precision/PER", 0.7}, {"test/recall/PER", 0.8}},
        .predictions = predictions});
  const document::Document document = report();
  const document::TableBlock& classes = table(document, "classes-test-f1");
  EXPECT_EQ(classes.rows.at(0).at(1).text.plain(), "PER");
  EXPECT_DOUBLE_EQ(classes.rows[0][3].number.value(), 70.0);
  EXPECT_DOUBLE_EQ(classes.rows[0][4].number.value(), 80.0);
  EXPECT_DOUBLE_EQ(classes.rows[0][5].number.value(), 60.0);
  const auto& matrix = std::get<document::MatrixChart>(figure(document, "confusion-test-f1")->chart);
  EXPECT_EQ(matrix.labels, std::vector<std::string>({"LOC", "O", "PER"}));
  EXPECT_EQ(matrix.counts, std::vector<std::vector<double>>({{0, 2, 1}, {0, 3, 0}, {0, 1, 2}}));
  std::vector<document::Span> marked;
  for (const document::Block* block : blocks_of(document))
    if (const auto* list = std::get_if<document::ItemList>(block))
      for (const document::Text& item : list->items)
        for (const document::Span& span : item.spans)
          if (span.kind == document::Span::Kind::right || span.kind == document::Span::Kind::wrong ||
              span.kind == document::Span::Kind::missed)
            marked.push_back(span);
  const auto has = [&](const std::string& text, document::Span::Kind kind, const std::string& target) {
    return std::any_of(marked.begin(), marked.end(), [&](const document::Span& span) {
      return span.text == text && span.kind == kind && span.target == target;
    });
  };
  EXPECT_TRUE(has("Ada", document::Span::Kind::right, "PER"));
  EXPECT_TRUE(has("Bob", document::Span::Kind::missed, "PER"));
  EXPECT_TRUE(has("Rome", document::Span::Kind::wrong, "PER, truly LOC"));
  EXPECT_TRUE(has("New York", document::Span::Kind::missed, "LOC"));

  std::ofstream(store().run_folder(store().find_run("a-s1").id) / "predictions/test.jsonl") << "{}";
  EXPECT_TRUE(contains(text_of(report()), "is not the file that was recorded"));
}

TEST_F(ReportTest, ClassesHaveTheFamiliesOfTheirOwnRuns) {
  const auto family = [](const std::string& name) {
    return Measure{
        .name = name + "/{label}", .fraction = true, .reducer = Reducer::ratio, .columns = {"a", "b"}};
  };
  tell({.name = "one",
        .measures = {{"test/f1", 0.5}, {"test/f1/PER", 0.6}, {"test/recall/LOC", 0.8}},
        .defined = {{.name = "f1", .fraction = true}, family("f1"), family("recall"), family("absent")}});
  tell({.name = "other",
        .measures = {{"test/f1", 0.5}, {"test/auc/PER", 0.6}},
        .defined = {{.name = "f1", .fraction = true}, family("auc")}});
  const document::Document document = report({.runs = {.words = {"one-s1"}}});
  const document::TableBlock& classes = table(document, "classes-test-f1");
  std::string columns;
  for (const auto& column : classes.columns) columns += column.name + ";";
  EXPECT_EQ(columns, "candidate;class;n;recall;f1;SD of f1;")
      << "neither classes of another run nor classes without values";
  EXPECT_EQ(cell(classes, "LOC", "n").text.plain(), "1") << "it has a recall, if no F1";
  EXPECT_EQ(cell(classes, "PER", "n").text.plain(), "1");
}

TEST_F(ReportTest, NamesAndReasonsAreOnlyText) {
  const std::string hostile =
      "<script>alert(1)</script> \\input{/etc/passwd} | `x` \xF0\x9F\x98\x80 \xD7\xA9 $&%#_{}~^";
  tell({.name = hostile, .seed = 1});
  tell({.name = hostile,
        .seed = 2,
        .measures = nullptr,
        .state = store::RunState::failed,
        .reason = hostile + "\xFF"});
  const document::Document document = report();
  EXPECT_EQ(table(document, "results-test-f1").rows.at(0).at(0).text.plain(), hostile);
  const nlohmann::json parsed = nlohmann::json::parse(text_of(document));
  EXPECT_TRUE(contains(parsed.dump(), "<script>alert(1)</script>"));
  tell({.name = std::string(10000, 'x')});
  EXPECT_NO_THROW(text_of(report()));
}

}  // namespace
}  // namespace encore::testing
