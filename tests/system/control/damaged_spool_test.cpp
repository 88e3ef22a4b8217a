// SPDX-License-Identifier: BSD-3-Clause
// Tests the merging of a damaged spool, the file to which a worker appends its events (store/merge.hpp,
// store/record_gaps.hpp): a lost run whose spool was damaged, cut or replaced before any of it was merged.
// The intact part is recovered, `exp run`, `exp show` and `exp db check` name the missing part, and the exit
// code reports it. A spool of the old format must stay mergeable.
#include <gtest/gtest.h>

#include <cstring>

#include <nlohmann/json.hpp>

#include "record/spool.hpp"
#include "system/control/sandbox.hpp"

namespace encore::system_test {
namespace {

/// The state after machine, worker and control program crash at once: nothing is merged, the processes have
/// ended.
constexpr const char* forget_what_was_merged =
    "UPDATE attempt SET state = 'running', spool_bytes = 0, spool_records = 0, first_step = NULL, pid = 1, "
    "process_start = 1; UPDATE run SET state = 'running', result = NULL; DELETE FROM point; DELETE FROM "
    "digest; "
    "DELETE FROM event; DELETE FROM checkpoint; DELETE FROM spool_metric";
constexpr const char* losses =
    "SELECT group_concat(step, ' ') FROM (SELECT step FROM curve WHERE metric = 'train/loss' ORDER BY step)";

/// Crashes in step 12 of 20, with a checkpoint of step 10.
class LostRun : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(calm_.exp({"run", "tiny.toml", "-q"}).end.exit_code, 0);
    sandbox_.set("FAKE_STEP_MS", "0");
    sandbox_.set("FAKE_CRASH_AT", "12");
    ASSERT_EQ(sandbox_.exp({"run", "tiny.toml", "-q"}).end.exit_code, 75);
    sandbox_.change(forget_what_was_merged);
    id_ = sandbox_.one("SELECT id FROM run");
    spool_ = "encore.db.runs/" + id_ + "/attempt-0001.spool";
  }
  /// Returns begin and end of the frame (the bytes of one record) whose event contains this text.
  std::pair<std::size_t, std::size_t> frame_with(const std::string& text) const {
    const std::string bytes = sandbox_.read(spool_);
    for (std::size_t begin = record::spool_head_bytes; begin + 8 <= bytes.size();) {
      std::uint32_t length = 0;
      std::memcpy(&length, bytes.data() + begin, sizeof length);
      const std::size_t end = begin + 8 + length;
      if (contains(bytes.substr(begin, end - begin), text)) return {begin, end};
      begin = end;
    }
    ADD_FAILURE() << "no record with " << text;
    return {record::spool_head_bytes, bytes.size()};
  }
  void flip(std::size_t at) const {
    std::string bytes = sandbox_.read(spool_);
    bytes[at] = static_cast<char>(bytes[at] ^ 4);
    sandbox_.write(spool_, bytes);
  }
  runner::ProgramOutput run_again() const { return sandbox_.exp({"run", "tiny.toml"}); }
  /// All commands name the missing part in the same words, also later.
  void expect_missing(const runner::ProgramOutput& run, const std::string& what) const {
    EXPECT_EQ(run.end.exit_code, 1) << run.output << run.errors;
    EXPECT_TRUE(contains(run.output, "tiny completed in ")) << run.output;
    EXPECT_TRUE(contains(run.output, ", with gaps in its record")) << run.output;
    EXPECT_TRUE(contains(run.errors, "tiny is complete, but its record has gaps:")) << run.errors;
    EXPECT_TRUE(contains(run.errors, "missing   " + what)) << run.errors;
    const runner::ProgramOutput check = sandbox_.exp({"db", "check"});
    EXPECT_EQ(check.end.exit_code, 1);
    EXPECT_TRUE(contains(check.errors, "run tiny: " + what)) << check.errors;
    EXPECT_TRUE(contains(sandbox_.exp({"show", "tiny"}).output, what));
    const runner::ProgramOutput again = run_again();
    EXPECT_EQ(again.end.exit_code, 1) << "complete, but with missing records: " << again.output;
    EXPECT_TRUE(contains(again.errors, "missing   " + what)) << again.errors;
    const nlohmann::json json = nlohmann::json::parse(sandbox_.exp({"show", "tiny", "--json"}).output);
    EXPECT_TRUE(json.at("record_gaps").at(0).at("lost").get<bool>());
  }
  void expect_whole(const runner::ProgramOutput& run) const {
    EXPECT_EQ(run.end.exit_code, 0) << run.output << run.errors;
    EXPECT_FALSE(contains(run.output, "gaps")) << run.output;
    EXPECT_EQ(sandbox_.one(digests_of_run), calm_.one(digests_of_run));
    EXPECT_EQ(sandbox_.one(losses), calm_.one(losses));
    EXPECT_EQ(sandbox_.exp({"db", "check"}).end.exit_code, 0);
  }
  void expect_same_result() const {
    constexpr const char* result = "SELECT state || ' ' || (result ->> 'measures') FROM run";
    EXPECT_EQ(sandbox_.one(result), calm_.one(result));
  }

