// SPDX-License-Identifier: BSD-3-Clause
// Tests the verbs that inspect runs and use their models, with the scripted worker: ls, show, logs, status,
// predict, evaluate and db check (cli/ls_verb.cpp, cli/show_verb.cpp and others). Control characters in a
// database must not reach a terminal. Members of JSON and columns of CSV must stay; printed words may change.
#include <gtest/gtest.h>
#include <signal.h>

#include <nlohmann/json.hpp>

#include "base/terminal_text.hpp"
#include "system/control/sandbox.hpp"

namespace encore::system_test {
namespace {

/// Returns a sandbox with one complete run. The tests that change nothing in it share it; others make their
/// own.
const Sandbox& trained() {
  static const Sandbox* sandbox = [] {
    auto* made = new Sandbox;
    const runner::ProgramOutput output = made->exp({"run", "tiny.toml"});
    EXPECT_EQ(output.end.exit_code, 0) << output.output << output.errors;
    return made;
  }();
  return *sandbox;
}

class Inspection : public ::testing::Test {
 protected:
  static void TearDownTestSuite() { delete &trained(); }

  static std::string output_of(const std::vector<std::string>& arguments, const std::string& input = "") {
    const runner::ProgramOutput output = trained().exp(arguments, input);
    EXPECT_EQ(output.end.exit_code, 0) << output.output << output.errors;
    EXPECT_EQ(output.errors, "");
    return output.output;
  }
};

TEST_F(Inspection, LsAsTableJsonAndCsv) {
  const std::string table = output_of({"ls"});
  for (const char* part : {"NAME", "TEST F1", "tiny", "completed"})
    EXPECT_TRUE(contains(table, part)) << table;
  const nlohmann::json list = nlohmann::json::parse(output_of({"ls", "--json"}));
  ASSERT_EQ(list.size(), 1u);
  EXPECT_EQ(list[0].at("state"), "completed");
  EXPECT_EQ(list[0].at("test/f1"), list[0].at("result").at("measures").at("test/f1"));
  const std::string csv = output_of({"ls", "--csv"});
  EXPECT_TRUE(csv.starts_with("name,id,state,")) << csv;
  EXPECT_TRUE(contains(csv, "\r\ntiny,")) << csv;
}

TEST_F(Inspection, CsvOfOneRunHasTheValuesOfItsJson) {
  const nlohmann::json run = nlohmann::json::parse(output_of({"show", "tiny", "--json"}));
  const std::string scores = output_of({"show", "tiny", "--csv"});
  EXPECT_TRUE(scores.starts_with("run,id,best_step,measure,value\r\n")) << scores;
  for (const auto& [measure, value] : run.at("result").at("measures").items())
    if (value.is_number()) {
      EXPECT_TRUE(contains(scores, "," + measure + "," + value.dump() + "\r\n")) << measure << '\n' << scores;
    }
  EXPECT_EQ(output_of({"explain", "tiny", "--csv"}), "run,nearest,section,key,value,nearest_value\r\n");
  EXPECT_TRUE(contains(output_of({"explain", "tiny.toml", "-S", "model.dropout=0.2", "--csv"}),
                       "\r\ntiny,tiny,configuration,model.dropout,0.2,"));
  const std::string options = output_of({"plugin", "info", "adam", "--csv"});
  EXPECT_TRUE(options.starts_with("plugin,kind,type,option,value_type,required,default,range,meaning\r\n"));
  EXPECT_TRUE(contains(options, "\r\nadam,optimizer,adam,beta1,number,no,0.9,")) << options;
}

/// Bytes that must not reach a terminal: control characters, marks that change the direction of text, bytes
/// that are not valid text.
const std::string hostile = "a\033]0;title\007\xc2\x9b\x32J\xe2\x80\xae";

TEST(Terminals, GetNothingFromADatabaseThatTheyWouldObey) {
  const Sandbox sandbox;
  EXPECT_EQ(sandbox.exp({"run", "tiny.toml", "-q"}).end.exit_code, 0);
  const std::string text = "char(97, 27, 93, 48, 59, 7, 155, 8238)";
  sandbox.change("UPDATE run SET note = " + text + ", reason = " + text);
  sandbox.change("INSERT INTO tag SELECT number, " + text + " FROM run");
  sandbox.change("UPDATE param SET value = " + text + ", source = 'file', at = " + text +
                 " WHERE key = 'task.type'");
  sandbox.change("UPDATE sweep SET name = " + text + ", file = " + text);
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"show", "tiny"},
                                             {"note", "tiny"},
                                             {"tag", "tiny"},
                                             {"ls"},
                                             {"logs", "tiny"},
                                             {"explain", "tiny"},
                                             {"rm", "tiny"},
                                             {"show", hostile},
                                             {"explain", hostile},
                                             {"ls", "--tag", hostile},
                                             {"run", hostile + ".toml"},
                                             {"verify", hostile + ".tar.zst"},
                                             {"query", "SELECT note FROM run"},
                                             {hostile}}) {
    const runner::ProgramOutput output = sandbox.exp(words);
    EXPECT_EQ(printable_lines(output.output), output.output) << words[0];
    EXPECT_EQ(printable_lines(output.errors), output.errors) << words[0];
    EXPECT_NE(output.output + output.errors, "") << words[0];
  }
  // A program gets the bytes as they are.
  EXPECT_TRUE(contains(sandbox.exp({"query", "SELECT note FROM run", "--csv"}).output, "\xe2\x80\xae"));
}

