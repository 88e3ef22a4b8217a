// SPDX-License-Identifier: BSD-3-Clause
// Tests what `exp` rejects in command lines, files and databases (cli/program.hpp, config/experiment.hpp,
// store/database.hpp): exit code 2 or 1, a message with the mistake, its place and a remedy, and nothing
// started. The words may change; exit codes must stay, because scripts read them. typos_test.cpp tests
// experiment files.
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <unistd.h>

#include "support/places.hpp"
#include "system/control/sandbox.hpp"

namespace encore::system_test {
namespace {

/// Returns tiny.toml with `from` replaced by `to`.
std::string changed(const std::string& from, const std::string& to) {
  std::string text = tiny_experiment();
  text.replace(text.find(from), from.size(), to);
  return text;
}

void expect_refused(const Sandbox& sandbox, const std::vector<std::string>& arguments,
                    const std::string& message) {
  const runner::ProgramOutput output = sandbox.exp(arguments);
  EXPECT_EQ(output.end.exit_code, 2) << output.output << output.errors;
  EXPECT_TRUE(contains(output.errors, message)) << output.errors;
  EXPECT_FALSE(std::filesystem::exists(sandbox.folder() / "encore.db")) << "nothing may be written";
  EXPECT_FALSE(std::filesystem::exists(sandbox.folder() / "encore.db.runs")) << "nothing may be written";
}

TEST(Refusal, AMistypedOptionIsPointedAt) {
  const Sandbox sandbox;
  sandbox.write("typo.toml", changed("dropout = 0.1", "dropuot = 0.1"));
  expect_refused(sandbox, {"run", "typo.toml"}, "typo.toml:17:1: unknown option \"dropuot\"");
  expect_refused(sandbox, {"run", "typo.toml"}, "did you mean \"dropout\"?");
}

TEST(Refusal, AllProblemsAreShownAtOnce) {
  const Sandbox sandbox;
  std::string text = changed("layers = 1", "layers = -1");
  text.replace(text.find("batch_size = 4"), 14, "batch_sise = 4");
  sandbox.write("two.toml", text);
  const runner::ProgramOutput output = sandbox.exp({"run", "two.toml"});
  EXPECT_EQ(output.end.exit_code, 2);
  EXPECT_TRUE(contains(output.errors, "layers") && contains(output.errors, "batch_sise")) << output.errors;
}

TEST(Refusal, MissingFilesAreNamed) {
  const Sandbox sandbox;
  expect_refused(sandbox, {"run", "missing.toml"}, "missing.toml");
  sandbox.write("nodata.toml", changed("\"train.conll\"", "\"absent.conll\""));
  expect_refused(sandbox, {"run", "nodata.toml"}, "absent.conll");
}

TEST(Refusal, WhatOnlyTheWorkerKnowsHasItsPlaceToo) {
  Sandbox sandbox;
  sandbox.set("FAKE_CHECK", "model.layer.attention.heads:heads (2) must divide the width (15)");
  expect_refused(sandbox, {"run", "tiny.toml"}, "tiny.toml:21:9: heads (2) must divide the width (15)");
}

TEST(Refusal, CommandLinesThatCannotBeMeant) {
  const Sandbox sandbox;
  expect_refused(sandbox, {"rnu", "tiny.toml"}, "unknown verb \"rnu\"; did you mean \"run\"?");
  expect_refused(sandbox, {"run"}, "exp run needs an experiment file");
  expect_refused(sandbox, {"run", "tiny.toml", "--frehs"},
                 "unknown option --frehs; did you mean \"--fresh\"?");
  expect_refused(sandbox, {"run", "tiny.toml", "--backend", "cudda"},
                 "unknown backend \"cudda\"; did you mean \"cuda\"?");
  expect_refused(sandbox, {"run", "tiny.toml", "-S", "model.width"}, "model.width");
  expect_refused(sandbox, {"run", "tiny.toml", "--threads", "10000"},
                 "--threads 10000 is too many; Kokkos has room for 512");
  expect_refused(sandbox, {}, "");
}

TEST(Refusal, AWorkerThatIsNotThere) {
  Sandbox sandbox;
  sandbox.set("ENCORE_WORKER", "/nowhere/encore-worker");
  const runner::ProgramOutput output = sandbox.exp({"run", "tiny.toml"});
  EXPECT_EQ(output.end.exit_code, 2);
  EXPECT_TRUE(contains(output.errors, "/nowhere/encore-worker, which is not an executable program"))
      << output.errors;
  EXPECT_FALSE(std::filesystem::exists(sandbox.folder() / "encore.db"));
}

TEST(Refusal, ADatabaseOfAnotherProgram) {
  const Sandbox sandbox;
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open((sandbox.folder() / "encore.db").c_str(), &database), SQLITE_OK);
  ASSERT_EQ(
      sqlite3_exec(database, "CREATE TABLE mine (x); PRAGMA application_id = 5", nullptr, nullptr, nullptr),
      SQLITE_OK);
  sqlite3_close(database);
  const std::string before = sandbox.read("encore.db");
  for (const char* verb : {"ls", "status"}) {
    const runner::ProgramOutput output = sandbox.exp({verb});
    EXPECT_EQ(output.end.exit_code, 2);
    EXPECT_TRUE(contains(output.errors, "is the database of another program")) << output.errors;
  }
  EXPECT_EQ(sandbox.exp({"run", "tiny.toml"}).end.exit_code, 2);
  EXPECT_EQ(sandbox.read("encore.db"), before);
  EXPECT_FALSE(std::filesystem::exists(sandbox.folder() / "encore.db.runs"));
}

TEST(Refusal, AnEmptyDatabaseFileIsUsed) {
  const Sandbox sandbox;
  sandbox.write("encore.db", "");  // as a kill right after opening leaves it
  for (const char* verb : {"ls", "status"}) {
    const runner::ProgramOutput output = sandbox.exp({verb});
    EXPECT_EQ(output.end.exit_code, 2);
    EXPECT_TRUE(contains(output.errors, "database encore.db is empty; exp run fills it")) << output.errors;
  }
  EXPECT_EQ(sandbox.exp({"run", "tiny.toml"}).end.exit_code, 0);
}

TEST(Refusal, AnOutputThatCannotBeWritten) {
  const Sandbox sandbox;
  ASSERT_EQ(sandbox.exp({"run", "tiny.toml"}).end.exit_code, 0);
  const std::string exp = ENCORE_BUILD_DIR "/bin/exp";
  const runner::ProgramOutput full = sandbox.shell(exp + " ls --csv >/dev/full");
  EXPECT_EQ(full.end.exit_code, 1);
  EXPECT_EQ(full.errors, "exp: error writing to standard output; is the disk full?\n");
  const runner::ProgramOutput closed = sandbox.shell(exp + " run tiny.toml --fresh <&- >&- 2>&-");
  EXPECT_EQ(closed.end.exit_code, 0) << "a user who closes the output wants none";
  EXPECT_EQ(sandbox.one("SELECT count(*) FROM run WHERE state = 'completed'"), "2");
}

TEST(Refusal, ANewerDatabaseAndNoDatabase) {
  const Sandbox sandbox;
  const runner::ProgramOutput none = sandbox.exp({"show", "tiny"});
  EXPECT_EQ(none.end.exit_code, 2);
  EXPECT_TRUE(contains(none.errors, "there is no database")) << none.errors;
  ASSERT_EQ(sandbox.exp({"run", "tiny.toml"}).end.exit_code, 0);
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open((sandbox.folder() / "encore.db").c_str(), &database), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(database, "PRAGMA user_version = 99", nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(database);
  const runner::ProgramOutput newer = sandbox.exp({"run", "tiny.toml"});
  EXPECT_EQ(newer.end.exit_code, 2);
  EXPECT_TRUE(contains(newer.errors, "newer")) << newer.errors;
}

TEST(Refusal, AReadOnlyFolder) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may write everywhere";
  const Sandbox sandbox;
  std::filesystem::permissions(sandbox.folder(),
                               std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
  const runner::ProgramOutput output = sandbox.exp({"run", "tiny.toml"});
  EXPECT_EQ(output.end.exit_code, 2);
  EXPECT_TRUE(contains(output.errors, "encore.db")) << output.errors;
}

TEST(Refusal, AFolderThatCannotBeMade) {
  const Sandbox sandbox;
  sandbox.write("file", "in the way");
  const runner::ProgramOutput output = sandbox.exp({"run", "tiny.toml", "--db", "file/encore.db"});
  EXPECT_EQ(output.end.exit_code, 2);
  EXPECT_TRUE(contains(output.errors, "file")) << output.errors;
}

TEST(Refusal, ARunThatIsNotThereOrNotClear) {
  const Sandbox sandbox;
  sandbox.write("sweep.toml", tiny_experiment("sweep") + "[sweep.grid]\n\"model.dropout\" = [0.1, 0.2]\n");
  ASSERT_EQ(sandbox.exp({"run", "sweep.toml"}).end.exit_code, 0);
  const runner::ProgramOutput missing = sandbox.exp({"show", "swep"});
  EXPECT_EQ(missing.end.exit_code, 2);
  EXPECT_TRUE(contains(missing.errors, "swep")) << missing.errors;
  const runner::ProgramOutput empty = sandbox.exp({"show", ""});
  EXPECT_EQ(empty.end.exit_code, 2) << empty.output;
}

TEST(Refusal, EvaluateAndPredictNeedSensibleArguments) {
  const Sandbox sandbox;
  ASSERT_EQ(sandbox.exp({"run", "tiny.toml"}).end.exit_code, 0);
  EXPECT_EQ(sandbox.exp({"predict", "tiny", "--format", "xml", "text"}).end.exit_code, 2);
  EXPECT_EQ(sandbox.exp({"predict", "tiny", "text", "--file", "train.conll"}).end.exit_code, 2);
  const runner::ProgramOutput folder = sandbox.exp({"predict", "tiny", "--file", "."});
  EXPECT_EQ(folder.end.exit_code, 2);
  EXPECT_EQ(folder.errors, "exp: cannot read .: it is a folder; name a file\n");
  EXPECT_EQ(sandbox.exp({"predict", "tiny", "text", "--threads", "-1"}).end.exit_code, 2);
  EXPECT_EQ(sandbox.exp({"evaluate", "tiny", "test.conll", "--threads", "513"}).end.exit_code, 2);
  EXPECT_EQ(sandbox.exp({"predict"}).end.exit_code, 2);
  EXPECT_EQ(sandbox.exp({"evaluate", "tiny"}).end.exit_code, 2);
}

}  // namespace
}  // namespace encore::system_test
