// Whatever ends exp or its worker early, the same command goes on and ends with the digests of an unbroken
// run.
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <random>
#include <thread>

#include "support/places.hpp"
#include "system/control/sandbox.hpp"
#include "system/control/small_disk.hpp"

namespace encore::system_test {
namespace {

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

constexpr const char* digests =
    "SELECT group_concat(step || ' ' || value, ', ') FROM (SELECT * FROM current_digest ORDER BY step)";
constexpr const char* points =
    "SELECT count(*) || ' ' || count(DISTINCT step) FROM curve WHERE metric = 'train/loss'";

/// Of a run that nothing disturbed.
std::string unbroken_digests() {
  static const std::string text = [] {
    const Sandbox sandbox;
    EXPECT_EQ(sandbox.exp({"run", "tiny.toml"}).end.exit_code, 0);
    return sandbox.one(digests);
  }();
  return text;
}

void expect_equal_to_unbroken(const Sandbox& sandbox) {
  EXPECT_EQ(sandbox.one("SELECT state FROM run"), "completed");
  EXPECT_EQ(sandbox.one(digests), unbroken_digests());
  EXPECT_EQ(sandbox.one(points), "20 20") << "no step is lost, none counts twice";
}

void wait_for_first_checkpoint(const Sandbox& sandbox) {
  ASSERT_TRUE(sandbox.wait_until("SELECT count(*) > 0 FROM checkpoint", "1"));
}

TEST(Interruption, CtrlCCheckpointsAndTheSameCommandGoesOn) {
  for (int signal : {SIGINT, SIGTERM, SIGHUP}) {
    Sandbox sandbox;
    sandbox.set("FAKE_STEP_MS", "70");
    const pid_t exp = sandbox.start({"run", "tiny.toml"});
    wait_for_first_checkpoint(sandbox);
    ::kill(exp, signal);
    const auto end = Sandbox::wait(exp);
    ASSERT_TRUE(end);
    EXPECT_EQ(end->exit_code, 75) << sandbox.read("output.txt");
    EXPECT_TRUE(contains(sandbox.read("output.txt"), "tiny interrupted at step "))
        << sandbox.read("output.txt");
    EXPECT_TRUE(contains(sandbox.read("output.txt"), "run the same command again"))
        << sandbox.read("output.txt");
    EXPECT_EQ(sandbox.one("SELECT state FROM run"), "interrupted");
    EXPECT_TRUE(sandbox.workers().empty());
    const ProgramOutput again = sandbox.exp({"run", "tiny.toml"});
    EXPECT_EQ(again.end.exit_code, 0) << again.errors;
    expect_equal_to_unbroken(sandbox);
  }
}

TEST(Interruption, ASecondCtrlCKillsAWorkerThatDoesNotListen) {
  Sandbox sandbox;
  sandbox.set("FAKE_STEP_MS", "100");
  sandbox.set("FAKE_STUBBORN", "1");
  const pid_t exp = sandbox.start({"run", "tiny.toml"});
  ASSERT_TRUE(sandbox.wait_until("SELECT count(*) > 0 FROM attempt WHERE started_event IS NOT NULL", "1"));
  ::kill(exp, SIGINT);
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  ::kill(exp, SIGINT);
  const auto end = Sandbox::wait(exp, 5);
  ASSERT_TRUE(end) << sandbox.read("output.txt");
  EXPECT_EQ(end->exit_code, 75);
  EXPECT_TRUE(sandbox.workers().empty());
  Sandbox calm;
  EXPECT_EQ(sandbox.exp({"run", "tiny.toml"}).end.exit_code, 0);
  expect_equal_to_unbroken(sandbox);
}

TEST(Interruption, AWorkerThatCannotBeStartedIsNothingAgainstTheRun) {
  Sandbox sandbox;
  // Taken away while the first run of two is under way, as an update of Encore might.
  sandbox.write("worker", "#!/bin/sh\n[ \"$1\" != train ] || rm -- \"$0\"\nexec " ENCORE_BUILD_DIR
                          "/bin/tests/fake-worker \"$@\"\n");
  std::filesystem::permissions(sandbox.folder() / "worker", std::filesystem::perms::owner_all);
  sandbox.write("two.toml", "base = \"tiny.toml\"\nname = \"two\"\nseeds = [1, 2]\n");
  sandbox.set("ENCORE_WORKER", (sandbox.folder() / "worker").string());
  const ProgramOutput broken = sandbox.exp({"run", "two.toml"});
  EXPECT_EQ(broken.end.exit_code, 75) << broken.output << broken.errors;
  EXPECT_TRUE(contains(broken.errors, "cannot start " + (sandbox.folder() / "worker").string()))
      << broken.errors;
  EXPECT_EQ(sandbox.one("SELECT group_concat(state) FROM (SELECT state FROM run ORDER BY seed)"),
            "completed,interrupted");
  sandbox.set("ENCORE_WORKER", ENCORE_BUILD_DIR "/bin/tests/fake-worker");
  const ProgramOutput again = sandbox.exp({"run", "two.toml"});
  EXPECT_EQ(again.end.exit_code, 0) << again.errors;
  EXPECT_EQ(sandbox.one("SELECT count(*) FROM run WHERE state = 'completed'"), "2");
}

TEST(Interruption, AKilledWorkerIsReportedWithItsSignalAndLog) {
  Sandbox sandbox;
  sandbox.set("FAKE_CRASH_AT", "7");
  const ProgramOutput output = sandbox.exp({"run", "tiny.toml"});
  EXPECT_EQ(output.end.exit_code, 75) << output.output << output.errors;
  EXPECT_TRUE(contains(output.errors, "signal 9 (Killed)")) << output.errors;
  EXPECT_TRUE(contains(output.errors, "fake worker: about to crash")) << output.errors;
  EXPECT_EQ(sandbox.one("SELECT state FROM run"), "lost");
  EXPECT_EQ(sandbox.exp({"run", "tiny.toml"}).end.exit_code, 0);
  expect_equal_to_unbroken(sandbox);
  EXPECT_EQ(sandbox.one("SELECT first_step FROM attempt WHERE ordinal = 2"), "6");
}

/// Kills exp or the worker at random moments until the run is done.
void kill_until_done(int kills, unsigned seed, bool worker) {
  Sandbox sandbox;
  sandbox.set("FAKE_STEP_MS", "4");
  std::mt19937 random(seed);
  for (int i = 0; i < kills; ++i) {
    const pid_t exp = sandbox.start({"run", "tiny.toml"});
    std::this_thread::sleep_for(std::chrono::milliseconds(10 + random() % 120));
    if (worker) {
      for (pid_t process : sandbox.workers()) ::kill(process, SIGKILL);
    } else {
      ::kill(exp, SIGKILL);
    }
    ASSERT_TRUE(Sandbox::wait(exp));
  }
  // A worker whose exp was killed ends by itself; until then its run is somebody else's.
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (!sandbox.workers().empty() && std::chrono::steady_clock::now() < deadline)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  const ProgramOutput last = sandbox.exp({"run", "tiny.toml"});
  EXPECT_EQ(last.end.exit_code, 0) << last.output << last.errors;
  expect_equal_to_unbroken(sandbox);
}

TEST(Interruption, KilledControlProgramsLoseNothing) {
  kill_until_done(4, 1, false);
}
TEST(Interruption, KilledWorkersLoseNothing) {
  kill_until_done(4, 2, true);
}
TEST(Interruption, DISABLED_TwentyKillsOfEach) {
  kill_until_done(20, 3, false);
  kill_until_done(20, 4, true);
}

TEST(Interruption, ASpoolCutInTheMiddleIsMergedAsFarAsItGoes) {
  Sandbox sandbox;
  sandbox.set("FAKE_CRASH_AT", "12");
  ASSERT_EQ(sandbox.exp({"run", "tiny.toml"}).end.exit_code, 75);
  const auto spool =
      sandbox.folder() / "encore.db.runs" / sandbox.one("SELECT id FROM run") / "attempt-0001.spool";
  std::filesystem::resize_file(spool, std::filesystem::file_size(spool) - 7);
  EXPECT_EQ(sandbox.exp({"run", "tiny.toml"}).end.exit_code, 0);
  expect_equal_to_unbroken(sandbox);
}

TEST(Interruption, ASpoolThatNobodyMergedIsMergedFirst) {
  Sandbox sandbox;
  sandbox.set("FAKE_STEP_MS", "70");
  const pid_t exp = sandbox.start({"run", "tiny.toml"});
  wait_for_first_checkpoint(sandbox);
  ::kill(exp, SIGKILL);
  ASSERT_TRUE(Sandbox::wait(exp));
  for (int i = 0; i < 500 && !sandbox.workers().empty(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_TRUE(sandbox.workers().empty()) << "a worker without its exp ends by itself";
  const ProgramOutput output = sandbox.exp({"run", "tiny.toml"});
  EXPECT_EQ(output.end.exit_code, 0) << output.errors;
  expect_equal_to_unbroken(sandbox);
}

TEST(Interruption, ARunThatIsRunningElsewhereIsLeftAlone) {
  Sandbox sandbox;
  sandbox.set("FAKE_STEP_MS", "100");
  const pid_t exp = sandbox.start({"run", "tiny.toml"});
  ASSERT_TRUE(sandbox.wait_until("SELECT count(*) > 0 FROM attempt WHERE started_event IS NOT NULL", "1"));
  const ProgramOutput second = sandbox.exp({"run", "tiny.toml"});
  EXPECT_EQ(second.end.exit_code, 0) << second.errors;
  EXPECT_TRUE(contains(second.output, "is running")) << second.output;
  EXPECT_EQ(sandbox.one("SELECT count(*) FROM attempt"), "1");
  const ProgramOutput stop = sandbox.exp({"stop", "tiny"});
  EXPECT_EQ(stop.end.exit_code, 0) << stop.errors;
  const auto end = Sandbox::wait(exp);
  ASSERT_TRUE(end);
  EXPECT_EQ(end->exit_code, 75);
  EXPECT_EQ(sandbox.one("SELECT state FROM run"), "stopped");
  sandbox.set("FAKE_STEP_MS", "1");
  EXPECT_EQ(sandbox.exp({"run", "tiny.toml"}).end.exit_code, 0);
  expect_equal_to_unbroken(sandbox);
}

TEST(Interruption, AFullDiskEndsTheAttemptAndTheSameCommandGoesOn) {
  Sandbox sandbox;
  sandbox.set("FAKE_STEP_MS", "70");
  const SmallDisk disk(sandbox.folder() / "disk");
  if (!disk.mounted) GTEST_SKIP() << "only root may mount a small file system";
  std::filesystem::create_symlink("disk/encore.db", sandbox.folder() / "encore.db");
  const std::vector<std::string> command = {"run", "tiny.toml", "--db", "disk/encore.db"};
  const pid_t exp = sandbox.start(command);
  wait_for_first_checkpoint(sandbox);
  disk.fill();
  const auto end = Sandbox::wait(exp);
  ASSERT_TRUE(end) << sandbox.read("output.txt");
  EXPECT_EQ(end->exit_code, 75) << sandbox.read("output.txt");
  EXPECT_TRUE(contains(sandbox.read("output.txt"), "run the same command again"))
      << sandbox.read("output.txt");
  disk.free();
  const ProgramOutput again = sandbox.exp(command);
  EXPECT_EQ(again.end.exit_code, 0) << again.output << again.errors;
  expect_equal_to_unbroken(sandbox);
}

TEST(Interruption, ALockedDatabaseOnlyDelaysTheRecord) {
  Sandbox sandbox;
  sandbox.set("FAKE_STEP_MS", "70");
  const pid_t exp = sandbox.start({"run", "tiny.toml"});
  wait_for_first_checkpoint(sandbox);
  const ProgramOutput lock = run_program(
      "env",
      {"-C", sandbox.folder().string(), ENCORE_BUILD_DIR "/bin/tests/lock-database", "encore.db", "1500"});
  EXPECT_TRUE(lock.end.success()) << lock.errors;
  const auto end = Sandbox::wait(exp);
  ASSERT_TRUE(end);
  EXPECT_EQ(end->exit_code, 0) << sandbox.read("output.txt");
  expect_equal_to_unbroken(sandbox);
}

}  // namespace
}  // namespace encore::system_test