  Sandbox calm_, sandbox_;
  std::string id_, spool_;
};

TEST_F(LostRun, ADamagedByteCostsOneRecordWhichIsNamed) {
  const auto [begin, end] = frame_with("\"type\":\"digest\"");
  flip(begin + 40);
  const runner::ProgramOutput run = run_again();
  expect_missing(run, "attempt-0001.spool: bytes " + std::to_string(begin) + " to " +
                          std::to_string(end - 1) + " are damaged: record ");
  expect_same_result();
  EXPECT_EQ(sandbox_.one(losses), calm_.one(losses)) << "no point is lost";
  EXPECT_TRUE(contains(sandbox_.one("SELECT spool_problem FROM attempt WHERE ordinal = 1"), "are damaged"));
  EXPECT_EQ(sandbox_.one("SELECT first_step FROM attempt WHERE ordinal = 2"), "11")
      << "nothing is trained twice";
}

TEST_F(LostRun, RecordsThatTheNextAttemptRepeatsAreNotMissing) {
  // An event of step 11, behind the checkpoint of step 10 at which the next attempt begins.
  flip(frame_with("\"step\":11").first + 30);
  expect_whole(run_again());
  EXPECT_TRUE(contains(sandbox_.exp({"db", "check"}).output, "the database has all records"));
}

TEST_F(LostRun, ADamagedHeadCostsNothing) {
  flip(20);
  expect_whole(run_again());
  EXPECT_TRUE(contains(sandbox_.exp({"db", "check"}).output, "bytes 0 to 31 are damaged: no record is lost"));
}

TEST_F(LostRun, StepsOfASpoolThatWasCutAreNamed) {
  std::string bytes = sandbox_.read(spool_);
  bytes.resize(frame_with("\"step\":4,").first);
  sandbox_.write(spool_, bytes);
  const runner::ProgramOutput run = run_again();
  expect_missing(run, "there is no train/loss of 6 steps: 5 to 10");
  expect_same_result();
}

TEST_F(LostRun, WithoutItsSpoolTheStepsOfTheCheckpointAreMissing) {
  std::filesystem::remove(sandbox_.folder() / spool_);
  expect_missing(run_again(), "there is no train/loss of 10 steps: 1 to 10");
  expect_same_result();
}

TEST_F(LostRun, TrainedAfreshItIsWhole) {
  flip(frame_with("\"type\":\"digest\"").first + 40);
  EXPECT_EQ(run_again().end.exit_code, 1);
  sandbox_.set("FAKE_CRASH_AT", "0");
  const runner::ProgramOutput fresh = sandbox_.exp({"run", "tiny.toml", "--fresh"});
  EXPECT_EQ(fresh.end.exit_code, 0) << fresh.output << fresh.errors;
  EXPECT_EQ(run_again().end.exit_code, 0);
}

TEST_F(LostRun, AnotherRunsSpoolIsRefusedAndItsResultDoesNotBecomeThisRuns) {
  Sandbox elsewhere;
  elsewhere.write("tiny.toml", tiny_experiment());
  ASSERT_EQ(elsewhere.exp({"run", "tiny.toml", "--seed", "2", "-q"}).end.exit_code, 0);
  const std::string other = elsewhere.one("SELECT id FROM run");
  sandbox_.write(spool_, elsewhere.read("encore.db.runs/" + other + "/attempt-0001.spool"));
  const runner::ProgramOutput run = run_again();
  EXPECT_TRUE(contains(run.output + run.errors, "this is the spool of run " + other + ", not of run " + id_))
      << run.output << run.errors;
  expect_missing(run,
                 "attempt-0001.spool: byte 0: this is the spool of run " + other + ", not of run " + id_);
  expect_same_result();
  EXPECT_NE(sandbox_.one("SELECT result ->> 'measures' FROM run"),
            elsewhere.one("SELECT result ->> 'measures' FROM run"));
  EXPECT_EQ(sandbox_.one("SELECT first_step FROM attempt WHERE ordinal = 2"), "11")
      << "another run's records do not decide about its checkpoints";
  EXPECT_TRUE(contains(sandbox_.exp({"logs", "tiny"}).output, "this is the spool of run " + other));
}

TEST_F(LostRun, ASpoolOfTheOldFormatIsMergedAndContinued) {
  std::string bytes = sandbox_.read(spool_);
  bytes.erase(16, record::spool_head_bytes - 16);
  bytes[8] = 1;
  sandbox_.write(spool_, bytes);
  expect_whole(run_again());
}

}  // namespace
}  // namespace encore::system_test
