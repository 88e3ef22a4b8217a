// A spool that was cut or changed, as a power cut or a bad disk leaves it: what is whole before the damage is
// merged, and the same command ends with the digests of an unbroken run. (merge_test in
// tests/unit/store looks at every row after every cut and flip; here exp as a whole goes on from it.)
//
//   build/openmp/bin/tests/survival_test --gtest_also_run_disabled_tests
//   --gtest_filter='*EveryByteOfTheLast*'
#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>

#include "system/survival/unbroken.hpp"

namespace encore::system_test {
namespace {

/// Where each record begins, and the end.
std::vector<std::size_t> frames_of(const std::string& bytes) {
  std::vector<std::size_t> begins = {16};
  while (begins.back() + 8 <= bytes.size()) {
    std::uint32_t length = 0;
    std::memcpy(&length, bytes.data() + begins.back(), sizeof length);
    begins.push_back(begins.back() + 8 + length);
  }
  return begins;
}

/// Cuts the spool of a run that crashed at every `stride`-th byte of its last record, and flips a bit in each
/// of those; before the control program has seen any of it.
void expect_recovery(std::size_t stride) {
  Sandbox calm;
  ASSERT_EQ(calm.exp({"run", "tiny.toml"}).end.exit_code, 0);
  const std::vector<std::string> unbroken = told(calm);

  Sandbox crashed;
  crashed.set("FAKE_CRASH_AT", "12");
  ASSERT_EQ(crashed.exp({"run", "tiny.toml"}).end.exit_code, 75);
  const std::string id = crashed.one("SELECT id FROM run");
  const std::string name = "encore.db.runs/" + id + "/attempt-0001.spool";
  const std::string whole = crashed.read(name);
  const std::vector<std::size_t> frames = frames_of(whole);
  ASSERT_EQ(frames.back(), whole.size());
  // As it was before anything was merged, with the process gone.
  crashed.change(
      "UPDATE attempt SET state = 'running', spool_bytes = 0, spool_records = 0, first_step = NULL, pid = 1, "
      "process_start = 1; UPDATE run SET state = 'running'; DELETE FROM point; DELETE FROM digest; "
      "DELETE FROM event; DELETE FROM checkpoint; DELETE FROM spool_metric; "
      "PRAGMA wal_checkpoint(TRUNCATE)");
  int cases = 0;
  for (std::size_t at = frames[frames.size() - 2]; at < whole.size(); at += stride) {
    for (const bool cut : {true, false}) {
      const Sandbox sandbox;
      std::filesystem::copy(
          crashed.folder(), sandbox.folder(),
          std::filesystem::copy_options::recursive | std::filesystem::copy_options::overwrite_existing);
      std::string bytes = cut ? whole.substr(0, at) : whole;
      if (!cut) bytes[at] = static_cast<char>(bytes[at] ^ (1 << at % 8));
      sandbox.write(name, bytes);
      const ProgramOutput again = sandbox.exp({"run", "tiny.toml"});
      ASSERT_EQ(again.end.exit_code, 0) << at << again.output << again.errors;
      expect_same(sandbox, unbroken);
      ASSERT_FALSE(testing::Test::HasFailure()) << (cut ? "cut at " : "flipped at ") << at;
      ++cases;
    }
  }
  std::printf("%d damaged spools: all runs went on and ended like the unbroken one\n", cases);
}

TEST(SpoolDamage, ASampleOfTheLastRecord) {
  expect_recovery(31);
}
TEST(SpoolDamage, DISABLED_EveryByteOfTheLastRecordCutAndFlipped) {
  expect_recovery(1);
}

}  // namespace
}  // namespace encore::system_test
