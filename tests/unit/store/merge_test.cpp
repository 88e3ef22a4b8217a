// SPDX-License-Identifier: BSD-3-Clause
// Tests merge_spool() (store/merge.hpp), which merges a worker's spool into the database: the content must be
// the same if spools are cut, merged again or merged in another order, and spools of earlier versions must
// fill the same tables. unit/record/spool_test.cpp tests the file itself.
#include "store/merge.hpp"

#include <cmath>
#include <limits>

#include "record/spool_reader.hpp"
#include "store/foreign_schema.hpp"
#include "support/raw_event.hpp"
#include "unit/store/store_fixture.hpp"

namespace encore::store {
namespace {

using testing::dump;
using testing::read_bytes;
using testing::StoreTest;
using testing::TemporaryFolder;
using testing::write_bytes;
using testing::write_event;

const std::string parameters = "parameters";

/// Writes an attempt as a worker does: steps `from` to `to`, a checkpoint at the end.
void write_attempt(const std::filesystem::path& path, int ordinal, int from, int to, bool finish) {
  record::SpoolWriter spool(path, ordinal);
  spool.event(record::Started{
      .numeric_environment = record::JsonText(nlohmann::json{{"backend", "openmp"}}),
      .host = record::JsonText(nlohmann::json{{"name", "h"}}),
      .build = record::JsonText(nlohmann::json{{"version", "1"}}),
      .plugins = {{.name = "layers", .version = "1", .sha256 = "ab", .fingerprint = "x=1;"}}});
  spool.define("train/tokens_per_second", "tokens/s");
  for (int step = from; step <= to; ++step) {
    spool.point("train/loss", step, 100.0 * ordinal + step);
    spool.point("train/tokens_per_second", step, 1e4);
    spool.event(record::Progressed{.step = step, .total_steps = 10});
    spool.event(
        record::Digested{.step = step, .scope = parameters, .sha256 = std::to_string(100 * ordinal + step)});
  }
  spool.point("dev/f1", to, 0.5 + ordinal / 10.0);
  spool.event(record::Evaluated{.step = to, .measures = {{"dev/f1", 0.5}}});
  spool.event(record::Saved{.step = to, .path = "checkpoints/x", .bytes = 9, .sha256 = "cd"});
  spool.event(record::Logged{.text = "quote ' and \n newline"});
  if (!finish) return;
  // The test is scored with the best step, which an earlier attempt may have trained.
  spool.point("test/f1", 2, 0.6);
  spool.event(record::Wrote{.name = "predictions/test.jsonl", .path = "p", .sha256 = "ef"});
  spool.event(record::Concluded{.best_step = 2, .measures = {{"test/f1", 0.6}}});
  spool.event(record::Ended{.ending = record::Ending::completed, .step = to});
}

class MergeTest : public StoreTest {
 protected:
  void SetUp() override {
    write_attempt(folder_ / "one", 1, 1, 6, false);
    write_attempt(folder_ / "two", 2, 4, 8, true);
  }
  /// Adds a run with two attempts, the first of which has ended.
  void add_attempts() {
    run_ = add();
    first_ = store().begin_attempt(run_).value();
    store().finish_attempt(first_, RunState::interrupted);
    second_ = store().begin_attempt(run_).value();
  }
  MergeReport merge(const std::string& file, const Lease& lease) {
    return merge_spool(store().database(), {spools_ / file, run_, lease.attempt, lease.ordinal});
  }
  /// Returns the content of the database after both attempts were merged once, in order.
  std::string expected() {
    MergeTest plain;
    plain.spools_ = folder_.path();
    plain.add_attempts();
    plain.merge("one", plain.first_);
    plain.merge("two", plain.second_);
    return dump(plain.store().database());
  }
  void TestBody() override {}