TEST_F(Inspection, LsFilters) {
  EXPECT_TRUE(contains(output_of({"ls", "--name", "ti*"}), "tiny"));
  EXPECT_TRUE(contains(output_of({"ls", "--name", "other*"}), "no run matches \"other*\" in encore.db"));
  EXPECT_TRUE(contains(output_of({"ls", "--state", "failed", "--state", "lost"}),
                       "no run fits --state failed --state lost"));
  const runner::ProgramOutput wrong = trained().exp({"ls", "--state", "complete"});
  EXPECT_EQ(wrong.end.exit_code, 2);
  EXPECT_TRUE(contains(wrong.errors, "did you mean \"completed\"?")) << wrong.errors;
}

TEST_F(Inspection, ShowByNameAndByIdHasEverySection) {
  const std::string id = trained().one("SELECT id FROM run");
  const std::string text = output_of({"show", "tiny"});
  for (const std::string& part :
       {id, std::string("scores of the best checkpoint"), std::string("train/loss"),
        std::string("dev scores"), std::string("model.width"), std::string("tiny.toml:15:9"),
        std::string("attempts"), std::string("numeric environment"), std::string("checkpoints"),
        std::string("train.conll")})
    EXPECT_TRUE(contains(text, part)) << part << "\n" << text;
  EXPECT_FALSE(contains(text, "clip_norm")) << "defaults only with --all";
  EXPECT_TRUE(contains(output_of({"show", "tiny", "--all"}), "clip_norm"));
  EXPECT_EQ(output_of({"show", id.substr(0, 6)}), text);
}

TEST_F(Inspection, ShowAsJsonHasEveryPoint) {
  const nlohmann::json run = nlohmann::json::parse(output_of({"show", "tiny", "--json"}));
  EXPECT_EQ(run.at("curves").at("train/loss").at("step").size(), 20u);
  EXPECT_EQ(run.at("params").at("model.width").at("value"), 16);
  EXPECT_EQ(run.at("attempts").at(0).at("numeric_environment").at("device"), "fake");
  EXPECT_EQ(run.at("data").at("train").at("sha256").get<std::string>().size(), 64u);
}

TEST_F(Inspection, LogsStatusAndStop) {
  const std::string logs = output_of({"logs", "tiny", "-f"});
  for (const char* part : {"attempt 1", "checkpoint of step 5 (best)", "dev F1", "completed at step 20",
                           "fake worker, attempt 1"})
    EXPECT_TRUE(contains(logs, part)) << part << "\n" << logs;
  EXPECT_TRUE(contains(output_of({"status"}), "nothing is running"));
  EXPECT_EQ(output_of({"status", "--json"}), "[]\n");
  EXPECT_TRUE(contains(output_of({"stop", "tiny"}), "is completed, there is nothing to stop"));
}

