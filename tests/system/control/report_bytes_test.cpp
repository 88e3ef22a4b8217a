// SPDX-License-Identifier: BSD-3-Clause
// Tests that the bytes of a report (report/report.hpp) depend on the database and the folder of its runs
// alone, and not on the day, the time zone, the locale, the working directory, or the place of the database.
// Each change of what a report shows, such as another score, must change the bytes.
#include <gtest/gtest.h>

#include "support/places.hpp"
#include "system/control/sandbox.hpp"

namespace encore::system_test {
namespace {

class ReportBytes : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string sweep = tiny_experiment("pair");
    sweep.replace(sweep.find("seed = 1"), 8, "seeds = [1, 2]");
    sandbox_.write("pair.toml", sweep + "[sweep.grid]\n\"model.dropout\" = [0.1, 0.2]\n");
    const runner::ProgramOutput ran = sandbox_.exp({"run", "pair.toml"});
    ASSERT_EQ(ran.end.exit_code, 0) << ran.output << ran.errors;
    sandbox_.change("UPDATE run SET state = 'failed', result = NULL, reason = 'why' WHERE number = 4");
    write("here", "");
  }

  /// Writes every format into the folder: `before` precedes the command, `after` follows it.
  void write(const std::string& folder, const std::string& before, const std::string& after = "",
             const std::string& from = ".") const {
    std::string lines = "set -e; top=$PWD; cd " + from + "\n";
    for (const char* file : {"r.html", "r.md", "r.tex", "r.csv", "r.json"})
      lines += before + " " ENCORE_BUILD_DIR "/bin/exp report all " + after + " -o $top/" + folder + "/" +
               file + "\n";
    const runner::ProgramOutput said = sandbox_.shell(lines);
    EXPECT_EQ(said.end.exit_code, 0) << said.errors;
  }
  std::string differences(const std::string& folder) const {
    return sandbox_.shell("diff -rq here " + folder).output;
  }

  Sandbox sandbox_;
};

TEST_F(ReportBytes, AreTheSameOnAnotherDay) {
  const runner::ProgramOutput day = sandbox_.shell("LD_PRELOAD=" OTHER_DAY " date +%s; date +%s");
  const std::size_t line = day.output.find('\n');
  ASSERT_GT(std::stoll(day.output), std::stoll(day.output.substr(line)) + 300 * 86400)
      << "the clock does go ahead";
  write("later", "LD_PRELOAD=" OTHER_DAY);
  EXPECT_EQ(differences("later"), "");
}

TEST_F(ReportBytes, AreTheSameInAnotherTimeZoneAndLocale) {
  for (const char* zone : {"Pacific/Kiritimati", "UTC+11", "Asia/Kolkata"}) {
    write("zone", std::string("TZ=") + zone);
    EXPECT_EQ(differences("zone"), "") << zone;
  }
  // A locale of this machine that writes a decimal comma, or else those that always exist.
  const std::string comma = sandbox_.shell("locale -a | grep -m1 -E '^(de|fr|es|tr)_' || true").output;
  for (const std::string& locale :
       {std::string("C"), std::string("C.UTF-8"), comma.substr(0, comma.find('\n'))}) {
    if (locale.empty()) continue;
    write("locale", "LC_ALL=" + locale);
    EXPECT_EQ(differences("locale"), "") << locale;
  }
}

TEST_F(ReportBytes, AreTheSameFromAnotherFolderAndOfACopyElsewhere) {
  sandbox_.shell("mkdir -p deep/er copies");
  write("from", "", "--db $top/encore.db", "deep/er");
  EXPECT_EQ(differences("from"), "");
  const runner::ProgramOutput copied =
      sandbox_.shell("ls -d encore.db* && cp -r encore.db* copies && ls -R copies");
  ASSERT_EQ(copied.end.exit_code, 0) << copied.errors;
  write("copied", "", "--db $top/copies/encore.db", "/");
  EXPECT_EQ(differences("copied"), "");
}

TEST_F(ReportBytes, AreOthersWhenAnythingThatIsShownChanges) {
  for (const char* change :
       {"INSERT INTO point (run, metric, step, attempt, value) SELECT run, metric, max(step) + 1, attempt, "
        "0.5 FROM point "
        "WHERE run = 1 GROUP BY metric",
        "UPDATE run SET finished = finished + 1; UPDATE attempt SET finished = finished + 1",
        "UPDATE run SET reason = 'another' WHERE number = 4"}) {
    sandbox_.change(change);
    write("changed", "");
    const std::string found = differences("changed");
    EXPECT_NE(found.find("r.html"), std::string::npos) << change;
    EXPECT_NE(found.find("r.json"), std::string::npos) << change;
    write("here", "");
  }
}

TEST(ReportOfNothing, IsRefusedAndWritesNothing) {
  Sandbox sandbox;
  const auto refused = [&](const std::vector<std::string>& arguments, const std::string& message) {
    const runner::ProgramOutput said = sandbox.exp(arguments);
    EXPECT_EQ(said.end.exit_code, 2) << said.output;
    EXPECT_NE(said.errors.find(message), std::string::npos) << said.errors;
  };
  refused({"report", "all", "-o", "r.html"}, "encore.db");
  ASSERT_EQ(sandbox.exp({"run", "tiny.toml"}).end.exit_code, 0);
  refused({"report", "tniy", "-o", "r.html"}, "did you mean \"tiny\"?");
  // No user can write here, not even root.
  refused({"report", "all", "-o", "/proc/r.html"}, "/proc/r.html");
  refused({"report", "all", "-o", "/proc/nothing/r.html"}, "cannot make the folder");
  sandbox.write("bad/report.css", "a { color: {{blue}}; }");
  refused({"report", "all", "-o", "r.html", "--template", "bad"},
          "bad/report.css:1: unknown placeholder \"{{blue}}\"");
  EXPECT_EQ(sandbox.shell("ls | grep -c '^r[.]' || true").output, "0\n");
  // A missing folder is made, and an existing file is replaced.
  EXPECT_EQ(sandbox.exp({"report", "all", "-o", "new/folder/r.html"}).end.exit_code, 0);
  sandbox.write("new/folder/r.html", "old");
  EXPECT_EQ(sandbox.exp({"report", "all", "-o", "new/folder/r.html"}).end.exit_code, 0);
  EXPECT_TRUE(sandbox.read("new/folder/r.html").starts_with("<!doctype html>"));
}

}  // namespace
}  // namespace encore::system_test
