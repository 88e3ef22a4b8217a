// What a report says of stored runs: numbers equal to an independent computation, nothing dropped, nothing
// claimed that no test carries, and equal documents for equal databases.
#include "report/report.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>

#include "document/html.hpp"
#include "document/json.hpp"
#include "unit/report/replicates.hpp"

namespace encore::testing {
namespace {

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

class ReportTest : public ReplicatesTest {
 protected:
  Document report(const ReportOptions& options = {}) { return make_report(store(), options); }

  static void collect(const std::vector<Block>& blocks, std::vector<const Block*>& all) {
    for (const Block& block : blocks) all.push_back(&block);
  }
  static void collect(const Section& section, std::vector<const Block*>& all) {
    collect(section.blocks, all);
    for (const Section& inner : section.sections) collect(inner, all);
  }
  static std::vector<const Block*> blocks_of(const Document& document) {
    std::vector<const Block*> all;
    collect(document.abstract, all);
    for (const Section& section : document.sections) collect(section, all);
    return all;
  }
  static const TableBlock* find_table(const Document& document, const std::string& id) {
    for (const Block* block : blocks_of(document))
      if (const auto* table = std::get_if<TableBlock>(block); table != nullptr && table->id == id)
        return table;
    return nullptr;
  }
  static const TableBlock& table(const Document& document, const std::string& id) {
    const TableBlock* found = find_table(document, id);
    if (found == nullptr) throw Error("there is no table " + id);
    return *found;
  }
  static const Figure* figure(const Document& document, const std::string& id) {
    for (const Block* block : blocks_of(document))
      if (const auto* found = std::get_if<Figure>(block); found != nullptr && found->id == id) return found;
    return nullptr;
  }
  /// The cell of the first row that begins with `row`, in the column of that name.
  static TableCell cell(const TableBlock& table, const std::string& row, const std::string& column) {
    std::size_t at = 0;
    while (at < table.columns.size() && table.columns[at].name != column) ++at;
    if (at == table.columns.size()) throw Error("no column " + column);
    for (const auto& cells : table.rows)
      if (cells.front().text.plain() == row) return cells[at];
    throw Error("no row " + row + " in " + table.id);
  }
  static std::string text_of(const Document& document) { return json(document); }
};

const nlohmann::json& scipy() {
  static const nlohmann::json numbers =
      nlohmann::json::parse(std::ifstream(ENCORE_SOURCE_DIR "/tests/unit/report/statistics.json"));
  return numbers["report"];
}

TEST_F(ReportTest, TablesHoldTheNumbersOfAnIndependentComputation) {
  for (const auto& [name, values] : scipy()["values"].items()) tell_all(name, values);
  const Document document = report();
  const TableBlock& results = table(document, "results-test-f1");
  ASSERT_EQ(results.rows.size(), scipy()["candidates"].size());
  for (const nlohmann::json& wanted : scipy()["candidates"]) {
    const std::string name = wanted["name"];
    const auto expect = [&](const std::string& column, const nlohmann::json& value) {
      const TableCell found = cell(results, name, column);
      ASSERT_TRUE(found.number) << name << ' ' << column;
      EXPECT_NEAR(*found.number, value.get<double>(), 1e-9) << name << ' ' << column;
    };
    expect("n", wanted["n"]);
    expect("mean", wanted["mean"]);
    if (wanted["n"] == 1) {
      for (const char* column : {"SD", "t low", "t high", "bootstrap low", "bootstrap high"})
        EXPECT_TRUE(cell(results, name, column).text.empty()) << "no interval with n = 1: " << column;
      continue;
    }
    expect("SD", wanted["deviation"]);
    expect("t low", wanted["t"][0]);
    expect("t high", wanted["t"][1]);
    expect("bootstrap low", wanted["bootstrap"][0]);
    expect("bootstrap high", wanted["bootstrap"][1]);
  }
  const TableBlock& pairs = table(document, "pairs-test-f1");
  EXPECT_EQ(pairs.rows.size(), 6u);
  std::size_t compared = 0;
  for (const auto& row : pairs.rows)
    for (const nlohmann::json& wanted : scipy()["pairs"]) {
      const std::string a = row[0].text.plain(), b = row[1].text.plain();
      const double sign = a == wanted["a"] && b == wanted["b"]   ? 1.0
                          : a == wanted["b"] && b == wanted["a"] ? -1.0
                                                                 : 0.0;
      if (sign == 0.0) continue;
      ++compared;
      EXPECT_NEAR(row[2].number.value(), sign * wanted["difference"].get<double>(), 1e-9);
      EXPECT_NEAR(row[sign > 0 ? 3 : 4].number.value(), sign * wanted["low"].get<double>(), 1e-9);
      EXPECT_NEAR(row[sign > 0 ? 4 : 3].number.value(), sign * wanted["high"].get<double>(), 1e-9);
      EXPECT_NEAR(row[7].number.value(), wanted["p"].get<double>(), 1e-10);
      EXPECT_NEAR(row[8].number.value(), wanted["corrected"].get<double>(), 1e-10);
    }
  EXPECT_EQ(compared, 3u);
}

TEST_F(ReportTest, TheTextOfTheHtmlShowsTheSameNumbers) {
  if (std::system("command -v python3 > /dev/null") != 0) GTEST_SKIP() << "python3 is not installed";
  for (const auto& [name, values] : scipy()["values"].items()) tell_all(name, values);
  const std::string file = store().path().string() + ".html";
  std::ofstream(file)
      << html_files(report(), Templates(ENCORE_SOURCE_DIR "/reports"), "r.html").front().bytes;
  const std::string folder = ENCORE_SOURCE_DIR "/tests/unit/report/";
  const std::string command =
      "python3 " + folder + "check_numbers.py " + folder + "statistics.json " + file + " >&2";
  EXPECT_EQ(std::system(command.c_str()), 0);
}

TEST_F(ReportTest, OnlyWhatIsToldFromEveryOtherIsMarkedBest) {
  tell_all("a", {0.45, 0.46, 0.44, 0.455, 0.452});
  tell_all("b", {0.55, 0.56, 0.54, 0.557, 0.551});
  const TableCell best = cell(table(report(), "results-test-f1"), "b", "mean");
  EXPECT_TRUE(best.best);
  EXPECT_FALSE(cell(table(report(), "results-test-f1"), "a", "mean").best);
  EXPECT_TRUE(contains(text_of(report()), "b is highest of 2 candidates"));
  tell_all("c", {0.552, 0.558, 0.543, 0.554, 0.553});
  EXPECT_FALSE(cell(table(report(), "results-test-f1"), "b", "mean").best) << "b and c are not told apart";
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
  const Document document = report({.metric = "test/loss"});
  const TableBlock& results = table(document, "results-test-loss");
  EXPECT_EQ(results.rows.at(0).at(0).text.plain(), "a");
  EXPECT_TRUE(results.rows.at(0).at(3).best);
  EXPECT_EQ(results.columns[3].unit, "") << "a loss is no percentage";
  EXPECT_NEAR(results.rows.at(0).at(3).number.value(), (0.201 + 0.204 + 0.209 + 0.216 + 0.21) / 5, 1e-12);
}

TEST_F(ReportTest, EveryTrialIsCountedAndWhatHasNoValueIsShown) {
  tell_all("a", {0.5, 0.6});
  tell({.name = "a",
        .seed = 3,
        .measures = nullptr,
        .state = RunState::failed,
        .reason = "the loss is not finite"});
  tell({.name = "a", .seed = 4, .measures = {{"test/f1", nullptr}}});
  tell({.name = "b", .seed = 1, .measures = nullptr, .state = RunState::stopped, .reason = "pruned"});
  tell({.name = "b", .seed = 2, .measures = nullptr, .state = RunState::lost});
  tell({.name = "b", .seed = 3, .state = RunState::pending});
  const Document document = report();
  const TableBlock& trials = table(document, "trials");
  EXPECT_EQ(cell(trials, "completed", "runs").number, 3.0);
  EXPECT_EQ(cell(trials, "failed", "runs").number, 1.0);
  EXPECT_EQ(cell(trials, "stopped", "runs").number, 1.0);
  EXPECT_EQ(cell(trials, "lost", "runs").number, 1.0);
  EXPECT_EQ(cell(trials, "pending", "runs").number, 1.0);
  EXPECT_EQ(cell(trials, "all", "runs").number, 7.0);
  const TableBlock& unfinished = table(document, "unfinished");
  EXPECT_EQ(unfinished.rows.size(), 4u);
  EXPECT_EQ(cell(unfinished, "a-seed=3", "reason").text.plain(), "the loss is not finite");
  EXPECT_EQ(cell(unfinished, "b-seed=1", "reason").text.plain(), "pruned");
  const TableBlock& results = table(document, "results-test-f1");
  EXPECT_EQ(cell(results, "a", "runs").number, 4.0);
  EXPECT_EQ(cell(results, "a", "n").number, 2.0);
  EXPECT_TRUE(cell(results, "b", "mean").text.empty());
  const std::string text = text_of(document);
  EXPECT_TRUE(contains(text, "a-seed=3 has no value: failed: the loss is not finite"));
  EXPECT_TRUE(contains(text, "a-seed=4 has no value: its test/f1 is not finite"));
  EXPECT_EQ(cell(table(document, "runs"), "a-seed=4", "test/f1").text.plain(), "not finite");
  EXPECT_EQ(document.facts.front().second, "3 of 7 complete");
}

TEST_F(ReportTest, WithOneRunThereIsNoIntervalNoTestAndNoBand) {
  tell({.name = "a"});
  const Document document = report({.words = {"a-seed=1"}});
  EXPECT_EQ(document.title, "Report of run a-seed=1");
  EXPECT_TRUE(contains(text_of(document), "(n = 1, which says nothing of the spread)"));
  EXPECT_EQ(find_table(document, "pairs-test-f1"), nullptr);
  const Figure* loss = figure(document, "curve-train-loss");
  ASSERT_NE(loss, nullptr);
  EXPECT_TRUE(std::get<LineChart>(loss->chart).series.at(0).low.empty());
  const Figure* points = figure(document, "figure-test-f1");
  ASSERT_NE(points, nullptr);
  EXPECT_FALSE(std::get<ScatterChart>(points->chart).groups.at(0).points.at(0).low);
}

TEST_F(ReportTest, CurvesAreMeansOverSeedsWithTheirRange) {
  tell_all("a", {0.5, 0.6, 0.7});  // train/loss at step 1 is a quarter of the seed
  const Document document = report();
  const Figure* loss = figure(document, "curve-train-loss");
  ASSERT_NE(loss, nullptr);
  const Series& series = std::get<LineChart>(loss->chart).series.at(0);
  ASSERT_EQ(series.x, std::vector<double>({1.0}));
  EXPECT_DOUBLE_EQ(series.y.at(0), 0.5);
  EXPECT_DOUBLE_EQ(series.low.at(0), 0.25);
  EXPECT_DOUBLE_EQ(series.high.at(0), 0.75);
}

TEST_F(ReportTest, AValueThatIsNotFiniteStaysInTheCurve) {
  const RunRow run = tell({.name = "a"});
  store().database().execute(
      "INSERT INTO point (run, metric, step, attempt, value, special) SELECT run, metric, 2, attempt, NULL, "
      "'nan' FROM point");
  store().database().execute(
      "INSERT INTO point (run, metric, step, attempt, value, special) SELECT run, metric, 3, attempt, 0.125, "
      "NULL FROM point WHERE step = 1");
  const Document document = report({.words = {run.name}});
  const Series& series = std::get<LineChart>(figure(document, "curve-train-loss")->chart).series.at(0);
  ASSERT_EQ(series.y.size(), 3u);
  EXPECT_TRUE(std::isnan(series.y[1]));
  EXPECT_EQ(series.y[2], 0.125);
  EXPECT_TRUE(contains(text_of(document), "\"nan\""));
}

TEST_F(ReportTest, EnvironmentsArePooledOnlyAloud) {
  tell_all("a", {0.5, 0.6});
  tell({.name = "a", .seed = 3, .measures = {{"test/f1", 0.55}}, .device = "cpu two"});
  EXPECT_TRUE(contains(text_of(report()), "a pools 2 numeric environments: device is"));
  EXPECT_EQ(table(report(), "numeric-environments").columns.size(), 3u);
}

TEST_F(ReportTest, OtherTestSetsAreOtherQuestions) {
  tell_all("a", {0.5, 0.6});
  for (std::int64_t seed = 1; seed <= 2; ++seed)
    tell({.name = "b", .seed = seed, .measures = {{"test/f1", 0.9}}, .test_set = std::string(64, 'e')});
  const Document document = report();
  EXPECT_EQ(table(document, "results-test-f1").rows.size(), 1u);
  EXPECT_EQ(table(document, "results-test-f1-2").rows.size(), 1u);
  EXPECT_EQ(find_table(document, "pairs-test-f1"), nullptr);
  EXPECT_TRUE(contains(text_of(document), "Scores on different sets are not compared"));
  EXPECT_TRUE(contains(text_of(document), "test/f1 on data/test.conll (eeeeeeee)"))
      << "two files of one name";
}

TEST_F(ReportTest, ParametersThatVaryAreHeldAgainstTheScore) {
  const std::vector<double> noise = {0.001, -0.002, 0.0};
  for (const double dropout : {0.1, 0.3})
    for (std::int64_t seed = 1; seed <= 3; ++seed)
      tell({.name = dropout < 0.2 ? "low" : "high",
            .seed = seed,
            .measures = {{"test/f1", 0.5 + dropout / 10 + noise[static_cast<std::size_t>(seed - 1)]}},
            .dropout = dropout});
  const Document document = report();
  const TableBlock& importance = table(document, "importance-test-f1");
  EXPECT_EQ(importance.rows.at(0).at(0).text.plain(), "model.dropout");
  // Between the two means 0.02: 6 * 0.01^2 of that and 2 * (0.001^2 + 0.002^2 + ...) within.
  const double mean = (0.001 - 0.002) / 3;
  double within = 0.0;
  for (const double value : noise) within += 2 * (value - mean) * (value - mean);
  EXPECT_NEAR(importance.rows[0][3].number.value(), 100 * 6e-4 / (6e-4 + within), 1e-9);
  EXPECT_EQ(importance.rows.at(1).at(0).text.plain(), "seed");
  const auto& scatter = std::get<ScatterChart>(figure(document, "parameter-1-test-f1")->chart);
  EXPECT_EQ(scatter.groups.at(0).points.size(), 6u);
  EXPECT_EQ(scatter.groups[0].points[0].x, 0.3) << "by name: high before low";
  const auto& parallel = std::get<ParallelChart>(figure(document, "parallel-test-f1")->chart);
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
  const Document document = report();
  const TableBlock& classes = table(document, "classes-test-f1");
  EXPECT_EQ(classes.rows.at(0).at(1).text.plain(), "PER");
  EXPECT_DOUBLE_EQ(classes.rows[0][3].number.value(), 70.0);
  EXPECT_DOUBLE_EQ(classes.rows[0][4].number.value(), 80.0);
  EXPECT_DOUBLE_EQ(classes.rows[0][5].number.value(), 60.0);
  const auto& matrix = std::get<MatrixChart>(figure(document, "confusion-test-f1")->chart);
  EXPECT_EQ(matrix.labels, std::vector<std::string>({"O", "LOC", "PER"}));
  EXPECT_EQ(matrix.counts, std::vector<std::vector<double>>({{3, 0, 0}, {2, 0, 1}, {1, 0, 2}}));
  std::vector<Span> marked;
  for (const Block* block : blocks_of(document))
    if (const auto* list = std::get_if<ItemList>(block))
      for (const Text& item : list->items)
        for (const Span& span : item.spans)
          if (span.kind == Span::Kind::right || span.kind == Span::Kind::wrong ||
              span.kind == Span::Kind::missed)
            marked.push_back(span);
  const auto has = [&](const std::string& text, Span::Kind kind, const std::string& target) {
    return std::any_of(marked.begin(), marked.end(), [&](const Span& span) {
      return span.text == text && span.kind == kind && span.target == target;
    });
  };
  EXPECT_TRUE(has("Ada", Span::Kind::right, "PER"));
  EXPECT_TRUE(has("Bob", Span::Kind::missed, "PER"));
  EXPECT_TRUE(has("Rome", Span::Kind::wrong, "PER, truly LOC"));
  EXPECT_TRUE(has("New York", Span::Kind::missed, "LOC"));

  std::ofstream(store().run_folder(store().find_run("a-seed=1").id) / "predictions/test.jsonl") << "{}";
  EXPECT_TRUE(contains(text_of(report()), "is not the file that was recorded"));
}

TEST_F(ReportTest, NamesAndReasonsAreOnlyText) {
  const std::string hostile =
      "<script>alert(1)</script> \\input{/etc/passwd} | `x` \xF0\x9F\x98\x80 \xD7\xA9 $&%#_{}~^";
  tell({.name = hostile, .seed = 1});
  tell({.name = hostile,
        .seed = 2,
        .measures = nullptr,
        .state = RunState::failed,
        .reason = hostile + "\xFF"});
  const Document document = report();
  EXPECT_EQ(table(document, "results-test-f1").rows.at(0).at(0).text.plain(), hostile);
  const nlohmann::json parsed = nlohmann::json::parse(text_of(document));
  EXPECT_TRUE(contains(parsed.dump(), "<script>alert(1)</script>"));
  tell({.name = std::string(10000, 'x')});
  EXPECT_NO_THROW(text_of(report()));
}

TEST_F(ReportTest, EqualDatabasesGiveEqualBytes) {
  tell_all("b", {0.5, 0.6, 0.55});
  tell_all("a", {0.4, 0.45});
  tell({.name = "a", .seed = 3, .measures = nullptr, .state = RunState::failed, .reason = "why"});
  const std::string once = text_of(report());
  EXPECT_EQ(text_of(report()), once);
  store().database().execute("VACUUM");
  EXPECT_EQ(text_of(report()), once);
  store_.reset();
  EXPECT_EQ(text_of(make_report(store(), {})), once) << "another process";
}

/// Sets what is random or a time of day, so that two databases can be equal.
void make_plain(Database& database) {
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

TEST_F(ReportTest, VerdictsAndWhatWasNotRecordedAreSaid) {
  tell_all("a", {0.5, 0.6});
  VerificationRow verification;
  verification.time = 1.7e9;
  verification.outcome = "different";
  verification.first_step = 412;
  verification.scope = "encoder.3.attention.qkv.weight";
  store().add_verification(store().find_run("a-seed=1").number, verification);
  const Document document = report();
  EXPECT_EQ(cell(table(document, "digests-table"), "a-seed=1", "verdict").text.plain(),
            "different, first at step 412 in encoder.3.attention.qkv.weight");
  EXPECT_EQ(cell(table(document, "digests-table"), "a-seed=1", "verified").text.plain(),
            "2023-11-14 22:13:20 UTC");
  EXPECT_EQ(cell(table(document, "digests-table"), "a-seed=2", "verdict").text.plain(), "not verified");
  const std::string text = text_of(document);
  EXPECT_TRUE(contains(text, "Verified: 0 of 2 runs trained again with equal bits, 1 with other bits"));
  EXPECT_TRUE(contains(text, "The commit of the source: of all 2 runs that were begun."));
  EXPECT_TRUE(contains(text, "Licences of the data"));
}

TEST_F(ReportTest, AgainstADateAndAgainstASweep) {
  tell_all("a", {0.50, 0.52, 0.51});
  tell({.name = "a", .seed = 1, .measures = {{"test/f1", 0.60}}, .fresh = true});
  tell({.name = "a", .seed = 2, .measures = {{"test/f1", 0.63}}, .fresh = true});
  tell({.name = "a", .seed = 3, .measures = {{"test/f1", 0.61}}, .fresh = true});
  store().database().execute(
      "UPDATE run SET finished = CASE repeat WHEN 1 THEN 1700000000 ELSE 1800000000 END");
  const Document dated = report({.against = "2025-01-01"});
  const TableBlock& result = table(dated, "against-result");
  ASSERT_EQ(result.rows.size(), 1u);
  EXPECT_EQ(result.rows[0][1].number, 3.0);
  EXPECT_EQ(result.rows[0][3].number, 3.0);
  EXPECT_NEAR(result.rows[0][5].number.value(), 100 * (0.60 + 0.63 + 0.61 - 0.50 - 0.52 - 0.51) / 3, 1e-9);
  EXPECT_EQ(result.rows[0].back().text.plain(), "the new is higher");

  tell_all("other", {0.7, 0.72, 0.71});
  const TableBlock swept = table(report({.words = {"other"}, .against = "a"}), "against-result");
  EXPECT_EQ(swept.rows.size(), 1u) << "one candidate on each side";
  EXPECT_EQ(message_of<Error>([&] { report({.against = "2001-01-01"}); }),
            "none of these runs was finished before 2001-01-01 (UTC)");
  EXPECT_EQ(message_of<Error>([&] { report({.against = "2101-01-01"}); }),
            "all of these runs were finished before 2101-01-01 (UTC)");
  EXPECT_TRUE(contains(message_of<UnknownRun>([&] { report({.against = "2025-02-31"}); }),
                       "no run, sweep or group is called \"2025-02-31\""));
}

/// Every section and block by its id, and what is referred to.
void collect_ids(const Section& section, std::vector<std::string>& ids, std::vector<std::string>& targets) {
  ids.push_back(section.id);
  for (const Block& block : section.blocks) {
    if (const auto* table = std::get_if<TableBlock>(&block)) ids.push_back(table->id);
    if (const auto* figure = std::get_if<Figure>(&block)) ids.push_back(figure->id);
    if (const auto* list = std::get_if<ItemList>(&block))
      for (const Text& item : list->items)
        for (const Span& span : item.spans)
          if (span.kind == Span::Kind::reference) targets.push_back(span.target);
  }
  for (const Section& inner : section.sections) collect_ids(inner, ids, targets);
}

void expect_sound(const Document& document) {
  std::vector<std::string> ids, targets;
  for (const Section& section : document.sections) collect_ids(section, ids, targets);
  for (const std::string& target : targets)
    EXPECT_EQ(std::count(ids.begin(), ids.end(), target), 1) << "nothing to refer to: " << target;
  std::sort(ids.begin(), ids.end());
  EXPECT_TRUE(std::adjacent_find(ids.begin(), ids.end()) == ids.end()) << "an id twice";
}

TEST_F(ReportTest, IdsAreUniqueAndReferencesLeadSomewhere) {
  tell({.name = "a", .state = RunState::pending});
  expect_sound(report());
  EXPECT_TRUE(contains(text_of(report()), "No measurements over the steps were recorded."));
  tell_all("b", {0.5, 0.6, 0.7});
  tell_all("c", {0.4, 0.3, 0.5});
  tell({.name = "d", .measures = {{"test/f1", 0.9}}, .test_set = std::string(64, 'e')});
  tell({.name = "e", .measures = {{"test/f1", 0.8}}, .dropout = 0.5});
  expect_sound(report());
  expect_sound(report({.words = {"b"}, .against = "c"}));
}

TEST_F(ReportTest, WhereTheOldSideLacksTheMetricItIsSaid) {
  tell_all("a", {0.5, 0.6});
  tell({.name = "old", .measures = {{"dev/f1", 0.9}}});
  EXPECT_TRUE(contains(text_of(report({.words = {"a"}, .against = "old"})), "No old run has a test/f1."));
}

TEST_F(ReportTest, WhatCannotBeReportedIsRefused) {
  EXPECT_TRUE(contains(message_of<UnknownRun>([&] { report(); }), "there is no run in"));
  tell_all("net", {0.5, 0.6});
  EXPECT_TRUE(contains(message_of<UnknownRun>([&] { report({.words = {"nte"}}); }), "did you mean \"net\"?"));
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

}  // namespace
}  // namespace encore::testing
