// SPDX-License-Identifier: BSD-3-Clause
// Tests the recovery from a spool (the file to which a worker appends its events; store/merge.hpp) that was
// cut or changed, as by a power cut or a bad disk: the records before the damage are merged, and the same
// command ends with the digests of an unbroken run. (merge_test in tests/unit/store checks every row after
// every cut and flip; here exp as a whole resumes from the spool.)
//
//   build/openmp/bin/tests/survival_test --gtest_also_run_disabled_tests
//   --gtest_filter='*EveryByteOf*'
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "record/spool.hpp"
#include "system/survival/unbroken.hpp"

namespace encore::system_test {
namespace {

/// Returns where each record begins, and the end of the last one.
std::vector<std::size_t> frames_of(const std::string& bytes) {
  std::vector<std::size_t> begins = {record::spool_head_bytes};
  while (begins.back() + 8 <= bytes.size()) {
    std::uint32_t length = 0;
    std::memcpy(&length, bytes.data() + begins.back(), sizeof length);
    begins.push_back(begins.back() + 8 + length);
  }
  return begins;
}

/// A run that crashed in step 12, with checkpoints of steps 5 and 10, before the control program has seen any
/// of its spool.
class CrashedRun {
 public:
  static constexpr std::int64_t checkpoint = 10;

  CrashedRun() {
    sandbox_.set("FAKE_CRASH_AT", "12");
    EXPECT_EQ(sandbox_.exp({"run", "tiny.toml"}).end.exit_code, 75);
    name_ = "encore.db.runs/" + sandbox_.one("SELECT id FROM run") + "/attempt-0001.spool";
    // The state before anything was merged, without the process.
    sandbox_.change(
        "UPDATE attempt SET state = 'running', spool_bytes = 0, spool_records = 0, first_step = NULL, pid = "
        "1, process_start = 1; UPDATE run SET state = 'running'; DELETE FROM point; DELETE FROM digest; "
        "DELETE FROM event; DELETE FROM checkpoint; DELETE FROM spool_metric; "
        "PRAGMA wal_checkpoint(TRUNCATE)");
  }

  std::string spool() const { return sandbox_.read(name_); }

  /// Copies the run with its spool cut at a byte, or with a changed bit, and gives the same command again,
  /// which must end with this exit code: 1 reports that the record has gaps.
  void go_on(const Sandbox& copy, std::size_t at, bool cut, int exit_code) const {
    std::filesystem::copy(
        sandbox_.folder(), copy.folder(),
        std::filesystem::copy_options::recursive | std::filesystem::copy_options::overwrite_existing);
    std::string bytes = spool();
    if (cut)
      bytes.resize(at);
    else
      bytes[at] = static_cast<char>(bytes[at] ^ (1 << at % 8));
    copy.write(name_, bytes);
    const runner::ProgramOutput again = copy.exp({"run", "tiny.toml"});
    ASSERT_EQ(again.end.exit_code, exit_code) << again.output << again.errors;
  }

 private:
  Sandbox sandbox_;
  std::string name_;
};

/// Damages every `stride`-th byte of its last record: nothing is missing in the end.
void expect_recovery(std::size_t stride) {
  const Sandbox calm;
  ASSERT_EQ(calm.exp({"run", "tiny.toml"}).end.exit_code, 0);
  const std::vector<std::string> unbroken = records_as_text(calm);
  const CrashedRun crashed;
  const std::vector<std::size_t> frames = frames_of(crashed.spool());
  ASSERT_EQ(frames.back(), crashed.spool().size());
  int cases = 0;
  for (std::size_t at = frames[frames.size() - 2]; at < frames.back(); at += stride) {
    for (const bool cut : {true, false}) {
      const Sandbox sandbox;
      crashed.go_on(sandbox, at, cut, 0);
      expect_same(sandbox, unbroken);
      ASSERT_FALSE(testing::Test::HasFailure()) << (cut ? "cut at " : "flipped at ") << at;
      ++cases;
    }
  }
  std::printf("%d damaged spools: all runs resumed and ended like the unbroken one\n", cases);
}

/// The same for a record in the middle: the run resumes from its newest checkpoint, which is valid. Lost is
/// the damaged record, and behind a cut all up to that checkpoint; everything else is present and correct,
/// and a spool that does not end with a whole record is called damaged.
void expect_nothing_wrong(const Sandbox& sandbox, const Sandbox& calm, bool whole) {
  const std::vector<std::string> now = records_as_text(sandbox), unbroken = records_as_text(calm);
  std::vector<std::string> wrong;
  std::set_difference(now.begin(), now.end(), unbroken.begin(), unbroken.end(), std::back_inserter(wrong));
  EXPECT_TRUE(wrong.empty()) << wrong.size() << " not in the unbroken one: " << wrong.front();
  EXPECT_EQ(records_as_text(sandbox, CrashedRun::checkpoint), records_as_text(calm, CrashedRun::checkpoint));
  EXPECT_EQ(sandbox.one("SELECT first_step FROM attempt WHERE ordinal = 2"), "11");
  EXPECT_EQ(sandbox.one("SELECT spool_problem = '' FROM attempt WHERE ordinal = 1"), whole ? "1" : "0");
  EXPECT_EQ(sandbox.one("SELECT count(*) FROM (SELECT 1 FROM current_point GROUP BY run, metric, step "
                        "HAVING count(*) > 1)"),
            "0");
}

/// Damages each of four records from the whole length of the spool: the description of the worker, a point, a
/// digest, a checkpoint.
void expect_middle(std::size_t stride) {
  const Sandbox calm;
  ASSERT_EQ(calm.exp({"run", "tiny.toml"}).end.exit_code, 0);
  const CrashedRun crashed;
  const std::string spool = crashed.spool();
  const std::vector<std::size_t> frames = frames_of(spool);
  int cases = 0;
  for (const char* part : {"\"type\":\"started\"", "", "\"type\":\"digest\"", "\"type\":\"checkpoint\""}) {
    std::size_t record = 0;
    const auto text = [&] { return spool.substr(frames[record], frames[record + 1] - frames[record]); };
    constexpr std::size_t bytes_of_a_point = 37;
    while (*part == 0 ? text().size() != bytes_of_a_point : text().find(part) == std::string::npos) {
      ++record;
      ASSERT_LT(record + 1, frames.size()) << part;
    }
    for (std::size_t at = frames[record]; at < frames[record + 1]; at += stride) {
      for (const bool cut : {true, false}) {
        const Sandbox sandbox;
        crashed.go_on(sandbox, at, cut, 1);
        expect_nothing_wrong(sandbox, calm, cut && at == frames[record]);
        ASSERT_FALSE(testing::Test::HasFailure()) << (cut ? "cut at " : "flipped at ") << at << " " << part;
        ++cases;
      }
    }
  }
  std::printf("%d spools damaged in the middle: all runs resumed, and nothing in them was wrong\n", cases);
}

TEST(SpoolDamage, ASampleOfTheLastRecord) {
  expect_recovery(31);
}
TEST(SpoolDamage, ASampleOfRecordsInTheMiddle) {
  expect_middle(211);
}
TEST(SpoolDamage, DISABLED_EveryByteOfTheLastRecordCutAndFlipped) {
  expect_recovery(1);
}
TEST(SpoolDamage, DISABLED_EveryByteOfRecordsInTheMiddleCutAndFlipped) {
  expect_middle(1);
}

}  // namespace
}  // namespace encore::system_test
