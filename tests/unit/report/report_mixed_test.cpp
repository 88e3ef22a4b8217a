// SPDX-License-Identifier: BSD-3-Clause
// Tests reports (make_report(), report/report.hpp) over runs of several tasks, whose measures differ, and
// over tasks with many classes: each data set is shown by the metric by which its runs select checkpoints,
// and tables and pictures stay readable. Words may change; scores of different measures must not share a
// table.
#include <gtest/gtest.h>

#include "unit/report/report_fixture.hpp"

namespace encore::testing {
namespace {

/// A data set of runs, and the measure by which they choose checkpoints.
struct TaskSet {
  std::string name, measure, rule;
  std::string content;
};

const std::vector<TaskSet> sets = {{"tags", "f1", "max", "a"},
                                   {"names", "f1", "max", "b"},
                                   {"topics", "accuracy", "max", "c"},
                                   {"reviews", "accuracy", "max", "d"},
                                   {"french", "bleu", "max", "e"},
                                   {"words", "perplexity", "min", "f"},
                                   {"answers", "exact_match", "max", "0"}};

class MixedReport : public ReportTest {
 protected:
  /// Records two candidates with two seeds each on every data set. Every run has an accuracy too, as tasks
  /// with tokens have.
  void tell_sets() {
    for (const TaskSet& set : sets)
      for (const double dropout : {0.1, 0.3})
        for (std::int64_t seed = 1; seed <= 2; ++seed) {
          const double value = 0.5 + dropout / 2 + 0.01 * static_cast<double>(seed);
          nlohmann::json measures = {{"test/accuracy", 0.25}, {"dev/accuracy", 0.25}};
          measures["test/" + set.measure] = value;
          measures["dev/" + set.measure] = value;
          tell({.name = set.name + (dropout < 0.2 ? "-low" : "-high"),
                .seed = seed,
                .measures = measures,
                .test_set = std::string(64, set.content[0]),
                .dropout = dropout,
                .select = set.rule + " dev/" + set.measure,
                .curves = {{"dev/" + set.measure, {0.1, 0.2}}},
                .defined = {{.name = set.measure,
                             .fraction = set.rule == "max",
                             .better = set.rule == "min" ? Better::lower : Better::higher}}});
        }
  }
};

TEST_F(MixedReport, EachSetIsShownByTheMetricThatItsRunsSelectBy) {
  tell_sets();
  const document::Document document = report();
  std::vector<std::string> titles;
  for (const document::Section& section : document.sections)
    if (section.id == "results")
      for (const document::Section& inner : section.sections)
        if (inner.id.starts_with("results-of-")) titles.push_back(inner.title);
  ASSERT_EQ(titles.size(), sets.size());
  for (const TaskSet& set : sets) {
    const std::string title =
        "test/" + set.measure + " on data/test.conll (" + std::string(8, set.content[0]) + ")";
    EXPECT_NE(std::ranges::find(titles, title), titles.end()) << title;
  }
  for (const char* name : {"test/f1", "test/accuracy", "test/bleu", "test/perplexity", "test/exact_match"})
    EXPECT_TRUE(contains(document.subtitle, name)) << document.subtitle;
}

TEST_F(MixedReport, CandidatesAreNamedByWhatDiffersOnTheirSet) {
  tell_sets();
  const document::Document document = report();
  std::size_t answers = 0;
  for (const document::Block* block : blocks_of(document)) {
    const auto* answer = std::get_if<document::TableBlock>(block);
    if (answer == nullptr || !answer->id.starts_with("answer-")) continue;
    ++answers;
    EXPECT_EQ(answer->columns.at(1).name, "dropout") << answer->id;
    EXPECT_NE(answer->columns.at(2).name, "select") << "all runs of the set have the same value";
    ASSERT_EQ(answer->rows.size(), 2u);
    // With a perplexity the lowest mean comes first.
    const bool lower = answer->id.starts_with("answer-test-perplexity");
    EXPECT_EQ(answer->rows[0][1].text.plain(), lower ? "0.1" : "0.3") << answer->id;
  }
  EXPECT_EQ(answers, sets.size());
}

TEST_F(MixedReport, TheTableOfRunsNamesTheMetricOfEachScore) {
  tell_sets();
  const document::Document document = report();
  const document::TableBlock& runs = table(document, "runs");
  std::string columns;
  for (const document::Column& column : runs.columns) columns += column.name + ";";
  EXPECT_EQ(columns, "candidate;seed;id;state;best step;metric;score;unit;attempts;ended;");
  std::map<std::string, std::set<std::string>> units;
  for (const auto& row : runs.rows) units[row[5].text.plain()].insert(row[7].text.plain());
  EXPECT_EQ(units.at("test/f1"), std::set<std::string>{"%"});
  EXPECT_EQ(units.at("test/perplexity"), std::set<std::string>{""});
  EXPECT_NE(figure(document, "curve-dev-bleu"), nullptr);
  EXPECT_NE(figure(document, "curve-dev-perplexity"), nullptr);
  const std::string text = text_of(document);
  EXPECT_TRUE(contains(text,
                       "Asked: how test/bleu on data/test.conll (eeeeeeee) depends on dropout (0.1, "
                       "0.3), by 4 runs over 2 seeds."))
      << text;
}

TEST_F(MixedReport, RunsOfOneSetAreComparedAlthoughTheirRulesDiffer) {
  for (const char* rule : {"max dev/f1", "min dev/loss"})
    for (std::int64_t seed = 1; seed <= (rule[1] == 'a' ? 3 : 2); ++seed)
      tell({.name = rule[1] == 'a' ? "by-f1" : "by-loss",
            .seed = seed,
            .measures = {{"test/f1", 0.5}, {"test/loss", 1.0}},
            .select = rule});
  const document::Document document = report();
  EXPECT_EQ(document.subtitle, "test/f1, 5 runs");
  EXPECT_EQ(table(document, "results-test-f1").rows.size(), 2u);
}

TEST_F(MixedReport, ANamedMetricIsThatOfEverySet) {
  tell_sets();
  const document::Document document = report({.metric = "test/accuracy"});
  EXPECT_EQ(document.subtitle, "test/accuracy, " + std::to_string(4 * sets.size()) + " runs");
  EXPECT_EQ(table(document, "runs").columns.at(5).name, "test/accuracy");
}

TEST_F(MixedReport, EachMetricIsComparedWithOldRunsThatHaveIt) {
  tell_sets();
  const document::Document document = report({.runs = {.words = {"*-high-*"}}, .against = "*-low-*"});
  for (const char* metric : {"f1", "accuracy", "bleu", "perplexity", "exact-match"})
    EXPECT_NE(find_table(document, "against-result-test-" + std::string(metric)), nullptr) << metric;
  EXPECT_FALSE(contains(text_of(document), "No old run has a"));
}

// --- many classes ---

std::string class_name(int number) {
  return "intent_of_some_length_" + std::to_string(100 + number);
}

/// Returns a run with `count` classes. Class i is predicted i times as its successor, and 100 times as
/// itself.
Told many_classes(const std::string& name, int count, double shift) {
  Told told{
      .name = name,
      .measures = {{"test/f1", 0.5 + shift}},
      .defined = {
          {.name = "f1", .fraction = true},
          {.name = "f1/{label}",
           .title = "F1",
           .fraction = true,
           .reducer = Reducer::ratio,
           .columns = {"hit", "all"}},
          {.name = "confusion", .title = "Confusion", .reducer = Reducer::matrix, .columns = {"taken"}}}};
  for (int i = 0; i < count; ++i) {
    told.measures["test/f1/" + class_name(i)] = 0.25 + shift;
    nlohmann::json taken = {{class_name(i), 100}};
    if (i > 0) taken[class_name((i + 1) % count)] = i;
    const nlohmann::json example = {{"example", i},
                                    {"text", "t"},
                                    {"truth", class_name(i)},
                                    {"predicted", class_name(i)},
                                    {"statistics", {{"taken", {{class_name(i), taken}}}}}};
    told.predictions += example.dump() + "\n";
  }
  return told;
}

TEST_F(MixedReport, SeventySevenClassesHaveTheirMostFrequentConfusionsAndOneRowEach) {
  tell(many_classes("better", 77, 0.125));
  tell(many_classes("worse", 77, 0.0));
  const document::Document document = report();
  EXPECT_EQ(figure(document, "confusion-test-f1"), nullptr) << "77 names do not fit beside a picture";
  const document::TableBlock& confused = table(document, "confused-confusion-test-f1");
  ASSERT_EQ(confused.rows.size(), 10u);
  EXPECT_EQ(confused.rows[0][0].text.plain(), class_name(76));
  EXPECT_EQ(confused.rows[0][1].text.plain(), class_name(0));
  EXPECT_DOUBLE_EQ(confused.rows[0][2].number.value(), 76);
  EXPECT_NEAR(confused.rows[0][3].number.value(), 100.0 * 76 / 176, 1e-9);
  EXPECT_EQ(confused.rows[9][0].text.plain(), class_name(67));
  const document::TableBlock& classes = table(document, "class-differences-test-f1");
  std::string columns;
  for (const document::Column& column : classes.columns) columns += column.name + " " + column.unit + ";";
  EXPECT_EQ(columns, "class ;A %;B %;difference points;");
  ASSERT_EQ(classes.rows.size(), 77u);
  for (const auto& row : classes.rows) {
    EXPECT_DOUBLE_EQ(row[1].number.value(), 37.5);
    EXPECT_DOUBLE_EQ(row[2].number.value(), 25.0);
    EXPECT_DOUBLE_EQ(row[3].number.value(), -12.5);
  }
  EXPECT_EQ(find_table(document, "classes-test-f1"), nullptr);

  const document::Document complete = report({.most_rows = 0});
  EXPECT_EQ(table(complete, "confused-confusion-test-f1").rows.size(), 76u);
  EXPECT_EQ(table(complete, "classes-test-f1").rows.size(), 2u * 77u);
  EXPECT_EQ(std::get<document::MatrixChart>(figure(complete, "confusion-test-f1")->chart).labels.size(), 77u);
}

TEST_F(MixedReport, DrawsOnlyTheClassesThatFit) {
  const int most = static_cast<int>(document::most_matrix_labels);
  tell(many_classes("one", most, 0.0));
  const document::Document document = report();
  const document::Figure* drawn = figure(document, "confusion-test-f1");
  ASSERT_NE(drawn, nullptr);
  for (const double width : {352.0, 640.0, 720.0}) {
    std::size_t rows = 0, columns = 0;
    for (const document::Shape2d& shape : document::draw(drawn->chart, width).shapes)
      if (const auto* label = std::get_if<document::Label>(&shape);
          label != nullptr && (label->text.starts_with("intent") || contains(label->text, "\u2026")))
        ++(label->angle != 0.0 ? columns : rows);
    EXPECT_EQ(rows, document::most_matrix_labels) << width;
    EXPECT_EQ(columns, document::most_matrix_labels) << width;
  }
}

}  // namespace
}  // namespace encore::testing
