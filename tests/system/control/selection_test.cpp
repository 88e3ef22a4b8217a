// SPDX-License-Identifier: BSD-3-Clause
// Tests the selection of runs (store/selection.hpp, app/run_selection.hpp): names, patterns, sweeps, --state,
// --tag, --where and --best for every verb that takes runs, and which of a verb's messages comes first.
// Scripts select runs by these words and options, so their meaning must stay.
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <fstream>
#include <regex>

#include <nlohmann/json.hpp>

#include "support/places.hpp"
#include "system/control/pair.hpp"

namespace encore::system_test {
namespace {

/// A sweep of two dropouts with two seeds each. Tests that change something restore it.
class Selecting : public Pair {
 protected:
  static void SetUpTestSuite() { train("[1, 2]"); }

  static std::vector<std::string> names(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "ls");
    arguments.push_back("--json");
    std::vector<std::string> found;
    for (const nlohmann::json& run : nlohmann::json::parse(output_of(arguments)))
      found.push_back(run.at("name"));
    return found;
  }
  static std::string best() {
    return sandbox_->one(
        "SELECT name FROM run ORDER BY result ->> '$.measures.\"dev/f1\"' DESC, number LIMIT 1");
  }
  static std::size_t count(const std::string& text, const std::string& part) {
    std::size_t found = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
    return found;
  }
};

/// Selects the two runs of the sweep "pair" with dropout 0.2.
const std::vector<std::string> with_high_dropout = {"pair", "--where", "model.dropout > 0.15"};

std::vector<std::string> with(const std::string& verb, std::vector<std::string> selection,
                              const std::vector<std::string>& more = {}) {
  selection.insert(selection.begin(), verb);
  selection.insert(selection.end(), more.begin(), more.end());
  return selection;
}

TEST_F(Selecting, LsTakesWordsOptionsAndSorts) {
  EXPECT_EQ(names({}).size(), 4u);
  EXPECT_EQ(names(with_high_dropout),
            (std::vector<std::string>{"pair-dropout=0.2-s2", "pair-dropout=0.2-s1"}));
  EXPECT_EQ(names({"*-s1", "--sweep", "pair"}).size(), 2u);
  EXPECT_EQ(names({"--best", "dev/f1"}), std::vector<std::string>{best()});
  const std::vector<std::string> rising = names({"--sort", "dev/f1", "-r"}),
                                 falling = names({"--sort", "dev/f1"});
  // The scores of the scripted worker depend on the seed only, so both runs with the best seed come first.
  const std::string seed = best().substr(best().rfind("-s"));
  EXPECT_TRUE(falling.front().ends_with(seed) && rising.back().ends_with(seed)) << falling.front();
  EXPECT_FALSE(falling.back().ends_with(seed) || rising.front().ends_with(seed)) << falling.back();
  EXPECT_EQ(names({"--sort", "model.dropout"}).front().substr(0, 16), "pair-dropout=0.1");
  EXPECT_EQ(names({"--sort", "name", "-n", "1"}), std::vector<std::string>{"pair-dropout=0.1-s1"});
  EXPECT_EQ(names({"--reverse"}).front(), "pair-dropout=0.1-s1") << "the oldest first";
  EXPECT_TRUE(contains(output_of({"ls", "--sort", "name", "-n", "1"}),
                       "the first 1 by name of 4 runs: -n N shows N"));
  expect_refused({"ls", "--sort", "dev/f11"}, "unknown column --sort \"dev/f11\"; did you mean \"dev/f1\"?");
  expect_refused({"ls", "--column", "model.dropuot"},
                 "unknown column --column \"model.dropuot\"; did you mean \"model.dropout\"?");
  expect_refused({"ls", "pari"},
                 "there is no run \"pari\", and no sweep of that name, in encore.db; did you mean \"pair\"?");
}

TEST_F(Selecting, LsOfASweepHasAColumnForEachVariedOption) {
  const std::string table = output_of({"ls", "pair"});
  EXPECT_TRUE(std::regex_search(table, std::regex("STATE +DROPOUT +SEED +DEV F1 +TEST F1"))) << table;
  EXPECT_TRUE(std::regex_search(table, std::regex("pair-dropout=0.2-s1 .*completed +0.2 +1 "))) << table;
  EXPECT_FALSE(contains(output_of({"ls"}), "DROPOUT")) << "runs of many sweeps would have too many";
  EXPECT_TRUE(contains(output_of({"ls", "--varied"}), "DROPOUT"));
  const std::string one =
      output_of({"ls", "--sweep", "pair", "--where", "seed = 1", "--column", "train/loss"});
  EXPECT_TRUE(std::regex_search(one, std::regex("DROPOUT +TRAIN LOSS +DEV F1")))
      << one << "the seed is the same";
  const nlohmann::json json = nlohmann::json::parse(output_of({"ls", "pair", "--json"}));
  EXPECT_EQ(json.at(0).at("columns"), nlohmann::json({{"model.dropout", 0.2}, {"seed", 2}}));
  EXPECT_EQ(json.at(0).at("score").at("select"), "max dev/f1");
  EXPECT_EQ(json.at(0).at("score").at("best"), json.at(0).at("dev/f1"));
  EXPECT_TRUE(contains(output_of({"ls", "pair", "--csv"}), ",created,select,best,latest,model.dropout\r\n"));
}

TEST_F(Selecting, ShowExplainDumpAndReportTakeSeveral) {
  const nlohmann::json one = nlohmann::json::parse(output_of({"show", best(), "--json"}));
  EXPECT_EQ(nlohmann::json::parse(output_of({"show", "--best", "dev/f1", "--json"})), one);
  const nlohmann::json list = nlohmann::json::parse(output_of(with("show", with_high_dropout, {"--json"})));
  ASSERT_EQ(list.size(), 2u);
  EXPECT_EQ(list.at(0).at("name"), "pair-dropout=0.2-s1") << "the oldest first";
  EXPECT_EQ(nlohmann::json::parse(output_of(with("dump", with_high_dropout, {"--json"}))), list);
  EXPECT_EQ(count(output_of(with("show", with_high_dropout)), "numeric environment"), 2u);
  EXPECT_EQ(nlohmann::json::parse(output_of(with("explain", with_high_dropout, {"--json"}))).size(), 2u);
  EXPECT_TRUE(nlohmann::json::parse(output_of({"explain", best(), "--json"})).is_object());
  EXPECT_TRUE(
      contains(output_of(with("report", with_high_dropout, {"--format", "json"})), "Report of runs of pair"));
  EXPECT_EQ(nlohmann::json::parse(output_of(with("compare", with_high_dropout, {"--json"})))
                .at("candidates")
                .size(),
            1u);
  expect_refused({"dump", "--tag", "none", "--json"}, "no run fits --tag none; there is no tag \"none\"");
  expect_refused({"show", "pair", "--state", "failed"}, "none of the 4 runs of \"pair\" fits --state failed");
  expect_refused({"show", "x*"}, "no run matches \"x*\" in encore.db");
  expect_refused({"show"}, "exp show needs a run, a pattern, a sweep, or an option that selects runs");
  expect_refused({"explain", "pair.toml", "--tag", "x"},
                 "\"pair.toml\" is an experiment file; give it alone");
}

TEST_F(Selecting, DiffTakesTwoWordsOrTwoRunsInAll) {
  EXPECT_TRUE(contains(output_of(with("diff", with_high_dropout)), "the same except for the seed"));
  EXPECT_TRUE(contains(output_of({"diff", best(), "all", "--best", "dev/f1"}), "both are the same run"));
  expect_refused({"diff", "pair"}, "exp diff needs two runs, but 4 are selected: pair-dropout=0.1-s1");
  expect_refused({"diff", best(), "pair"}, "exp diff takes one run, but 4 are selected");
}

TEST_F(Selecting, PredictTakesTheBestOfASweep) {
  const runner::ProgramOutput output = sandbox_->exp({"predict", "pair", "--best", "dev/f1", "Anna lives"});
  EXPECT_EQ(output.output, "text: Anna lives\n");
  EXPECT_EQ(output.errors, "exp: the best of these runs by dev/f1 is " + best() + "\n");
  expect_refused({"predict", "pair", "Anna"},
                 "exp predict takes one run, but 4 are selected: pair-dropout=0.1-s1, pair-dropout=0.1-s2, "
                 "pair-dropout=0.2-s1, pair-dropout=0.2-s2; name one, or add --best dev/loss");
  expect_refused({"predict", "pair", "--best", "dev/f2", "Anna"},
                 "--best \"dev/f2\": no run has a measure \"dev/f2\"; did you mean \"dev/f1\"?");
}

TEST_F(Selecting, EvaluateScoresEachOfThem) {
  const std::string text = output_of(with("evaluate", with_high_dropout, {"test.conll"}));
  EXPECT_EQ(count(text, "(step 20) on test.conll"), 2u) << text;
  EXPECT_TRUE(std::regex_search(
      text, std::regex("NAME +F1 +PRECISION +LOSS\npair-dropout=0.2-s1 +50.00 +25.00 +1.5")))
      << text;
  const nlohmann::json list =
      nlohmann::json::parse(output_of(with("evaluate", with_high_dropout, {"test.conll", "--json"})));
  ASSERT_EQ(list.size(), 2u);
  EXPECT_EQ(list.at(1).at("run"), "pair-dropout=0.2-s2");
  EXPECT_EQ(list.at(1).at("measures").at("f1"), 0.5);
  EXPECT_EQ(nlohmann::json::parse(output_of({"evaluate", best(), "test.conll", "--json"})).at("file"),
            "test.conll");
  expect_refused({"evaluate", "test.conll"},
                 "exp evaluate needs a run and a file to score, but has only \"test.conll\"");
}

TEST_F(Selecting, LogsAndStatusOfSeveral) {
  const std::string logs = output_of(with("logs", with_high_dropout, {"-f"}));
  EXPECT_TRUE(logs.starts_with("== pair-dropout=0.2-s1 ==\n-- attempt 1 --\n")) << logs;
  EXPECT_TRUE(contains(logs, "\n\n== pair-dropout=0.2-s2 ==\n-- attempt 1 --\n")) << logs;
  EXPECT_FALSE(contains(output_of({"logs", best()}), "==")) << "one needs no heading";
  const std::string status = output_of(with("status", with_high_dropout));
  EXPECT_EQ(count(status, "completed"), 2u) << status;
  EXPECT_TRUE(std::regex_search(status, std::regex("LOSS +DEV F1 +BEST"))) << status;
  EXPECT_TRUE(contains(output_of({"status"}), "nothing is running"));
}

TEST_F(Selecting, TagsAndNotesInBulk) {
  EXPECT_EQ(output_of(with("tag", with_high_dropout, {"+wide"})),
            "pair-dropout=0.2-s1: wide\npair-dropout=0.2-s2: wide\n");
  EXPECT_EQ(names({"--tag", "wide"}).size(), 2u);
  EXPECT_EQ(output_of({"note", "all", "--tag", "wide", "in table 2"}),
            "pair-dropout=0.2-s1: noted\npair-dropout=0.2-s2: noted\n");
  EXPECT_EQ(output_of({"note", "all", "--tag", "wide"}),
            "pair-dropout=0.2-s1: in table 2\npair-dropout=0.2-s2: in table 2\n");
  expect_refused({"note", "pair", "in table 3"},
                 "cannot ask whether to replace the notes of 2 runs, pair-dropout=0.2-s1, "
                 "pair-dropout=0.2-s2: stdin is not a terminal; pass -y to confirm");
  EXPECT_EQ(sandbox_->one("SELECT count(*) FROM run WHERE note = 'in table 2'"), "2");
  output_of({"note", "pair", "", "-y"});
  EXPECT_EQ(sandbox_->one("SELECT count(*) FROM run WHERE note <> ''"), "0");
  EXPECT_EQ(output_of({"tag", "--where", "-seed < 0 AND tags = 'wide'", "-wide"}),
            "pair-dropout=0.2-s1: no tags\npair-dropout=0.2-s2: no tags\n");
  expect_refused({"tag", "--where", "seed = 9", "+x"}, "no run fits --where \"seed = 9\"");
  expect_refused({"tag", "pair", "papper", "+x"}, "; write +papper to add it as a tag");
}

TEST_F(Selecting, RmListsWhatWasFoundAndAsks) {
  expect_refused(with("rm", with_high_dropout),
                 "cannot ask whether to hide 2 runs, pair-dropout=0.2-s1, pair-dropout=0.2-s2, from exp ls: "
                 "stdin is not a terminal; pass -y to confirm");
  expect_refused({"rm", "pair-dropout=0.2"}, "cannot ask whether to hide 2 runs, ");
  expect_refused({"rm", "--state", "completed"}, "cannot ask whether to hide 4 runs, ");
  EXPECT_EQ(names({}).size(), 4u);
  EXPECT_EQ(count(output_of(with("rm", with_high_dropout, {"-y"})), " is hidden from exp ls; "), 2u);
  EXPECT_EQ(names({"--removed", "--where", "model.dropout > 0.15"}).size(), 2u);
  expect_refused({"show", "pair-dropout=0.2-s1"},
                 "was removed; exp undelete pair-dropout=0.2-s1 restores it");
  expect_refused(with("rm", with_high_dropout, {"-y"}),
                 "none of the 2 runs of \"pair\" fits --where \"model.dropout > 0.15\"");
  EXPECT_EQ(output_of({"undelete", "pair-*"}),
            "pair-dropout=0.2-s1 (completed) is restored\npair-dropout=0.2-s2 (completed) is restored\n");
  EXPECT_EQ(names({}).size(), 4u);
  EXPECT_TRUE(contains(output_of({"rm", best()}), "is hidden from exp ls")) << "named, so nobody asks";
  output_of({"undelete", best()});
}

TEST_F(Selecting, RmAtATerminalTakesANo) {
  const std::string command = ENCORE_BUILD_DIR "/bin/exp rm pair";
  if (sandbox_->shell("command -v script").end.exit_code != 0) GTEST_SKIP() << "there is no script(1) here";
  const runner::ProgramOutput output =
      sandbox_->shell("printf 'n\\n' | script -qec '" + command + "' /dev/null");
  EXPECT_TRUE(contains(output.output, "hide 4 runs, pair-dropout=0.1-s1, ")) << output.output;
  EXPECT_TRUE(contains(output.output, "exp undelete restores them. [y/N]")) << output.output;
  EXPECT_TRUE(contains(output.output, "nothing was done")) << output.output;
  EXPECT_EQ(names({}).size(), 4u);
}

TEST_F(Selecting, VerifyTrainsEachOfThem) {
  const nlohmann::json list = nlohmann::json::parse(output_of(with("verify", with_high_dropout, {"--json"})));
  ASSERT_EQ(list.size(), 2u);
  EXPECT_EQ(list.at(0).at("outcome"), "equal");
  EXPECT_EQ(list.at(1).at("run"), "pair-dropout=0.2-s2");
  EXPECT_EQ(nlohmann::json::parse(output_of({"verify", best(), "--json"})).at("outcome"), "equal");
}

TEST_F(Selecting, GcLooksAtTheFoldersThatWereChosen) {
  std::vector<std::string> leftovers;
  for (const std::string& id : sandbox_->query("SELECT id FROM run WHERE seed = 1 ORDER BY number"))
    leftovers.push_back("encore.db.runs/" + id + "/checkpoints/step-00000001.safetensors.part");
  for (const std::string& file : leftovers) sandbox_->write(file, "left behind");
  EXPECT_TRUE(contains(output_of(with("gc", with_high_dropout, {"--dry-run"})), "11 B would be removed"));
  EXPECT_TRUE(contains(output_of(with("gc", with_high_dropout)), "11 B removed"));
  EXPECT_TRUE(std::filesystem::exists(sandbox_->folder() / leftovers.front()));
  EXPECT_FALSE(std::filesystem::exists(sandbox_->folder() / leftovers.back()));
  output_of({"gc"});
}

TEST_F(Selecting, PointsAtTheInvalidPartOfACondition) {
  const runner::ProgramOutput output = sandbox_->exp({"ls", "--where", "seed = 1 AND model.dropuot > 0.1"});
  EXPECT_EQ(output.end.exit_code, 2);
  EXPECT_EQ(output.errors,
            "exp: --where: no such column: model.dropuot; did you mean \"model.dropout\"?\n"
            "  seed = 1 AND model.dropuot > 0.1\n"
            "               ^\n");
  expect_refused({"rm", "--where", "1) OR (DELETE FROM run"}, "this parenthesis closes nothing");
  expect_refused({"rm", "--where", ""}, "--where is empty");
}

/// A long run is in training and already has scores.
TEST(SelectingWhatRuns, ScoresSoFarAndStopByCondition) {
  Sandbox sandbox;
  sandbox.set("FAKE_STEP_MS", "20");
  sandbox.set("FAKE_STEPS", "100000");
  std::string text = tiny_experiment("long");
  sandbox.write("long.toml", text);
  const pid_t exp = sandbox.start({"run", "long.toml"});
  ASSERT_TRUE(sandbox.wait_until(
      "SELECT count(*) > 1 FROM point JOIN metric ON metric.number = metric WHERE metric.name = 'dev/f1'",
      "1"));
  const nlohmann::json status = nlohmann::json::parse(sandbox.exp({"status", "--json"}).output);
  ASSERT_EQ(status.size(), 1u);
  EXPECT_EQ(status.at(0).at("score").at("select"), "max dev/f1");
  EXPECT_GE(status.at(0).at("score").at("best"), status.at(0).at("score").at("latest"));
  EXPECT_GE(status.at(0).at("score").at("latest"), 0.5);
  const nlohmann::json list = nlohmann::json::parse(sandbox.exp({"ls", "--json"}).output);
  EXPECT_EQ(list.at(0).at("state"), "running");
  EXPECT_GE(list.at(0).at("score").at("best"), 0.5);
  EXPECT_TRUE(list.at(0).at("dev/f1").is_null()) << "there is no result yet";
  EXPECT_TRUE(std::regex_search(sandbox.exp({"ls"}).output, std::regex("running +[56]\\d\\.\\d\\d +- ")));
  EXPECT_TRUE(contains(sandbox.exp({"stop", "--where", "epoch > 100000"}).errors,
                       "no run fits --where \"epoch > 100000\""));
  const runner::ProgramOutput stop = sandbox.exp({"stop", "l*", "--where", "epoch >= 1 AND dev/f1 >= 0.5"});
  EXPECT_TRUE(contains(stop.output, "long was asked to stop")) << stop.output << stop.errors;
  ASSERT_TRUE(Sandbox::wait(exp));
  EXPECT_EQ(sandbox.one("SELECT state FROM run"), "stopped");
}

TEST(SelectingWhatFailed, RetryTakesTheSameOptions) {
  Sandbox sandbox;
  std::string text = tiny_experiment("s");
  sandbox.write("s.toml", text.replace(text.find("seed = 1"), 8, "seeds = [1, 2, 3]"));
  sandbox.set("FAKE_FAIL_AT", "7");
  ASSERT_EQ(sandbox.exp({"run", "s.toml"}).end.exit_code, 1);
  sandbox.set("FAKE_FAIL_AT", "-1");
  ASSERT_EQ(sandbox.exp({"retry", "--where", "seed = 2", "--failed", "-q"}).end.exit_code, 0);
  EXPECT_EQ(sandbox.query("SELECT state FROM run ORDER BY number"),
            (std::vector<std::string>{"failed", "completed", "failed"}));
  ASSERT_EQ(sandbox.exp({"retry", "s-s1", "s-s2", "--failed", "-q"}).end.exit_code, 0);
  EXPECT_EQ(sandbox.query("SELECT state FROM run ORDER BY number"),
            (std::vector<std::string>{"completed", "completed", "failed"}));
  const runner::ProgramOutput file = sandbox.exp({"retry", "s.toml", "--failed", "--tag", "x"});
  EXPECT_EQ(file.end.exit_code, 2);
  EXPECT_TRUE(contains(file.errors, "select runs of the database, but \"s.toml\" is an experiment file"))
      << file.errors;
}

/// The table in docs/guides/selecting_runs.md names every column with its meaning.
TEST(SelectingDocument, ListsEveryColumnThatThereIs) {
  std::ifstream in(ENCORE_SOURCE_DIR "/docs/guides/selecting_runs.md");
  const std::string page(std::istreambuf_iterator<char>(in), {});
  const Sandbox sandbox;
  ASSERT_EQ(sandbox.exp({"run", "tiny.toml", "-q"}).end.exit_code, 0);
  const runner::ProgramOutput found = sandbox.exp({"completion", "candidates", "ls", "--sort", ""});
  std::istringstream names(found.output);
  std::size_t fields = 0;
  for (std::string name; std::getline(names, name);) {
    if (name.find_first_of("./") != std::string::npos) continue;
    EXPECT_TRUE(contains(page, "| `" + name + "` | ")) << name;
    ++fields;
  }
  EXPECT_GE(fields, 19u) << found.output;
}

}  // namespace
}  // namespace encore::system_test
