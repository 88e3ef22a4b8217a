// SPDX-License-Identifier: BSD-3-Clause
// Tests what `exp` reports if the database or the folder of a run disappears while the run trains
// (runner/recorder.hpp), or if a spool cannot be read: the messages must be true. If you change their words,
// change them here too. The scripted worker is held in a step meanwhile, or does not end by itself.
#include <gtest/gtest.h>
#include <signal.h>

#include "support/places.hpp"
#include "system/control/hold.hpp"

namespace encore::system_test {
namespace {

void remove_database(const Sandbox& sandbox) {
  for (const char* suffix : {"", "-wal", "-shm"})
    std::filesystem::remove((sandbox.folder() / "encore.db").string() + suffix);
}

void expect_not_called_complete(const std::string& said) {
  EXPECT_TRUE(contains(said, "tiny finished training in ")) << said;
  EXPECT_TRUE(
      contains(said, "but its end is not recorded: database encore.db was moved, removed or replaced"))
      << said;
  EXPECT_FALSE(contains(said, "tiny completed")) << said;
  EXPECT_FALSE(contains(said, "  stored ")) << said;
}

TEST(LostFiles, ARunIsNotCalledCompleteOrStoredInADatabaseThatIsGone) {
  Sandbox sandbox;
  Hold hold(sandbox, 7);
  const pid_t exp = sandbox.start({"run", "tiny.toml"});
  hold.wait_for();
  ASSERT_TRUE(sandbox.wait_until("SELECT count(*) > 0 FROM checkpoint", "1"));
  const std::string folder = "encore.db.runs/" + sandbox.one("SELECT id FROM run");
  remove_database(sandbox);
  hold.release();
  const auto end = Sandbox::wait(exp);
  ASSERT_TRUE(end);
  EXPECT_EQ(end->exit_code, 75);
  const std::string said = sandbox.read("output.txt");
  expect_not_called_complete(said);
  EXPECT_TRUE(contains(said, "  folder    " + folder + ", with every record")) << said;
  EXPECT_TRUE(contains(sandbox.read(folder + "/attempt-0001.spool"), "\"completed\""))
      << "the worker has completed";
}

TEST(LostFiles, TheSummaryOfASweepReportsWhatIsNotRecorded) {
  Sandbox sandbox;
  Hold hold(sandbox, 7);
  sandbox.write("sweep.toml", tiny_experiment("s") + "[sweep.grid]\n\"model.dropout\" = [0.1, 0.2]\n");
  const pid_t exp = sandbox.start({"run", "sweep.toml"});
  ASSERT_TRUE(sandbox.wait_until("SELECT count(*) > 0 FROM checkpoint", "1"));
  remove_database(sandbox);
  hold.release();
  const auto end = Sandbox::wait(exp);
  ASSERT_TRUE(end);
  EXPECT_EQ(end->exit_code, 75);
  const std::string said = sandbox.read("output.txt");
  EXPECT_TRUE(contains(said, "s-dropout=0.1-s1 has ended, but its end is not recorded")) << said;
  EXPECT_FALSE(contains(said, "completed")) << said;
  EXPECT_FALSE(contains(said, "running")) << said;
}

TEST(LostFiles, ASpoolThatCannotBeReadCostsItsOwnRunAlone) {
  Sandbox sandbox;
  Hold hold(sandbox, 7);
  sandbox.write("sweep.toml", tiny_experiment("s") + "[sweep.grid]\n\"model.dropout\" = [0.1, 0.2]\n");
  const pid_t first = sandbox.start({"run", "sweep.toml"});
  ASSERT_TRUE(sandbox.wait_until("SELECT count(*) > 0 FROM checkpoint", "1"));
  ::kill(first, SIGINT);
  hold.release();
  ASSERT_TRUE(Sandbox::wait(first));
  const std::string begun = sandbox.one("SELECT id FROM run WHERE name = 's-dropout=0.1-s1'");
  std::filesystem::create_directory(sandbox.folder() / "encore.db.runs" / begun / "attempt-0002.spool");
  const runner::ProgramOutput again = sandbox.exp({"run", "sweep.toml", "-j", "2"});
  EXPECT_NE(again.end.exit_code, 0);
  EXPECT_TRUE(contains(again.output + again.errors, "attempt-0002.spool")) << again.output << again.errors;
  EXPECT_EQ(sandbox.one("SELECT state FROM run WHERE id <> '" + begun + "'"), "completed");
  EXPECT_NE(sandbox.one("SELECT state FROM run WHERE id = '" + begun + "'"), "completed");
}

/// Trains until it is stopped, with a checkpoint every few steps.
void write_endless_run(const Sandbox& sandbox) {
  std::string text = tiny_experiment();
  text.replace(text.find("epochs = 4"), 10, "epochs = 1000000\ncheckpoint_every = 3");
  sandbox.write("tiny.toml", text);
}

TEST(LostFiles, ARunWhoseFolderIsGoneSaysSoAndBeginsAgain) {
  if (!std::filesystem::exists(ENCORE_BUILD_DIR "/bin/encore-worker"))
    GTEST_SKIP() << "this build has no worker";
  const Sandbox sandbox(true);
  write_endless_run(sandbox);
  const pid_t exp = sandbox.start({"run", "tiny.toml"});
  ASSERT_TRUE(sandbox.wait_until("SELECT count(*) > 0 FROM checkpoint", "1"));
  const std::filesystem::path folder =
      sandbox.folder() / "encore.db.runs" / sandbox.one("SELECT id FROM run");
  std::filesystem::rename(folder, sandbox.folder() / "elsewhere");
  const auto end = Sandbox::wait(exp);
  ASSERT_TRUE(end);
  EXPECT_EQ(end->exit_code, 75);
  const std::string said = sandbox.read("output.txt");
  EXPECT_TRUE(contains(said, folder.string() + ", or its file lease, was moved or removed while the run was "
                                               "trained; this attempt ends without a checkpoint"))
      << said;
  EXPECT_TRUE(contains(said, "run the same command again; it starts again, because it has no checkpoint yet"))
      << said;
  EXPECT_FALSE(contains(said, "another attempt")) << said;
  EXPECT_FALSE(std::filesystem::exists(folder)) << "it is not made again, half empty";
  EXPECT_EQ(sandbox.one("SELECT state FROM run"), "interrupted");

  const pid_t again = sandbox.start({"run", "tiny.toml"}, "again.txt");
  ASSERT_TRUE(sandbox.wait_until("SELECT first_step FROM attempt WHERE ordinal = 2", "1"));
  ::kill(again, SIGINT);
  const auto stopped = Sandbox::wait(again);
  ASSERT_TRUE(stopped);
  EXPECT_EQ(stopped->exit_code, 75) << sandbox.read("again.txt");
}

}  // namespace
}  // namespace encore::system_test
