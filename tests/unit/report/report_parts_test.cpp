// SPDX-License-Identifier: BSD-3-Clause
// Tests which parts a report has (make_report(), report/report.hpp, which report() of the fixture calls): the
// brief form, sections chosen or left out by name, base files and overrides attached for reproduction, and
// tables for people and for programs (most_rows = 0). Sentences of private data may appear only if the user
// asks for the section "examples" by name; this rule must hold.
#include <algorithm>

#include "document/writers.hpp"
#include "support/places.hpp"
#include "unit/report/report_fixture.hpp"

namespace encore::testing {
namespace {

std::vector<std::string> section_ids(const document::Document& document) {
  std::vector<std::string> ids;
  for (const document::Section& section : document.sections) ids.push_back(section.id);
  return ids;
}

std::vector<std::string> inner_ids(const document::Section& section) {
  std::vector<std::string> ids;
  for (const document::Section& inner : section.sections) ids.push_back(inner.id);
  return ids;
}

using Ids = std::vector<std::string>;

// --- brief ---

TEST_F(ReportTest, ABriefReportHasOneTableOnePictureAndTheCommandsToRepeatIt) {
  tell_all("a", {0.5, 0.6});
  tell_all("b", {0.7, 0.8});
  const document::Document document = report({.brief = true});
  EXPECT_EQ(document.title, "Brief report of all runs");
  EXPECT_EQ(section_ids(document), (Ids{"results", "reproduction"}));
  EXPECT_FALSE(document.abstract.empty());
  std::size_t tables = 0, figures = 0;
  for (const document::Block* block : blocks_of(document)) {
    tables += std::holds_alternative<document::TableBlock>(*block) ? 1 : 0;
    figures += std::holds_alternative<document::Figure>(*block) ? 1 : 0;
  }
  EXPECT_EQ(tables, 1u);
  EXPECT_EQ(figures, 1u);
  EXPECT_NE(figure(document, "figure-test-f1"), nullptr);
  EXPECT_TRUE(contains(text_of(document), "exp verify a b  # all these runs")) << text_of(document);
}

TEST_F(ReportTest, RunsOfASweepThatAreNotSelectedAreCounted) {
  tell_all("net-a", std::vector<double>(12, 0.5));
  tell_all("net-b", {0.7});
  const std::string all = text_of(report({.brief = true}));
  EXPECT_FALSE(contains(all, "Not in this report")) << all;
  EXPECT_TRUE(contains(all, "exp verify net  # all these runs")) << all;
  const std::string some = text_of(report({.runs = {.words = {"net-a-*"}}, .brief = true}));
  EXPECT_TRUE(contains(some, "Not in this report: 1 more run of net.")) << some;
  EXPECT_FALSE(contains(some, "exp verify net ")) << "that would verify the other run, too";
  EXPECT_TRUE(contains(some, "exp verify net-a-s1 ")) << some;
}

TEST_F(ReportTest, ABriefReportOfOneRunDrawsTheCurveOfItsSelectionMetric) {
  const store::RunRow run = tell({.name = "a"});
  EXPECT_EQ(figure(report({.brief = true}), "curve-dev-f1"), nullptr) << "nothing was recorded";
  store().database().execute("UPDATE metric SET name = 'dev/f1' WHERE name = 'train/loss'");
  EXPECT_NE(figure(report({.brief = true}), "curve-dev-f1"), nullptr);
}

// --- sections ---

TEST_F(ReportTest, SectionsAreChosenByName) {
  tell_all("a", {0.5, 0.6});
  EXPECT_EQ(section_ids(report({.sections = {"curves", "reproduction"}})), (Ids{"curves", "reproduction"}));
  EXPECT_TRUE(report({.sections = {"curves"}}).abstract.empty());
  EXPECT_FALSE(report({.sections = {"abstract"}}).abstract.empty());
  const document::Document parts = report({.sections = {"data", "digests"}});
  EXPECT_EQ(section_ids(parts), (Ids{"method", "reproduction"}));
  EXPECT_EQ(inner_ids(parts.sections[0]), Ids{"data"});
  EXPECT_EQ(inner_ids(parts.sections[1]), Ids{"digests"});
  const document::Document without = report({.without = {"method", "commands", "abstract"}});
  EXPECT_EQ(section_ids(without),
            (Ids{"results", "curves", "sweep", "examples", "environment", "reproduction"}));
  EXPECT_EQ(inner_ids(without.sections.back()), (Ids{"digests", "not-recorded"}));
  EXPECT_TRUE(without.abstract.empty());
  EXPECT_TRUE(contains(text_of(without), "method, commands and abstract")) << "and a note says so";
}

TEST_F(ReportTest, UnknownSectionsAndAnEmptyReportAreRefused) {
  tell_all("a", {0.5, 0.6});
  EXPECT_EQ(message_of<Error>([&] { report({.sections = {"curvs"}}); }),
            "a report has no section \"curvs\"; did you mean \"curves\"?");
  EXPECT_TRUE(contains(message_of<Error>([&] { report({.without = {"nothing like it"}}); }),
                       "a report has no section \"nothing like it\"; there are \"abstract\", \"results\""));
  EXPECT_EQ(message_of<Error>([&] { report({.sections = {"curves"}, .without = {"curves"}}); }),
            "the report is empty: every section that it would have was left out");
}

TEST_F(ReportTest, ReferencesToALeftOutSectionBecomeText) {
  tell_all("a", {0.5, 0.6});
  const document::Document document = report({.without = {"curves"}});
  EXPECT_TRUE(contains(text_of(document), "Curves (left out here)"));
  EXPECT_NO_THROW(
      document::html_files(document, document::Templates(ENCORE_SOURCE_DIR "/reports"), "r.html"));
}

// --- private data ---

const std::string sentence =
    R"({"words": ["Secretname", "slept"], "truth": ["B-PER", "O"], "predicted": ["B-PER", "O"]})"
    "\n";

TEST_F(ReportTest, SentencesOfPrivateDataAreLeftOutWithANote) {
  tell({.name = "a",
        .measures = {{"test/f1", 0.5}, {"test/f1/PER", 0.6}},
        .predictions = sentence,
        .is_private = true});
  const document::Document document = report();
  const std::string text = text_of(document);
  EXPECT_FALSE(contains(text, "Secretname"));
  EXPECT_TRUE(contains(text, "Sentences are left out: "));
  EXPECT_TRUE(contains(text, "[data] private = true"));
  EXPECT_EQ(document.facts.back(),
            (std::pair<std::string, std::string>{"left out", "examples (private data)"}));
  EXPECT_FALSE(contains(text_of(report({.most_rows = 0})), "Secretname")) << "also in the form for programs";
  EXPECT_NE(figure(document, "confusion-test-f1"), nullptr) << "counts show no sentence";
  EXPECT_TRUE(contains(text_of(report({.sections = {"examples"}})), "Secretname")) << "asked for by name";
}

TEST_F(ReportTest, OnePrivateRunHidesTheSentencesOfItsSetForAllRuns) {
  tell({.name = "a", .measures = {{"test/f1", 0.9}}, .predictions = sentence});
  EXPECT_TRUE(contains(text_of(report()), "Secretname"));
  EXPECT_FALSE(contains(text_of(report({.without = {"examples"}})), "Secretname"));
  tell({.name = "b", .measures = {{"test/f1", 0.1}}, .is_private = true});
  EXPECT_FALSE(contains(text_of(report()), "Secretname"));
}

TEST_F(ReportTest, PrivacyOfDataDoesNotDistinguishCandidates) {
  tell({.name = "a", .seed = 1, .is_private = true});
  tell({.name = "a", .seed = 2});
  EXPECT_FALSE(contains(text_of(report({.sections = {"abstract", "results"}})), "private ("));
}

// --- what is attached ---

TEST_F(ReportTest, BaseFilesAndOverridesAreAttached) {
  tell_all("a", {0.5, 0.6});
  store().database().execute(
      "UPDATE sweep SET file = 'a.toml', content = 'base = \"b.toml\"', context = "
      "'{\"bases\": [{\"file\": \"b.toml\", \"content\": \"# the base\"}], \"overrides\": [\"model.note=x "
      "y\"]}'");
  const std::string text = text_of(report());
  EXPECT_TRUE(contains(text, "exp run a.toml --backend openmp -S 'model.note=x y'"));
  EXPECT_TRUE(contains(text, "# the base"));
  EXPECT_FALSE(contains(text, "was not recorded with these runs"));
  store().database().execute("UPDATE sweep SET context = '{}'");
  EXPECT_TRUE(contains(text_of(report()), "was not recorded with these runs")) << "as earlier versions did";
  // Invalid values are left out.
  store().database().execute("UPDATE sweep SET context = '{\"bases\": [1, {}], \"overrides\": {\"a\": 1}}'");
  EXPECT_NO_THROW(text_of(report()));
}

// --- tables for people and for checking ---

TEST_F(ReportTest, MeasuresHaveOneRowPerCandidateAndAnotherTableForPrograms) {
  for (std::int64_t seed = 1; seed <= 2; ++seed)
    for (const std::string name : {"a", "b"})
      tell({.name = name,
            .seed = seed,
            .measures = {{"test/f1", name == "a" ? 0.5 : 0.7},
                         {"test/loss", 0.1 * static_cast<double>(seed)},
                         {"test/f1/PER", 0.3},
                         {"dev/f1", 0.4}}});
  const document::Document document = report();
  const document::TableBlock& test = table(document, "measures-test-test-f1");
  ASSERT_EQ(test.columns.size(), 3u) << "measures of a class are in another table";
  EXPECT_EQ(test.rows.size(), 2u);
  EXPECT_EQ(cell(test, "A", "F1").text.plain(), "70.00 ± 0.00");
  EXPECT_NEAR(cell(test, "B", "loss").number.value(), 0.15, 1e-12);
  EXPECT_EQ(table(document, "measures-dev-test-f1").columns.size(), 2u);
  EXPECT_EQ(find_table(document, "measures-test-f1"), nullptr);
  EXPECT_EQ(table(report({.most_rows = 0}), "measures-test-f1").rows.size(), 6u);
}

TEST_F(ReportTest, AnotherTaskIsShownByWhatItsMeasuresMean) {
  const std::vector<Measure> measures = {
      {.name = "perplexity",
       .better = Better::lower,
       .reducer = Reducer::exponential,
       .columns = {"loss", "tokens"}},
      {.name = "hits/{label}",
       .title = "Hits",
       .fraction = true,
       .reducer = Reducer::ratio,
       .columns = {"hit", "all"}},
      {.name = "taken", .title = "Taken", .reducer = Reducer::matrix, .columns = {"taken"}},
      {.name = "bleu", .title = "BLEU"}};
  const std::string predictions =
      R"({"example": 0, "text": "a fine film", "truth": "good", "predicted": "good", "statistics": {"taken": {"good": {"good": 1}}}})"
      "\n"
      R"({"example": 1, "text": "a dull film", "truth": "bad", "predicted": "good", "statistics": {"taken": {"bad": {"good": 1}}}})"
      "\n";
  for (const std::string name : {"a", "b"})
    tell({.name = name,
          .measures = {{"test/perplexity", name == "a" ? 30.5 : 20.25},
                       {"test/bleu", 12.5},
                       {"test/hits/good", 0.75}},
          .predictions = predictions,
          .select = "min dev/perplexity",
          .defined = measures});
  const document::Document document = report();
  EXPECT_EQ(document.subtitle, "test/perplexity, 2 runs");
  const document::TableBlock& all = table(document, "measures-test-test-perplexity");
  EXPECT_EQ(all.columns.at(1).name, "perplexity") << "the metric of the report comes first";
  EXPECT_EQ(cell(all, "A", "perplexity").text.plain(), "20.25") << "the lowest is the best";
  EXPECT_EQ(cell(all, "A", "BLEU").text.plain(), "12.5");
  const document::TableBlock& classes = table(document, "class-differences-test-perplexity");
  EXPECT_TRUE(contains(classes.caption.plain(), "Hits of each class"));
  EXPECT_EQ(cell(classes, "good", "A").text.plain(), "75.00");
  EXPECT_EQ(cell(classes, "good", "difference").text.plain(), "0.00");
  const auto& matrix = std::get<document::MatrixChart>(figure(document, "taken-test-perplexity")->chart);
  EXPECT_EQ(matrix.labels, std::vector<std::string>({"bad", "good"}));
  EXPECT_EQ(matrix.counts, std::vector<std::vector<double>>({{0, 1}, {0, 1}}));
  std::string shown;
  for (const document::Block* block : blocks_of(document))
    if (const auto* list = std::get_if<document::ItemList>(block))
      for (const document::Text& item : list->items)
        for (const document::Span& span : item.spans) shown += "[" + span.text + "|" + span.target + "]";
  EXPECT_NE(shown.find("[a fine film |][good|predicted][a dull film |][good|truly bad]"), std::string::npos)
      << shown;
}

TEST_F(ReportTest, TheAnswerTableNamesTheDifferingParameterAndTheVerdict) {
  for (const double dropout : {0.1, 0.3})
    for (std::int64_t seed = 1; seed <= 3; ++seed)
      tell({.name = dropout < 0.2 ? "low" : "high",
            .seed = seed,
            .measures = {{"test/f1",
                          dropout + 0.001 * static_cast<double>(seed * seed * (dropout < 0.2 ? 1 : 2))}},
            .dropout = dropout});
  const document::TableBlock answer = table(report(), "answer-test-f1");
  const auto head = [&](std::size_t i) { return answer.columns.at(i).name; };
  EXPECT_EQ(head(0) + ", " + head(1), "candidate, dropout");
  EXPECT_EQ(cell(answer, "0.3", "candidate").text.plain(), "A");
  EXPECT_EQ(cell(answer, "0.3", "verdict").text.plain(), "best: highest");
  EXPECT_EQ(cell(answer, "0.1", "verdict").text.plain(), "lower");
  EXPECT_LT(cell(answer, "0.1", "difference").number.value(), -19.0) << "its mean less the first one's";
}

TEST_F(ReportTest, OneSentenceGivesTheSeedsThatUndecidedPairsNeed) {
  tell_all("a", {0.50, 0.60});
  tell_all("b", {0.55, 0.58});
  tell_all("c", {0.41, 0.59});
  tell_all("d", {0.52, 0.57});
  const document::Document document = report();
  std::size_t said = 0;
  for (const document::Block* block : blocks_of(document))
    if (const auto* one = std::get_if<document::TableBlock>(block))
      for (const document::Text& note : one->notes) said += contains(note.plain(), "power") ? 1 : 0;
  EXPECT_EQ(said, 1u);
  const std::string text = text_of(document);
  EXPECT_TRUE(contains(text,
                       "6 of 6 pairs are not distinguished; to show the differences seen, with 80 % power at "
                       "alpha 0.05 over 6 pairs, would take about "))
      << text.substr(text.find("distinguished"), 300);
}

TEST_F(ReportTest, TheReasonForAMissingTestIsGivenOnceForAllPairs) {
  tell_all("a", {0.5, 0.6, 0.7});
  tell_all("b", {0.5, 0.6, 0.75});
  tell_all("c", {0.9});
  const document::TableBlock pairs = table(report(), "pairs-test-f1");
  const auto refusals = std::count_if(pairs.notes.begin(), pairs.notes.end(), [](const document::Text& note) {
    return note.plain().starts_with("No test of A and B, A and C: c has one seed");
  });
  EXPECT_EQ(refusals, 1);
}

}  // namespace
}  // namespace encore::testing
