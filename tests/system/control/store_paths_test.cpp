// SPDX-License-Identifier: BSD-3-Clause
// Tests a database of another person (store/run_columns.hpp, store/garbage.hpp and their callers): ids of
// runs and names of files in it must lead to no file outside the folders of runs, with any verb. SECURITY.md
// promises this.
#include <gtest/gtest.h>

#include "base/sha256.hpp"
#include "system/control/sandbox.hpp"

namespace encore::system_test {
namespace {

/// A complete run "tiny", a valid run "other", and a folder that belongs to neither.
class ChangedDatabase : public ::testing::Test {
 protected:
  void SetUp() override {
    sandbox_.set("FAKE_STEP_MS", "0");
    sandbox_.write("other.toml", tiny_experiment("other") + "[sweep.grid]\n\"model.dropout\" = [0.3]\n");
    ASSERT_EQ(sandbox_.exp({"run", "other.toml", "-q"}).end.exit_code, 0);
    ASSERT_EQ(sandbox_.exp({"run", "tiny.toml", "-q"}).end.exit_code, 0);
    sandbox_.write("victim/notes.txt", secret);
    sandbox_.write("victim/checkpoints/step-00000001.safetensors", secret);
    sandbox_.write("victim/checkpoints/step-00000002.safetensors", secret);
    before_ = files();
  }
  /// Returns every file below the sandbox except those of the database.
  std::string files() const {
    std::string names;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(sandbox_.folder()))
      if (entry.is_regular_file() && !entry.path().filename().string().starts_with("encore.db") &&
          !contains(entry.path(), "/cache/"))
        names += entry.path().string() + "\n";
    return names;
  }
  std::string victim() const { return (sandbox_.folder() / "victim").string(); }

  static constexpr const char* secret =
      "{\"words\": [\"precious\"], \"truth\": [\"O\"], \"predicted\": [\"O\"]}\n";
  Sandbox sandbox_;
  std::string before_;
};

TEST_F(ChangedDatabase, AnInvalidIdIsRejectedByEveryVerbAndNothingIsTouched) {
  const std::string original = sandbox_.one("SELECT id FROM run WHERE name = 'tiny'");
  const std::vector<std::pair<std::string, std::string>> ids = {
      {"'" + victim() + "'", victim()}, {"'..'", ".."},   {"''", ""},
      {"'../victim'", "../victim"},     {"'a/b'", "a/b"}, {"CAST(x'2e2e002f' AS TEXT)", "..\\u0000/"}};
  const std::vector<std::vector<std::string>> verbs = {{"rm", "--purge", "-y", "tiny"},
                                                       {"gc", "-y"},
                                                       {"gc", "--dry-run"},
                                                       {"show", "tiny"},
                                                       {"show", "tiny", "--json"},
                                                       {"logs", "tiny"},
                                                       {"verify", "tiny"},
                                                       {"predict", "tiny", "Anna"},
                                                       {"evaluate", "tiny", "test.conll"},
                                                       {"dump", "all", "--tensorboard", "-o", "boards"}};
  for (const auto& [sql, text] : ids) {
    sandbox_.change("UPDATE run SET id = " + sql + " WHERE name = 'tiny'");
    for (const auto& verb : verbs) {
      const runner::ProgramOutput output = sandbox_.exp(verb);
      EXPECT_EQ(output.end.exit_code, 2) << verb[0] << ' ' << sql << output.output << output.errors;
      EXPECT_TRUE(contains(output.errors, "database encore.db holds a run with the id \"" + text + "\""))
          << verb[0] << ' ' << sql << output.output << output.errors;
    }
    std::filesystem::remove_all(sandbox_.folder() / "boards");  // the honest run's
    EXPECT_EQ(files(), before_) << sql;
    EXPECT_EQ(sandbox_.one("SELECT count(*) FROM run"), "2") << sql;
    const runner::ProgramOutput check = sandbox_.exp({"db", "check"});
    EXPECT_EQ(check.end.exit_code, 1);
    EXPECT_TRUE(contains(check.errors, "run tiny: database encore.db holds a run with the id"))
        << check.errors;
  }
  EXPECT_EQ(sandbox_.exp({"ls"}).end.exit_code, 0) << "verbs that make no path still work";
  EXPECT_EQ(sandbox_.exp({"rm", "tiny"}).end.exit_code, 0);
}

TEST_F(ChangedDatabase, ARunWithAnInvalidIdIsNotResumed) {
  sandbox_.change("UPDATE run SET id = '../victim', state = 'interrupted' WHERE name = 'tiny'");
  const runner::ProgramOutput run = sandbox_.exp({"run", "tiny.toml"});
  EXPECT_EQ(run.end.exit_code, 2) << run.output << run.errors;
  EXPECT_TRUE(contains(run.errors, "holds a run with the id \"../victim\"")) << run.errors;
  EXPECT_EQ(files(), before_);
}

TEST_F(ChangedDatabase, PathsOfCheckpointsLeadNowhereElse) {
  const std::string step = sandbox_.one("SELECT max(step) FROM checkpoint");
  for (const std::string& path : {std::string("../../victim/notes.txt"), victim() + "/notes.txt"}) {
    sandbox_.change("UPDATE checkpoint SET path = '" + path + "', sha256 = '" +
                    sha256_of_file(sandbox_.folder() / "victim/notes.txt") + "'");
    for (const std::vector<std::string>& verb :
         {std::vector<std::string>{"show", "tiny"}, {"verify", "tiny", "--from-checkpoint", step}}) {
      const runner::ProgramOutput output = sandbox_.exp(verb);
      EXPECT_EQ(output.end.exit_code, 2) << verb[0] << output.output;
      EXPECT_TRUE(contains(output.errors, "leads out of the folder")) << verb[0] << output.errors;
    }
    const runner::ProgramOutput check = sandbox_.exp({"db", "check"});
    EXPECT_EQ(check.end.exit_code, 1);
    EXPECT_TRUE(contains(check.errors, "run tiny: the file name ") &&
                contains(check.errors, "leads out of the folder"))
        << check.errors;
    EXPECT_EQ(files(), before_);
  }
}

TEST_F(ChangedDatabase, PathsOfPredictionsLeadNowhereElse) {
  for (const std::string& path : {std::string("../../victim/notes.txt"), victim() + "/notes.txt"}) {
    sandbox_.change(
        "DELETE FROM artifact; INSERT INTO artifact (run, name, attempt, path, sha256, created) SELECT "
        "run.number, 'predictions/test.jsonl', attempt.number, '" +
        path + "', '" + sha256_of_file(sandbox_.folder() / "victim/notes.txt") +
        "', 0 FROM run JOIN attempt ON attempt.run = run.number");
    const runner::ProgramOutput report = sandbox_.exp({"report", "all", "--format", "json"});
    EXPECT_FALSE(contains(report.output + report.errors, "precious")) << report.output;
    const runner::ProgramOutput check = sandbox_.exp({"db", "check"});
    EXPECT_EQ(check.end.exit_code, 1);
    EXPECT_TRUE(contains(check.errors, "leads out of the folder")) << check.errors;
    EXPECT_EQ(files(), before_);
  }
}

TEST_F(ChangedDatabase, AReportOfARunWithoutAnIdReadsNoFile) {
  sandbox_.change("UPDATE run SET id = '../victim' WHERE name = 'tiny'");
  const runner::ProgramOutput report = sandbox_.exp({"report", "all", "--format", "json"});
  EXPECT_FALSE(contains(report.output + report.errors, "precious")) << report.output;
  EXPECT_EQ(files(), before_);
}

}  // namespace
}  // namespace encore::system_test