  std::filesystem::path spools_ = folder_.path();
  std::int64_t run_ = 0;
  Lease first_, second_;
};

TEST_F(MergeTest, PutsEachRecordWhereTheSchemaSays) {
  add_attempts();
  const MergeReport report = merge("one", first_);
  EXPECT_TRUE(report.complete);
  EXPECT_TRUE(report.problem.empty());
  merge("two", second_);
  const auto count = [&](const std::string& table) {
    return store().database().integer("SELECT count(*) FROM " + table).value();
  };
  EXPECT_EQ(count("point"), 12 + 1 + 10 + 2);
  EXPECT_EQ(count("digest"), 11);
  EXPECT_EQ(count("checkpoint"), 2);
  EXPECT_EQ(count("artifact"), 1);
  EXPECT_EQ(count("host"), 1);
  EXPECT_EQ(count("build"), 1);
  EXPECT_EQ(count("plugin"), 1);
  EXPECT_EQ(count("attempt_plugin"), 2);
  EXPECT_EQ(count("event"), 3 + 6);
  EXPECT_EQ(store().database().text(
                "SELECT measure ->> 'unit' FROM run_metric WHERE name = 'train/tokens_per_second'"),
            "tokens/s");
  EXPECT_EQ(store().database().text("SELECT environment ->> 'backend' FROM attempt"), "openmp");
  EXPECT_EQ(store().read_run(run_).result["measures"]["test/f1"], 0.6);
  EXPECT_EQ(store().read_run(run_).progress->step, 8);
}

TEST_F(MergeTest, LaterAttemptsOverruleEarlierOnesFromTheirFirstStep) {
  add_attempts();
  merge("one", first_);
  merge("two", second_);
  std::vector<double> values;
  std::vector<std::int64_t> steps;
  for (const CurvePoint& point : store().read_curve(run_, "train/loss")) {
    steps.push_back(point.step);
    values.push_back(point.value);
  }
  EXPECT_EQ(steps, (std::vector<std::int64_t>{1, 2, 3, 4, 5, 6, 7, 8}));
  EXPECT_EQ(values, (std::vector<double>{101, 102, 103, 204, 205, 206, 207, 208}));
  std::string digests;
  for (const DigestRow& digest : store().read_digests(run_)) digests += digest.value + " ";
  EXPECT_EQ(digests, "101 102 103 204 205 206 207 208 ");
  // dev/f1 of step 6 was overruled although the second attempt did not score that step; test/f1 of step 2
  // overrules nothing.
  const auto dev = store().read_curve(run_, "dev/f1");
  ASSERT_EQ(dev.size(), 1u);
  EXPECT_EQ(dev[0].step, 8);
  EXPECT_EQ(store().read_latest(run_, "test/f1")->value, 0.6);
  EXPECT_EQ(store().read_latest(run_, "test/f1")->attempt, 2);
}

TEST_F(MergeTest, GivesTheSameRowsInAnyOrderAndWhenRepeated) {
  const std::string wanted = expected();
  add_attempts();
  merge("two", second_);
  merge("two", second_);
  merge("one", first_);
  merge("two", second_);
  merge("one", first_);
  // The order shows in the row numbers of metrics and hosts alone, and both spools name the same ones in the
  // same order.
  EXPECT_EQ(dump(store().database()), wanted);
  EXPECT_EQ(store().read_run(run_).progress->step, 8);
}

TEST_F(MergeTest, ACutAtAnyByteAndASecondMergeGiveTheSame) {
  const std::string wanted = expected();
  const std::string one = read_bytes(folder_ / "one");
  const std::string two = read_bytes(folder_ / "two");
  // A sample, dense in the last records: each cut needs a database of its own. (spool_test cuts at every
  // byte.)
  std::vector<std::size_t> sizes;
  for (std::size_t size = 0; size + 400 < two.size(); size += 211) sizes.push_back(size);
  for (std::size_t size = two.size() - 400; size < two.size(); size += 7) sizes.push_back(size);
  for (std::size_t size : sizes) {
    store_.reset();
    for (const char* suffix : {"", "-wal", "-shm"}) std::filesystem::remove(path().string() + suffix);
    add_attempts();
    write_bytes(folder_ / "cut", two.substr(0, size));
    const MergeReport first = merge("cut", second_);
    EXPECT_EQ(first.complete, first.problem.empty());
    merge("one", first_);
    write_bytes(folder_ / "cut", two);
    const MergeReport second = merge("cut", second_);
    EXPECT_TRUE(second.complete);
    EXPECT_EQ(merge("cut", second_).records, 0u);
    ASSERT_EQ(dump(store().database()), wanted) << "cut at " << size;
  }
}

TEST_F(MergeTest, ADamagedSpoolIsMergedUpToTheDamageAndNamed) {
  add_attempts();
  std::string bytes = read_bytes(folder_ / "one");
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 4);
  write_bytes(folder_ / "bad", bytes);
  const MergeReport report = merge("bad", first_);
  EXPECT_FALSE(report.complete);
  EXPECT_GT(report.records, 5u);
  EXPECT_NE(report.problem.find("bad: byte "), std::string::npos) << report.problem;
  EXPECT_EQ(store().read_attempts(run_).at(0).spool_problem, report.problem);
}

TEST_F(MergeTest, AfterDamageTheRestOfAnEndedSpoolIsMergedAndTheGapIsRecorded) {
  add_attempts();
  const std::string whole = read_bytes(folder_ / "one");
  std::string bytes = whole;
  const std::size_t digest = bytes.find("\"value\":\"103\"");
  bytes[digest + 10] = '9';
  write_bytes(folder_ / "bad", bytes);
  const auto merge_over = [&] {
    return merge_spool(store().database(), {spools_ / "bad", run_, first_.attempt, first_.ordinal, "", true});
  };
  const MergeReport report = merge_over();
  merge("two", second_);
  EXPECT_FALSE(report.complete);
  EXPECT_NE(report.problem.find("are damaged: record 15 is lost"), std::string::npos) << report.problem;
  EXPECT_EQ(store().read_attempts(run_).at(0).spool_problem, report.problem);
  EXPECT_EQ(store().read_curve(run_, "train/loss").size(), 8u) << "no point is lost";
  EXPECT_EQ(store().read_digests(run_).size(), 7u) << "one digest is";
  EXPECT_EQ(merge_over().problem, report.problem) << "not forgotten, and not found twice";
  EXPECT_EQ(store().database().integer("SELECT count(*) FROM event WHERE type = 'spool_damage'"), 1);
}

TEST_F(MergeTest, LongDamageIsSearchedWhileNoTransactionIsOpen) {
  add_attempts();
  const std::string whole = read_bytes(folder_ / "one");
  const std::size_t digest = whole.find("\"value\":\"103\"");
  for (const std::size_t damage : {std::size_t{100}, std::size_t{1} << 20}) {
    write_bytes(folder_ / "bad", whole.substr(0, digest) + std::string(damage, '\1') + whole.substr(digest));
    int transactions = 0;
    const MergeReport report =
        merge_spool(store().database(), {spools_ / "bad", run_, first_.attempt, first_.ordinal, "", true},
                    [&] { ++transactions; });
    EXPECT_EQ(transactions, damage > 100 ? 2 : 1) << damage;
    EXPECT_NE(report.problem.find("record 15 is lost"), std::string::npos) << report.problem;
    EXPECT_EQ(store().read_curve(run_, "train/loss").size(), 6u);
    store().database().execute(
        "UPDATE attempt SET spool_bytes = 0, spool_records = 0");  // as if nothing had been read
    store().database().execute("DELETE FROM event");
  }
}

TEST_F(MergeTest, MergesTheRestWhenADamagedEndIsRepaired) {
  const std::string wanted = expected();
  add_attempts();
  const std::string whole = read_bytes(folder_ / "one");
  std::string bytes = whole;
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  const auto merge_over = [&](const std::string& content) {
    write_bytes(folder_ / "bad", content);
    return merge_spool(store().database(), {spools_ / "bad", run_, first_.attempt, first_.ordinal, "", true});
  };
  EXPECT_FALSE(merge_over(bytes).complete);
  EXPECT_FALSE(merge_over(bytes).complete);
  EXPECT_EQ(store().database().integer("SELECT count(*) FROM event WHERE type = 'spool_damage'"), 1);
  const MergeReport healed = merge_over(whole);
  EXPECT_TRUE(healed.complete) << healed.problem;
  merge("two", second_);
  EXPECT_EQ(dump(store().database()), wanted);
}

TEST_F(MergeTest, TakesNoRowFromTheSpoolOfAnotherRun) {
  add_attempts();
  { record::SpoolWriter spool(folder_ / "other", 1, "fedcba9876"); }
  const MergeReport report =
      merge_spool(store().database(), {spools_ / "other", run_, first_.attempt, 1, first_.run_id, true});
  EXPECT_FALSE(report.complete);
  EXPECT_NE(report.problem.find("the spool of run fedcba9876, not of run " + first_.run_id),
            std::string::npos)
      << report.problem;
  EXPECT_EQ(store().database().integer("SELECT count(*) FROM point"), 0);
}

TEST_F(MergeTest, RefusesTheSpoolOfAnotherAttempt) {
  add_attempts();
  const MergeReport refused = merge("one", second_);
  EXPECT_FALSE(refused.complete);
  EXPECT_NE(refused.problem.find("is the spool of attempt 1, not of attempt 2"), std::string::npos);
  EXPECT_EQ(store().database().integer("SELECT count(*) FROM point"), 0);
  const MergeReport nothing = merge("none", first_);
  EXPECT_FALSE(nothing.complete);
  EXPECT_EQ(nothing.problem, "") << "a worker that has not begun yet is not a problem";
}

TEST_F(MergeTest, KeepsNanAndInfinities) {
  add_attempts();
  const double infinity = std::numeric_limits<double>::infinity();
  {
    record::SpoolWriter spool(folder_ / "special", 1);
    int step = 0;
    for (double value : {std::nan(""), infinity, -infinity, 0.1, 5e-324})
      spool.point("train/loss", ++step, value);
  }
  merge("special", first_);
  const auto curve = store().read_curve(run_, "train/loss");
  ASSERT_EQ(curve.size(), 5u);
  EXPECT_TRUE(std::isnan(curve[0].value));
  EXPECT_EQ(curve[1].value, infinity);
  EXPECT_EQ(curve[2].value, -infinity);
  EXPECT_EQ(curve[3].value, 0.1);
  EXPECT_EQ(curve[4].value, 5e-324);
  EXPECT_EQ(store().database().text("SELECT special FROM curve WHERE step = 1"), "nan");
}

TEST_F(MergeTest, KeepsUnknownEventsAndSurvivesInvalidOnes) {
  add_attempts();
  {
    record::SpoolWriter spool(folder_ / "strange", 1);
    write_event(spool, "tomorrow", {{"what", 1}});
    write_event(spool, "progress", {{"step", 1}});
    write_event(spool, "digest", {{"step", "three"}, {"scope", 5}});
    write_event(spool, "checkpoint");
    write_event(spool, "started", {{"plugins", {1, "x", {{"name", 7}}}}, {"host", 3}});
    write_event(spool, "result", {{"measures", nullptr}});
    write_event(spool, "log", {{"level", "info"}, {"text", "behind"}});
  }
  const MergeReport report = merge("strange", first_);
  EXPECT_EQ(report.records, 7u);
  EXPECT_EQ(report.problem, "");
  EXPECT_EQ(store().read_events(run_, "tomorrow").at(0).body["what"], 1);
  // The unreadable record is kept as it was written, and nothing is derived from it.
  EXPECT_EQ(store().read_events(run_).size(), 7u);
  EXPECT_EQ(store().read_events(run_, "digest").at(0).body["step"], "three");
  EXPECT_TRUE(store().read_digests(run_).empty());
  EXPECT_TRUE(store().read_checkpoints(run_).empty());
  EXPECT_FALSE(store().read_attempts(run_).front().started_event);
  EXPECT_FALSE(store().read_run(run_).progress);
  EXPECT_TRUE(store().read_run(run_).result.is_null());
}

/// The events of a whole attempt, exactly as an earlier version wrote them.
const std::vector<std::string> old_events = {
    R"({"build":{"version":"0.1.0"},"data":{"train":{"cut_entities":2,"cut_sentences":1,"cut_words":41,"examples":10,)"
    R"("labels":{"unseen":0,"words":{"O":90}},"lengths":{"counts":[4,6],"width":1},"longest":2,"tokens":16,)"
    R"("unknown_pieces":5}},"host":{"name":"h"},"labels":["O"],"numeric_environment":{"backend":"openmp"},)"
    R"("parameter_layers":{"head":9},"parameter_parts":[{"parameters":9,"part":"head"}],"parameters":9,)"
    R"("plugins":[{"file":"/lib/a.so","fingerprint":"sdk=1;","name":"a","sha256":"ab","version":"1"}],)"
    R"("threads":1,"time":1763690817.25,"type":"started","vocabulary_size":600})",
    R"({"level":"info","text":"resumed after step 3 of 9","time":1763690817.5,"type":"log"})",
    R"({"scope":"parameters","step":9,"tensors":{"head.weight":"0f"},"time":1,"type":"digest","value":"0f0f"})",
    R"({"epoch":1,"eta_seconds":0.0,"learning_rate":1e-05,"loss":2.25,"step":9,"time":1763690818.5,)"
    R"("tokens_per_second":9000.5,"total_steps":9,"type":"progress"})",
    R"({"epoch":1,"measures":{"dev/f1":0.5},"step":9,"time":1763690818.75,"type":"measured"})",
    R"({"bytes":8704,"kind":"best","path":"checkpoints/step-00000009.safetensors","sha256":"cd","step":9,)"
    R"("time":1763690819.0,"type":"checkpoint"})",
    R"({"name":"predictions/dev.jsonl","path":"predictions/dev.jsonl","sha256":"ef","time":1,"type":"artifact"})",
    R"({"best_step":9,"measures":{"test/f1":0.75},"time":1763690820.0,"type":"result"})",
    R"({"reason":"","state":"completed","step":9,"time":1763690821.0,"type":"finished"})"};

TEST_F(MergeTest, TheSpoolOfAnEarlierVersionFillsTheSameTables) {
  add_attempts();
  {
    record::SpoolWriter spool(folder_ / "old", 1);
    for (const std::string& event : old_events) spool.event_text(event);
  }
  EXPECT_EQ(merge("old", first_).problem, "");
  const AttemptRow attempt = store().read_attempts(run_).front();
  ASSERT_TRUE(attempt.started_event);
  EXPECT_EQ(attempt.started_event->data.at("train").counts.at(1), (record::NamedCount{"cut words", 41}));
  EXPECT_EQ(attempt.started_event->data.at("train").labels.at("O"), 90);
  EXPECT_EQ(attempt.environment, (nlohmann::json{{"backend", "openmp"}}));
  EXPECT_EQ(attempt.host.at("name"), "h");
  ASSERT_EQ(attempt.plugins.size(), 1u);
  EXPECT_EQ(attempt.plugins.front().fingerprint, "sdk=1;");
  EXPECT_EQ(store().read_digests(run_).size(), 2u) << "the block and its tensor";
  const CheckpointRow checkpoint = store().read_checkpoints(run_).at(0);
  EXPECT_EQ(checkpoint.kind, "best");
  EXPECT_EQ(checkpoint.created, 1763690819.0);
  EXPECT_EQ(store().database().text("SELECT name FROM artifact"), "predictions/dev.jsonl");
  const RunRow run = store().read_run(run_);
  EXPECT_EQ(run.result.at("measures").at("test/f1"), 0.75);
  ASSERT_TRUE(store().database().text("SELECT progress FROM attempt WHERE ordinal = 1"));
  EXPECT_EQ(store().database().integer("SELECT count(*) FROM event"), 6)
      << "progress, scores and digests have other places";
}

TEST_F(MergeTest, AStartThatNestsTooDeepDoesNotStopTheMerge) {
  add_attempts();
  {
    nlohmann::json deep;
    for (int level = 0; level < 500; ++level) deep = nlohmann::json::array({deep});
    record::SpoolWriter spool(folder_ / "deep", 1);
    write_event(spool, "started", {{"host", deep}});
    spool.point("train/loss", 1, 0.5);
  }
  const MergeReport report = merge("deep", first_);
  EXPECT_EQ(report.problem, "");
  EXPECT_EQ(store().read_curve(run_, "train/loss").size(), 1u);
  const auto unreadable = store().read_events(run_, "unreadable");
  ASSERT_EQ(unreadable.size(), 1u);
  EXPECT_NE(unreadable.at(0).body.value("reason", "").find("nested more than 100 levels deep"),
            std::string::npos);
}

TEST_F(StoreTest, AHostThatNestsTooDeepIsNotKnown) {
  const std::int64_t run = add();
  store().begin_attempt(run).value();
  const Unguarded unguarded(store().database());
  store().database().execute("PRAGMA ignore_check_constraints = ON");
  store().database().execute("INSERT INTO host (number, description) VALUES (99, '" +
                             std::string(100000, '[') + "')");
  store().database().execute("UPDATE attempt SET host = 99");
  const std::vector<AttemptRow> attempts = store().read_attempts(run);
  ASSERT_EQ(attempts.size(), 1u);
  EXPECT_TRUE(attempts.front().host.is_null());
}

TEST_F(MergeTest, ContinuesInTheMiddleWithANewProcess) {
  const std::string wanted = expected();
  add_attempts();
  const std::string two = read_bytes(folder_ / "two");
  for (std::size_t size = 0; size <= two.size() + 100; size += 100) {
    write_bytes(folder_ / "growing", two.substr(0, size));
    store_ = std::make_unique<Store>(path(), OpenMode::write);
    merge("growing", second_);
  }
  merge("one", first_);
  EXPECT_EQ(dump(store().database()), wanted);
}

}  // namespace
}  // namespace encore::store