TEST_F(Inspection, PredictTakesATextAFileOrTheStandardInput) {
  EXPECT_EQ(output_of({"predict", "tiny", "Anna lives", "Bea"}), "text: Anna lives\ntext: Bea\n");
  EXPECT_EQ(trained().exp({"predict", "tiny", "--format", "conll"}, "a\nb\n").output, "conll: a\nconll: b\n");
  trained().write("notes.txt", "one\ntwo\n");
  EXPECT_EQ(output_of({"predict", "tiny", "--file", "notes.txt", "--format=jsonl"}),
            "jsonl: one\njsonl: two\n");
  EXPECT_EQ(output_of({"predict", "tiny", "--file", "notes.txt", "--format=conll"}),
            "conll of notes.txt: one\nconll of notes.txt: two\n");
  EXPECT_EQ(output_of({"predict", "tiny", "--file", "-", "--format=conll"}, "one\n"),
            "conll of standard input: one\n");
  EXPECT_EQ(output_of({"predict", "tiny", "--file", "notes.txt", "--json"}), "jsonl: one\njsonl: two\n");
  const runner::ProgramOutput missing = trained().exp({"predict", "tiny", "--file", "absent.txt"});
  EXPECT_EQ(missing.end.exit_code, 2);
  EXPECT_TRUE(contains(missing.errors, "absent.txt")) << missing.errors;
}

TEST_F(Inspection, EvaluateAsTableAndJson) {
  const std::string text = output_of({"evaluate", "tiny", "test.conll"});
  EXPECT_EQ(text,
            "tiny (step 20) on test.conll: 3 examples, 12 words\n\n"
            "LABEL     F1\nPER    50.00\nall    50.00\n"
            "precision 25.00  loss 1.5\n");
  EXPECT_EQ(
      nlohmann::json::parse(output_of({"evaluate", "tiny", "test.conll", "--json"})).at("measures").at("f1"),
      0.5);
}

TEST_F(Inspection, TheDatabaseIsSoundAndHasAPath) {
  EXPECT_TRUE(contains(output_of({"db", "check"}), "is sound: 1 run\n"));
  EXPECT_EQ(output_of({"db", "path"}),
            (std::filesystem::canonical(trained().folder()) / "encore.db").string() + "\n");
  EXPECT_TRUE(contains(output_of({"version", "--worker"}), "fake"));
}

TEST_F(Inspection, ADamagedCheckpointIsFound) {
  const Sandbox sandbox;
  ASSERT_EQ(sandbox.exp({"run", "tiny.toml"}).end.exit_code, 0);
  sandbox.write(
      "encore.db.runs/" + sandbox.one("SELECT id FROM run") + "/checkpoints/step-00000020.safetensors",
      "other");
  const runner::ProgramOutput output = sandbox.exp({"db", "check"});
  EXPECT_EQ(output.end.exit_code, 1);
  EXPECT_TRUE(contains(output.errors, "step-00000020.safetensors is not the file that was recorded"))
      << output.errors;
}

TEST(Ls, ShowsTheNewestAndHowManyMoreThereAre) {
  const Sandbox sandbox;
  sandbox.write("three.toml", "base = \"tiny.toml\"\nname = \"three\"\nseeds = [1, 2, 3]\n");
  ASSERT_EQ(sandbox.exp({"run", "three.toml"}).end.exit_code, 0);
  const std::string two = sandbox.exp({"ls", "-n", "2"}).output;
  EXPECT_TRUE(contains(two, "the newest 2 of 3 runs: -n N shows N, --all shows all")) << two;
  EXPECT_TRUE(contains(two, "three-s3") && !contains(two, "three-s1")) << two;
  const std::string some = sandbox.exp({"ls", "-n", "2", "--state", "completed"}).output;
  EXPECT_TRUE(contains(some, "the newest 2; there are more: ")) << some;
  for (const std::vector<std::string>& all : {std::vector<std::string>{"ls", "--all"}, {"ls", "-n", "3"}}) {
    const std::string output = sandbox.exp(all).output;
    EXPECT_TRUE(contains(output, "three-s1") && !contains(output, "newest")) << output;
  }
  EXPECT_EQ(nlohmann::json::parse(sandbox.exp({"ls", "--json"}).output).size(), 3U);
  EXPECT_EQ(nlohmann::json::parse(sandbox.exp({"ls", "--json", "-n", "1"}).output).size(), 1U);
  const runner::ProgramOutput both = sandbox.exp({"ls", "--all", "-n", "2"});
  EXPECT_EQ(both.end.exit_code, 2);
  EXPECT_TRUE(contains(both.errors, "--all and -n exclude each other")) << both.errors;
}

}  // namespace
}  // namespace encore::system_test
