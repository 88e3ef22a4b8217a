// SPDX-License-Identifier: BSD-3-Clause
// Tests `exp diff`, `exp compare` and `exp explain` with the scripted worker (cli/diff_verb.cpp,
// cli/compare_verb.cpp, cli/explain_verb.cpp): what they print and what they reject. The printed words may
// change; members of JSON and columns of CSV must stay.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "system/control/pair.hpp"

namespace encore::system_test {
namespace {

/// A sweep of two dropouts with three seeds each.
class ComparingVerbs : public Pair {
 protected:
  static void SetUpTestSuite() { train("[1, 2, 3]"); }
};

TEST_F(ComparingVerbs, DiffShowsOnlyWhatDiffers) {
  const std::string text = output_of({"diff", "pair-dropout=0.1-s1", "pair-dropout=0.2-s1"});
  EXPECT_TRUE(contains(text, "two questions")) << text;
  EXPECT_TRUE(contains(text, "model.dropout  0.1  (pair.toml:")) << text;
  EXPECT_FALSE(contains(text, "model.width")) << text;
  const nlohmann::json json =
      nlohmann::json::parse(output_of({"diff", "pair-dropout=0.1-s1", "pair-dropout=0.1-s3", "--json"}));
  ASSERT_EQ(json.at("differences").size(), 1u) << json;
  EXPECT_EQ(json.at("differences").at(0).at("key"), "seed");
  EXPECT_EQ(json.at("differences").at(0).at("b"), 3);
  EXPECT_TRUE(contains(output_of({"diff", "pair-dropout=0.1-s1", "pair-dropout=0.1-s1"}), "nothing differs"));
  expect_refused({"diff", "pair-dropout=0.1-s1"}, "exp diff needs two runs");
  expect_refused({"diff", "pair-dropout=0.1-s1", "absent"}, "there is no run \"absent\"");
}

TEST_F(ComparingVerbs, CompareAsTableJsonAndCsv) {
  const std::string table = output_of({"compare", "pair"});
  for (const char* part : {"   DROPOUT  RUNS", "A  0.1", "B  0.2", "pair-dropout=0.1", "A - B", "paired t",
                           "95 % BY BOOTSTRAP", "no test on examples"})
    EXPECT_TRUE(contains(table, part)) << part << '\n' << table;
  EXPECT_EQ(output_of({"compare", "pair"}), table) << "the draws are those of a counter";
  const nlohmann::json json =
      nlohmann::json::parse(output_of({"compare", "pair-dropout=0.1", "*0.2*", "--json"}));
  ASSERT_EQ(json.at("candidates").size(), 2u);
  EXPECT_EQ(json.at("candidates").at(0).at("n"), 3);
  EXPECT_EQ(json.at("candidates").at(1).at("letter"), "B");
  EXPECT_EQ(json.at("candidates").at(1).at("options").at("dropout"), "0.2");
  EXPECT_EQ(json.at("pairs").at(0).at("shared_seeds"), 3);
  EXPECT_TRUE(
      output_of({"compare", "pair", "--csv"}).starts_with("candidate,group,backend,metric,runs,n,mean,"));
  EXPECT_TRUE(output_of({"compare", "pair", "--csv", "--pairs"}).starts_with("a,b,metric,difference,"));
  EXPECT_TRUE(contains(output_of({"compare", "pair-dropout=0.1"}), "there is only one candidate"));
  EXPECT_TRUE(contains(output_of({"compare", "pair-dropout=0.1"}), "CANDIDATE         RUNS"));
  // One run each: the seed distinguishes them, and the reason for the missing test is printed once.
  const std::string single = output_of({"compare", "pair-dropout=0.1", "--by", "run"});
  EXPECT_TRUE(contains(single, "   SEED  RUNS")) << single;
  EXPECT_TRUE(contains(single, "No test of A and B, A and C: ")) << single;
}

TEST_F(ComparingVerbs, CompareRefuses) {
  expect_refused({"compare"}, "exp compare needs a run, a pattern, a sweep");
  expect_refused({"compare", "pari"}, "there is no run \"pari\", and no sweep of that name");
  expect_refused({"compare", "pari"}, "did you mean \"pair\"?");
  expect_refused({"compare", "pair", "--metric", "test/f2"}, "did you mean \"test/f1\"?");
  expect_refused({"compare", "pair", "--metric", ""}, "--metric needs a name");
  expect_refused({"compare", "pair", "--by", "groups"}, "did you mean \"group\"?");
  expect_refused({"compare", "pair", "--detect", "0"}, "invalid --detect: expected a number above 0");
  expect_refused({"compare", "pair", "--json", "--csv"}, "--json and --csv exclude each other");
  expect_refused({"compare", "pair", "--pairs"}, "--pairs needs --csv");
}

TEST_F(ComparingVerbs, ExplainARun) {
  const std::string text = output_of({"explain", "pair-dropout=0.1-s1"});
  EXPECT_TRUE(contains(text, sandbox_->one("SELECT question FROM run WHERE name = 'pair-dropout=0.1-s1'")));
  EXPECT_TRUE(
      contains(text, "differs in one field from the nearest run of another group, pair-dropout=0.2-s1"))
      << text;
  EXPECT_TRUE(contains(text, "replicates  2 ")) << text;
  expect_refused({"explain", "absent"}, "there is no run \"absent\"");
  expect_refused({"explain"}, "exp explain needs a run or an experiment file");
}

TEST_F(ComparingVerbs, ExplainAFile) {
  EXPECT_TRUE(contains(output_of({"explain", "pair.toml"}), "has the same question and is complete since"));
  const nlohmann::json json = nlohmann::json::parse(
      output_of({"explain", "pair.toml", "-S", "optimizer.learning_rate=0.02", "--json"}));
  ASSERT_EQ(json.at("runs").size(), 6u);
  const nlohmann::json& run = json.at("runs").at(0);
  EXPECT_EQ(run.at("action"), "start");
  ASSERT_EQ(run.at("differences").size(), 1u) << run;
  EXPECT_EQ(run.at("differences").at(0).at("key"), "optimizer.learning_rate");
  EXPECT_EQ(run.at("differences").at(0).at("a"), 0.01);
  EXPECT_EQ(run.at("differences").at(0).at("origin_b"), "-S optimizer.learning_rate=0.02") << run;
  EXPECT_EQ(run.at("nearest"), "pair-dropout=0.1-s1");
  expect_refused({"explain", "absent.toml"}, "absent.toml");
}

/// A word that names both a run and a file means the run, as for exp serve; ./WORD and NAME.toml mean the
/// file.
TEST(ExplainAFile, ARunComesBeforeAFileOfItsName) {
  Sandbox sandbox;
  EXPECT_EQ(sandbox.exp({"run", "tiny.toml"}).end.exit_code, 0);
  sandbox.write("tiny", sandbox.read("tiny.toml"));
  sandbox.write("other", sandbox.read("tiny.toml"));
  EXPECT_TRUE(contains(sandbox.exp({"explain", "tiny"}).output, "it is the only run of this database"));
  EXPECT_TRUE(contains(sandbox.exp({"explain", "./tiny"}).output, "tiny  skip: "));
  EXPECT_TRUE(contains(sandbox.exp({"explain", "other"}).output, "tiny  skip: ")) << "no run has this name";
}

TEST(ExplainAFile, SaysWhyARunIsNewResumesOrIsRetried) {
  Sandbox sandbox;
  const auto explained = [&] { return sandbox.exp({"explain", "tiny.toml"}).output; };
  EXPECT_TRUE(contains(explained(), "tiny  start: there is no database yet")) << explained();
  sandbox.set("FAKE_FAIL_AT", "7");
  EXPECT_EQ(sandbox.exp({"run", "tiny.toml"}).end.exit_code, 1);
  EXPECT_TRUE(contains(explained(), "tiny  retry: tiny (")) << explained();
  EXPECT_TRUE(contains(explained(), "the loss is not finite); it resumes from its checkpoint of step "))
      << explained();
  sandbox.set("FAKE_FAIL_AT", "-1");
  EXPECT_EQ(sandbox.exp({"run", "tiny.toml"}).end.exit_code, 0);
  EXPECT_TRUE(contains(explained(), "tiny  skip: ")) << explained();
  EXPECT_TRUE(contains(sandbox.exp({"explain", "tiny.toml", "--fresh"}).output,
                       "--fresh trains it again as a new repeat"));
  EXPECT_TRUE(contains(sandbox.exp({"explain", "tiny"}).output, "it is the only run of this database"));
}

}  // namespace
}  // namespace encore::system_test
