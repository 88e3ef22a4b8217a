// SPDX-License-Identifier: BSD-3-Clause
// Tests a report as a whole (make_report(), report/report.hpp): equal databases give equal documents, ids are
// unique and references lead somewhere, another side (older runs or a sweep) may stand beside it, unfinished
// runs are described, and invalid requests are rejected. Ids must stay, because users link to them; words may
// change.
#include <algorithm>

#include "store/foreign_schema.hpp"
#include "unit/report/report_fixture.hpp"

namespace encore::testing {
namespace {

TEST_F(ReportTest, EqualDatabasesGiveEqualBytes) {
  tell_all("b", {0.5, 0.6, 0.55});
  tell_all("a", {0.4, 0.45});
  tell({.name = "a", .seed = 3, .measures = nullptr, .state = store::RunState::failed, .reason = "why"});
  const std::string once = text_of(report());
  EXPECT_EQ(text_of(report()), once);
  {
    const store::Unguarded unguarded(store().database());
    store().database().execute("VACUUM");
  }
  EXPECT_EQ(text_of(report()), once);
  store_.reset();
  EXPECT_EQ(text_of(report::make_report(store(), {})), once) << "another process";
}

/// Replaces random values and times of day by fixed ones, so that two databases can be equal.
void make_plain(store::Database& database) {
  database.execute(
      "UPDATE run SET created = 1000, finished = CASE WHEN finished IS NULL THEN NULL ELSE 2000 + seed END;"
      "UPDATE run SET id = 'id of ' || name;"
      "UPDATE attempt SET started = 1000, finished = CASE WHEN finished IS NULL THEN NULL ELSE 1100 END, "
      "host_name = 'host';"
      "UPDATE sweep SET created = 900");
}

TEST_F(ReportTest, TheOrderInWhichRunsWereAddedDoesNotMatter) {
  tell_all("a", {0.4, 0.45, 0.47});
  tell_all("b", {0.5, 0.6, 0.55});
  make_plain(store().database());
  const std::string forth = text_of(report());
  store_.reset();
  std::filesystem::remove_all(path().string() + ".runs");
  for (const char* suffix : {"", "-wal", "-shm", "-journal"})
    std::filesystem::remove(path().string() + suffix);
  const std::vector<double> b = {0.5, 0.6, 0.55}, a = {0.4, 0.45, 0.47};
  for (std::size_t i = 3; i > 0; --i) {
    tell({.name = "b", .seed = static_cast<std::int64_t>(i), .measures = {{"test/f1", b[i - 1]}}});
    tell({.name = "a", .seed = static_cast<std::int64_t>(i), .measures = {{"test/f1", a[i - 1]}}});
  }
  make_plain(store().database());
  EXPECT_EQ(text_of(report()), forth);
}

TEST_F(ReportTest, VerdictsAndMissingRecordsAreReported) {
  tell_all("a", {0.5, 0.6});
  store::VerificationRow verification;
  verification.time = 1.7e9;
  verification.outcome = "different";
  verification.first_step = 412;
  verification.scope = "encoder.3.attention.qkv.weight";
  store().add_verification(store().find_run("a-s1").number, verification);
  const document::Document document = report();
  EXPECT_EQ(cell(table(document, "digests-table"), "a-s1", "verdict").text.plain(),
            "different, first at step 412 in encoder.3.attention.qkv.weight");
  EXPECT_EQ(cell(table(document, "digests-table"), "a-s1", "verified").text.plain(),
            "2023-11-14 22:13:20 UTC");
  EXPECT_EQ(cell(table(document, "digests-table"), "a-s2", "verdict").text.plain(), "not verified");
  const std::string text = text_of(document);
  EXPECT_TRUE(contains(text, "Verified: 0 of 2 runs trained again with equal bits, 1 with other bits"));
  EXPECT_TRUE(contains(text, "The source of Encore: of all 2 runs that were started."));
  EXPECT_TRUE(contains(text, "Licences of the data"));
}

TEST_F(ReportTest, AVerdictOnAPartOfTheStepsIsNotOneOnTheRun) {
  tell_all("a", {0.5, 0.6});
  store().database().execute(
      "INSERT INTO digest (run, step, scope, attempt, value) SELECT run, step.value, 'parameters', number, "
      "'aa' "
      "FROM attempt, json_each('[0, 1, 2]') AS step");
  const auto verify = [&](const std::string& outcome, int digests, double time) {
    store::VerificationRow verification = {.time = time, .outcome = outcome, .first_step = {}, .scope = ""};
    verification.details["compared"] = {{"digests", digests}};
    store().add_verification(store().find_run("a-s1").number, verification);
    return text_of(report());
  };
  EXPECT_TRUE(
      contains(verify("equal", 2, 1.7e9),
               "Verified: 0 of 2 runs trained again with equal bits, 1 in a part of the steps only."));
  EXPECT_TRUE(contains(verify("equal", 3, 1.8e9), "Verified: 1 of 2 runs trained again with equal bits."));
  EXPECT_TRUE(contains(verify("equal", 1, 1.9e9), "Verified: 1 of 2 runs trained again with equal bits."));
  EXPECT_TRUE(contains(verify("different", 1, 2.0e9), "equal bits, 1 with other bits."));
}

TEST_F(ReportTest, VerdictsOfAnotherDatabaseAreItsClaims) {
  tell_all("a", {0.5, 0.6});
  for (const char* run : {"a-s1", "a-s2"})
    store().add_verification(store().find_run(run).number,
                             {.time = 1.7e9, .outcome = "equal", .first_step = {}, .scope = ""});
  store().database().execute(
      "INSERT INTO origin (kind, name, sha256, time) VALUES ('bundle', 'theirs.tar.zst', '', 1);"
      "UPDATE verification SET origin = 1");
  EXPECT_TRUE(contains(text_of(report()),
                       "Verified: none of these runs was trained again and compared here. The verdicts on 2 "
                       "runs come from other databases."));
  EXPECT_EQ(cell(table(report(), "digests-table"), "a-s1", "verdict").text.plain(),
            "equal bits, as theirs.tar.zst says");
  store().database().execute("UPDATE verification SET origin = NULL WHERE number = 1");
  EXPECT_TRUE(contains(text_of(report()),
                       "Verified: 1 of 2 runs trained again with equal bits. The verdicts on 1 run come from "
                       "other databases."));
}

TEST_F(ReportTest, AgainstADateAndAgainstASweep) {
  tell_all("a", {0.50, 0.52, 0.51});
  tell({.name = "a", .seed = 1, .measures = {{"test/f1", 0.60}}, .fresh = true});
  tell({.name = "a", .seed = 2, .measures = {{"test/f1", 0.63}}, .fresh = true});
  tell({.name = "a", .seed = 3, .measures = {{"test/f1", 0.61}}, .fresh = true});
  store().database().execute(
      "UPDATE run SET finished = CASE repeat WHEN 1 THEN 1700000000 ELSE 1800000000 END");
  const document::Document dated = report({.against = "2025-01-01"});
  const document::TableBlock& result = table(dated, "against-result");
  ASSERT_EQ(result.rows.size(), 1u);
  EXPECT_EQ(result.rows[0][1].number, 3.0);
  EXPECT_EQ(result.rows[0][3].number, 3.0);
  EXPECT_NEAR(result.rows[0][5].number.value(), 100 * (0.60 + 0.63 + 0.61 - 0.50 - 0.52 - 0.51) / 3, 1e-9);
  EXPECT_EQ(result.rows[0].back().text.plain(), "the new is higher");

  tell_all("other", {0.7, 0.72, 0.71});
  const document::TableBlock swept =
      table(report({.runs = {.words = {"other"}}, .against = "a"}), "against-result");
  EXPECT_EQ(swept.rows.size(), 1u) << "one candidate on each side";
  EXPECT_EQ(message_of<Error>([&] { report({.against = "2001-01-01"}); }),
            "none of these runs was finished before 2001-01-01 (UTC)");
  EXPECT_EQ(message_of<Error>([&] { report({.against = "2101-01-01"}); }),
            "all of these runs were finished before 2101-01-01 (UTC)");
  EXPECT_TRUE(contains(message_of<store::UnknownRun>([&] { report({.against = "2025-02-31"}); }),
                       "there is no run \"2025-02-31\", and no sweep of that name"));
}

/// Collects the ids of all sections and blocks, and the targets of all references.
void collect_ids(const document::Section& section, std::vector<std::string>& ids,
                 std::vector<std::string>& targets) {
  ids.push_back(section.id);
  for (const document::Block& block : section.blocks) {
    if (const auto* table = std::get_if<document::TableBlock>(&block)) ids.push_back(table->id);
    if (const auto* figure = std::get_if<document::Figure>(&block)) ids.push_back(figure->id);
    if (const auto* list = std::get_if<document::ItemList>(&block))
      for (const document::Text& item : list->items)
        for (const document::Span& span : item.spans)
          if (span.kind == document::Span::Kind::reference) targets.push_back(span.target);
  }
  for (const document::Section& inner : section.sections) collect_ids(inner, ids, targets);
}

void expect_sound(const document::Document& document) {
  std::vector<std::string> ids, targets;
  for (const document::Section& section : document.sections) collect_ids(section, ids, targets);
  for (const std::string& target : targets)
    EXPECT_EQ(std::count(ids.begin(), ids.end(), target), 1) << "missing target: " << target;
  std::sort(ids.begin(), ids.end());
  EXPECT_TRUE(std::adjacent_find(ids.begin(), ids.end()) == ids.end()) << "an id twice";
}

TEST_F(ReportTest, IdsAreUniqueAndReferencesLeadSomewhere) {
  tell({.name = "a", .state = store::RunState::pending});
  expect_sound(report());
  EXPECT_TRUE(contains(text_of(report()), "No measurements over the steps were recorded."));
  tell_all("b", {0.5, 0.6, 0.7});
  tell_all("c", {0.4, 0.3, 0.5});
  tell({.name = "d", .measures = {{"test/f1", 0.9}}, .test_set = std::string(64, 'e')});
  tell({.name = "e", .measures = {{"test/f1", 0.8}}, .dropout = 0.5});
  expect_sound(report());
  expect_sound(report({.runs = {.words = {"b"}}, .against = "c"}));
}

TEST_F(ReportTest, ItReportsThatTheOldSideLacksTheMetric) {
  tell_all("a", {0.5, 0.6});
  tell({.name = "old", .measures = {{"dev/f1", 0.9}}});
  EXPECT_TRUE(
      contains(text_of(report({.runs = {.words = {"a"}}, .against = "old"})), "No old run has a test/f1."));
}

TEST_F(ReportTest, InvalidRequestsAreRefused) {
  EXPECT_TRUE(contains(message_of<store::UnknownRun>([&] { report(); }), "there is no run in"));
  tell_all("net", {0.5, 0.6});
  EXPECT_TRUE(contains(message_of<store::UnknownRun>([&] { report({.runs = {.words = {"nte"}}}); }),
                       "did you mean \"net\"?"));
  EXPECT_EQ(message_of<Error>([&] { report({.metric = "test/f2"}); }),
            "none of these runs has a metric \"test/f2\"; did you mean \"test/f1\"?");
}

TEST_F(ReportTest, LongTablesAreCutWithANoteAndWholeForPrograms) {
  for (std::int64_t seed = 1; seed <= 7; ++seed) tell({.name = "a", .seed = seed});
  EXPECT_EQ(table(report({.most_rows = 5}), "runs").rows.size(), 5u);
  EXPECT_TRUE(
      contains(text_of(report({.most_rows = 5})), "2 more runs are in the CSV and JSON of this report."));
  EXPECT_EQ(table(report({.most_rows = 0}), "runs").rows.size(), 7u);
}

// --- what is not finished ---

TEST_F(ReportTest, ItReportsWhyThereIsNoAnswerIfAllRunsFailed) {
  for (std::int64_t seed = 1; seed <= 2; ++seed)
    tell({.name = "a",
          .seed = seed,
          .measures = nullptr,
          .state = store::RunState::failed,
          .reason = "step 3: the loss is not finite"});
  const document::Document document = report();
  expect_sound(document);
  const std::string text = text_of(document);
  EXPECT_TRUE(contains(text, "no run has a value, so there is no answer"));
  EXPECT_TRUE(contains(text, "Run: 2 failed;"));
  EXPECT_TRUE(contains(text, "a-s1 has no value: failed: step 3: the loss is not finite"));
  EXPECT_EQ(document.facts.front().second, "0 of 2 complete");
  EXPECT_EQ(figure(document, "figure-test-f1"), nullptr) << "no picture without values";
  EXPECT_EQ(find_table(document, "pairs-test-f1"), nullptr);
  EXPECT_NE(figure(document, "curve-train-loss"), nullptr) << "measured values are shown";
}

TEST_F(ReportTest, ItReportsThatRunsAreStillRunning) {
  const store::RunRow run = tell({.name = "a", .state = store::RunState::pending});
  const auto lease = store().begin_attempt(run.number);
  const document::Document document = report();
  expect_sound(document);
  EXPECT_TRUE(contains(text_of(document), "Run: 1 running; 1 attempt in all"));
  EXPECT_TRUE(contains(text_of(document), "no run has a value, so there is no answer"));
  EXPECT_EQ(cell(table(document, "trials"), "running", "runs").number, 1.0);
  store().finish_attempt(*lease, store::RunState::failed, "why");
}

TEST_F(ReportTest, ItReportsWhenFailedAndStoppedRunsEnded) {
  tell({.name = "a"});
  tell({.name = "b", .measures = nullptr, .state = store::RunState::stopped, .reason = "asked to stop"});
  store().database().execute("UPDATE attempt SET started = 1000, finished = 1700000000 + run");
  const document::Document document = report({.most_rows = 0});
  EXPECT_FALSE(cell(table(document, "runs"), "b-s1", "ended").text.empty());
  const auto fact = std::find_if(document.facts.begin(), document.facts.end(),
                                 [](const auto& one) { return one.first == "last ended"; });
  ASSERT_NE(fact, document.facts.end());
  EXPECT_EQ(fact->second, cell(table(document, "runs"), "b-s1", "ended").text.plain());
}

}  // namespace
}  // namespace encore::testing
