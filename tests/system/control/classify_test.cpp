// SPDX-License-Identifier: BSD-3-Clause
// Tests the task "classify" with the reader "tsv" (plugins/tasks/classify/classify.cpp,
// plugins/readers/tsv.cpp) and the real worker, from the file to the prediction, and the files that are
// rejected before a training starts. It also tests pairs, several labels (multilabel) and numbers (regress).
// The words of messages may change; names of measures are stored and must stay.
#include <gtest/gtest.h>

#include <functional>

#include <nlohmann/json.hpp>

#include "system/control/real_worker.hpp"

namespace encore::system_test {
namespace {

using nlohmann::json;

/// Each text has one word that decides its label.
std::string reviews(int begin, int end) {
  const char *good[] = {"good", "great", "fine"}, *bad[] = {"bad", "dull", "poor"},
             *things[] = {"film", "plot", "cast", "scene"};
  std::string lines;
  for (int i = begin; i < end; ++i)
    lines += std::string("a ") + (i % 2 == 0 ? good : bad)[i / 2 % 3] + " " + things[i % 4] + "\t" +
             (i % 2 == 0 ? "positive" : "negative") + "\n";
  return lines;
}

/// Returns the sandbox's tiny experiment (NER from CoNLL) changed to classification from TSV.
std::string reviews_experiment(const std::string& more = "") {
  std::string text = tiny_experiment("reviews");
  replace_all(text, "\"ner\"", "\"classify\"");
  replace_all(text, "\"conll\"", "\"tsv\"");
  replace_all(text, ".conll", ".tsv");
  return text + more;
}

class Classification : public RealWorkerTest {
 protected:
  Classification() {
    sandbox_.write("train.tsv", reviews(0, 48));
    sandbox_.write("dev.tsv", reviews(48, 60));
    sandbox_.write("test.tsv", reviews(60, 72));
  }
};

TEST_F(Classification, TrainsShowsEvaluatesPredictsAndReports) {
  sandbox_.write("reviews.toml", reviews_experiment());
  const std::string run = output_of({"run", "reviews.toml"});
  EXPECT_TRUE(contains(run, "train: the most frequent label, \"negative\", is that of 24 of 48 examples"))
      << run;
  EXPECT_TRUE(contains(run, "dev accuracy ") && contains(run, "test accuracy ")) << run;
  const double accuracy = std::stod(sandbox_.one("SELECT value FROM curve WHERE metric = 'test/accuracy'"));
  EXPECT_GT(accuracy, 0.9) << run;

  const std::string list = output_of({"ls"});
  EXPECT_TRUE(contains(list, "DEV ACCURACY") && contains(list, "TEST ACCURACY")) << list;
  const std::string shown = output_of({"show", "reviews"});
  EXPECT_TRUE(contains(shown, "data.type") && contains(shown, "ACCURACY") && contains(shown, "MACRO F1"))
      << shown;
  const std::string positive =
      shown.substr(shown.find("\n  positive"), shown.find("curves") - shown.find("\n  positive"));
  EXPECT_NE(positive.find_first_of("0123456789"), std::string::npos) << "the measures of a label:\n" << shown;

  const std::string table = output_of({"evaluate", "reviews", "test.tsv"});
  for (const char* part : {"12 examples, 2 labels\n", "LABEL", "PRECISION", "RECALL", "negative", "positive"})
    EXPECT_TRUE(contains(table, part)) << part << "\n" << table;
  EXPECT_FALSE(contains(table, "\nall ")) << "no family has a value over all labels:\n" << table;
  const json evaluation = json::parse(output_of({"evaluate", "reviews", "test.tsv", "--json"}));
  EXPECT_NEAR(evaluation.at("measures").at("accuracy").get<double>(), accuracy, 1e-12)
      << "the same model on the same file";

  const std::string report = output_of({"report", "reviews", "--format", "json"});
  for (const char* id : {"results-test-accuracy", "classes-test-accuracy", "confusion-test-accuracy",
                         "curve-dev-accuracy", "lengths"})
    EXPECT_TRUE(contains(report, "\"id\": \"" + std::string(id) + "\"")) << id;
}

TEST_F(Classification, PredictsInEveryFormat) {
  sandbox_.write("reviews.toml", reviews_experiment());
  output_of({"run", "reviews.toml", "-q"});
  EXPECT_EQ(output_of({"predict", "reviews", "a great plot"}), "positive\ta great plot\n");
  if (Sandbox::has("script")) {  // control characters do not reach a terminal
    sandbox_.write("ask.sh", "exec " ENCORE_BUILD_DIR
                             "/bin/exp predict reviews \"$(printf 'a great\\033]0;title\\007 plot')\"\n");
    const std::string screen = sandbox_.shell("script -qec 'sh ask.sh' /dev/null </dev/null").output;
    EXPECT_TRUE(contains(screen, "a great?]0;title? plot")) << screen;
  }
  EXPECT_EQ(json::parse(output_of({"predict", "reviews", "--format", "jsonl", "a dull cast"})),
            json({{"text", "a dull cast"}, {"label", "negative"}}));
  const std::string lines = "a great plot\n\na dull cast\n";
  const std::string written = output_of({"predict", "reviews", "--format", "tsv"}, lines);
  EXPECT_EQ(written, "a great plot\tpositive\n\na dull cast\tnegative\n");
  sandbox_.write("written.tsv", written);
  const json again = json::parse(output_of({"evaluate", "reviews", "written.tsv", "--json"}));
  EXPECT_EQ(again.at("measures").at("accuracy").get<double>(), 1.0)
      << "the written answers give the reported accuracy";

  std::string words;
  for (int i = 0; i < 100; ++i) words += "a great ";
  const runner::ProgramOutput cut = sandbox_.exp({"predict", "reviews"}, "a great plot\n" + words + "\n");
  EXPECT_EQ(cut.end.exit_code, 0);
  EXPECT_TRUE(
      cut.errors.starts_with("encore-worker: line 2 is longer than data.max_length = 32 of the model: its "
                             "label does not depend on its last "))
      << cut.errors;
}

TEST_F(Classification, PairsAreTrainedAndPredicted) {
  for (const char* set : {"train", "dev", "test"}) {
    const int first = std::string(set) == "train" ? 0 : std::string(set) == "dev" ? 48 : 60;
    std::string text = "id,first,second,same\n";
    for (int i = first; i < first + (first == 0 ? 48 : 12); ++i)
      text += std::to_string(i) + ",\"a film, a " + (i % 2 == 0 ? "plot" : "cast") + "\",\"it is \"\"" +
              (i / 2 % 2 == 0 ? "good" : "bad") + "\"\"\"," + (i / 2 % 2 == 0 ? "yes" : "no") + "\n";
    sandbox_.write(std::string(set) + ".tsv", text + "lost row\n");
  }
  std::string experiment = reviews_experiment();
  replace_all(
      experiment, "type = \"tsv\"",
      "type = \"tsv\"\ndelimiter = \",\"\nheader = true\ntext_column = \"first\"\ntext2_column = \"second\"\n"
      "label_column = \"same\"\nbad_rows = \"skip\"");
  sandbox_.write("reviews.toml", experiment);
  const std::string run = output_of({"run", "reviews.toml"});
  EXPECT_TRUE(contains(run, "train: 1 of 49 rows is skipped: ")) << run;
  EXPECT_GT(std::stod(sandbox_.one("SELECT value FROM curve WHERE metric = 'test/accuracy'")), 0.9) << run;
  EXPECT_GT(std::stod(sandbox_.one("SELECT value FROM curve WHERE metric = 'test/mcc'")), 0.8) << run;
  EXPECT_EQ(output_of({"predict", "reviews"}, "a film , a cast\tit is \"bad\"\n"),
            "no\ta film , a cast\tit is \"bad\"\n");
  EXPECT_EQ(output_of({"predict", "reviews", "--format", "tsv"}, "a film\tit is \"good\"\n"),
            "first,second,same\na film,\"it is \"\"good\"\"\",yes\n");
  EXPECT_TRUE(contains(output_of({"report", "reviews", "--format", "json"}), "it is"))
      << "examples show both text columns";
  EXPECT_TRUE(contains(run, "predict reviews $'one text\\tanother text'")) << run;
  for (const char* line : {"only one text", "a\tb\tc"}) {
    const runner::ProgramOutput refused = sandbox_.exp({"predict", "reviews", line});
    EXPECT_EQ(refused.end.exit_code, 1) << refused.output;
    EXPECT_EQ(refused.output, "");
    EXPECT_TRUE(contains(refused.errors, "expected two parts with a tab between")) << refused.errors;
  }
}

TEST_F(Classification, SeveralLabelsAndNumbersAreTrainedAndPredicted) {
  const auto write = [&](const std::function<std::string(int)>& answer) {
    const char *judged[] = {"good", "great", "bad", "dull"}, *things[] = {"film", "plot", "cast"};
    for (const auto& [set, first, count] : {std::tuple{"train", 0, 48}, {"dev", 48, 12}, {"test", 60, 12}}) {
      std::string text;
      for (int i = first; i < first + count; ++i)
        text += std::string("a ") + judged[i % 4] + " " + things[i % 3] + "\t" + answer(i) + "\n";
      sandbox_.write(std::string(set) + ".tsv", text);
    }
  };
  const auto experiment = [](const std::string& task, const std::string& labels, const std::string& head) {
    std::string text = reviews_experiment();
    replace_all(text, "name = \"reviews\"", "name = \"" + task + "\"");
    replace_all(text, "\"classify\"", "\"" + task + "\"");
    replace_all(text, "type = \"tsv\"", "type = \"tsv\"\nlabel_type = \"" + labels + "\"");
    replace_all(text, "\"linear\"\n", "\"" + head + "\"\n");
    return text;
  };
  write([](int i) {
    return std::string(i % 4 < 2 ? "up" : "") + (i % 4 == 1 ? ",strong" : i % 4 == 3 ? "strong" : "");
  });
  sandbox_.write("several.toml", experiment("multilabel", "list", "sigmoid"));
  const std::string several = output_of({"run", "several.toml"});
  EXPECT_TRUE(contains(several, "dev micro F1 ") && contains(several, "test micro F1 ")) << several;
  EXPECT_GT(std::stod(sandbox_.one("SELECT value FROM curve WHERE metric = 'test/macro_auc'")), 0.8)
      << several;
  EXPECT_TRUE(contains(output_of({"evaluate", "multilabel", "test.tsv"}), "AUC"));

  write([](int i) { return std::to_string(i % 4) + ".5"; });
  sandbox_.write("number.toml", experiment("regress", "number", "regression"));
  const std::string number = output_of({"run", "number.toml"});
  EXPECT_TRUE(contains(number, "dev Spearman's rho ")) << number;
  EXPECT_TRUE(contains(number, "train: the numbers have the mean 2 ")) << number;
  const json answer = json::parse(output_of({"predict", "regress", "--format", "jsonl", "a dull plot"}));
  EXPECT_TRUE(answer.at("number").is_number()) << answer;
}

TEST_F(Classification, RefusesAHeadOrAReaderThatGivesSomethingElse) {
  std::string text = reviews_experiment();
  replace_all(text, "\"classify\"", "\"multilabel\"");
  const std::string undeclared = refusal(text);
  EXPECT_TRUE(contains(undeclared,
                       "refused.toml:6:8: reader \"tsv\" does not give the field \"labels\" that task "
                       "\"multilabel\" needs; it gives \"text\", \"label\"; data.label_type = \"list\" adds "
                       "\"labels\"; readers that give all of them: \"jsonl\""))
      << undeclared;
  // An option can also take away a field that the reader gives by default. Only the records show it.
  std::string replaced_field = reviews_experiment();
  replace_all(replaced_field, "type = \"tsv\"", "type = \"tsv\"\nlabel_type = \"list\"");
  const std::string missing = refusal(replaced_field), problem = "the task needs the field ";
  EXPECT_TRUE(missing.starts_with("refused.toml:6:8: ")) << missing;
  EXPECT_TRUE(contains(missing, "train.tsv: " + problem +
                                    "\"label\", and the reader gives \"text\", \"labels\"; set "
                                    "data.label_type = \"text\""))
      << missing;
  EXPECT_EQ(missing.find(problem), missing.rfind(problem)) << "once for all sets: " << missing;
  replace_all(text, "type = \"tsv\"", "type = \"tsv\"\nlabel_type = \"list\"");
  const std::string errors = refusal(text);
  EXPECT_TRUE(
      contains(errors,
               "the head \"linear\" reads the column \"targets\" (integers over sequences), and the task "
               "\"multilabel\" gives 2 numbers over sequences"))
      << errors;
}

TEST_F(Classification, SelectsByTheMeasureOfOneLabel) {
  sandbox_.write("reviews.toml", reviews_experiment("select = \"max dev/f1/positive\"\n"));
  const std::string run = output_of({"run", "reviews.toml"});
  EXPECT_TRUE(contains(run, "test F1 of positive ")) << run;
  EXPECT_TRUE(contains(output_of({"ls"}), "DEV F1 OF POSITIVE"));
}

TEST_F(Classification, RefusesAMeasureOfALabelThatTheDevelopmentSetLacks) {
  const std::string errors = refusal(reviews_experiment("select = \"max dev/f1/NOSUCH\"\n"));
  EXPECT_TRUE(errors.starts_with(
                  "refused.toml:35:10: the development set has no measure \"dev/f1/NOSUCH\"; it has ") &&
              contains(errors, "\"dev/f1/negative\", \"dev/f1/positive\""))
      << errors;
}

TEST_F(Classification, RefusesWhatTheReaderCannotUse) {
  std::string text = reviews_experiment();
  replace_all(text, "type = \"tsv\"", "type = \"tsv\"\nlabel_column = \"kind\"");
  EXPECT_TRUE(refusal(text).starts_with("refused.toml:7:16: invalid label_column = \"kind\": expected "));
  text = reviews_experiment();
  replace_all(text, "\"tsv\"", "\"text_file\"");
  EXPECT_TRUE(contains(
      refusal(text),
      "refused.toml:6:8: reader \"text_file\" does not give the field \"label\" that task \"classify\" "
      "needs; it gives \"text\"; readers that give all of them: \"conll\", \"jsonl\", \"tsv\""));
  text = reviews_experiment();
  replace_all(text, "\"tsv\"", "\"conll\"");
  EXPECT_TRUE(
      contains(refusal(text),
               "refused.toml:6:8: reader \"conll\" does not give the fields \"text\", \"label\" that task "
               "\"classify\" needs; it gives \"words\", \"tags\"; data.label_comment adds \"text\", "
               "\"label\"; readers that give all of them: \"jsonl\", \"tsv\""));
  sandbox_.write("dev.tsv", "fine\tpositive\nno label\n\tnegative\n");
  const std::string errors = refusal(reviews_experiment());
  EXPECT_TRUE(contains(errors, "dev.tsv:2: this row has 1 column, the rows before it have 2") &&
              contains(errors, "dev.tsv:3: the text in column 1 is empty"))
      << errors;
}

TEST_F(Classification, CountsLabelsThatTrainingLacksAsWrong) {
  sandbox_.write("test.tsv", reviews(60, 72) + "an odd film\tstrange\n");
  sandbox_.write("reviews.toml", reviews_experiment());
  const std::string run = output_of({"run", "reviews.toml"});
  EXPECT_TRUE(contains(
      run, "test: the label \"strange\" of 1 example is not in the training set; it always counts as wrong"))
      << run;
  EXPECT_LT(std::stod(sandbox_.one("SELECT value FROM curve WHERE metric = 'test/accuracy'")), 0.95);
}

TEST_F(Classification, HasNoLossWhereNoLabelIsKnown) {
  sandbox_.write("test.tsv", "an odd film\tstrange\n");
  sandbox_.write("reviews.toml", reviews_experiment());
  output_of({"run", "reviews.toml"});
  EXPECT_EQ(sandbox_.one("SELECT coalesce(result ->> '$.measures.test/loss', 'none') FROM run"), "none");
  EXPECT_EQ(sandbox_.one("SELECT special FROM curve WHERE metric = 'test/loss'"), "nan")
      << "0 would be the best";
  EXPECT_NE(sandbox_.one("SELECT coalesce(result ->> '$.measures.dev/loss', 'none') FROM run"), "none");
}

}  // namespace
}  // namespace encore::system_test
