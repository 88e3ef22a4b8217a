// SPDX-License-Identifier: BSD-3-Clause
// Tests a Hugging Face folder as a run of its own: `exp import` with the real worker (app/import.hpp,
// pretrained/hugging_face_folder.hpp), what can be done with such a run, and what is rejected. The words of
// messages may change; what a run of a folder computes must not change.
#include <gtest/gtest.h>

#include <cmath>

#include <nlohmann/json.hpp>

#include "system/control/bert_experiment.hpp"
#include "system/control/real_worker.hpp"

namespace encore::system_test {
namespace {

using nlohmann::json;

class Import : public RealWorkerTest {
 protected:
  /// Writes the folder "names" of a model that was trained to find names.
  void SetUp() override {
    RealWorkerTest::SetUp();
    if (IsSkipped()) return;
    sandbox_.write("bert.toml", bert_experiment("bert"));
    output_of({"run", "bert.toml", "-q"});
    output_of({"export", "bert", "-o", "names"});
  }
  json first_answer(const std::string& run, const std::string& text,
                    const std::vector<std::string>& options = {}) const {
    std::vector<std::string> words = {"predict", run, "--format", "jsonl", text};
    words.insert(words.end(), options.begin(), options.end());
    return json::parse(output_of(words));
  }
  /// Changes one member of the folder's config.json.
  void set_in_config(const std::string& member, const json& value) const {
    json config = json::parse(sandbox_.read("names/config.json"));
    config[member] = value;
    sandbox_.write("names/config.json", config.dump());
  }
};

TEST_F(Import, MakesARunThatIsScoredAskedAndExported) {
  const std::string said = output_of({"import", "names", "--name", "taken"});
  EXPECT_TRUE(contains(said, "taken completed in ")) << said;
  EXPECT_TRUE(contains(output_of({"logs", "taken"}), "tensors taken"));
  const json mine = json::parse(output_of({"evaluate", "bert", "test.conll", "--json"}));
  const json theirs = json::parse(output_of({"evaluate", "taken", "test.conll", "--json"}));
  EXPECT_EQ(mine.at("measures"), theirs.at("measures"));
  EXPECT_EQ(first_answer("bert", "Anna met Berg in Lund ."),
            first_answer("taken", "Anna met Berg in Lund ."));
  EXPECT_EQ(first_answer("bert", "Anna met Berg in Lund .", {"--scores"}),
            first_answer("taken", "Anna met Berg in Lund .", {"--scores"}));
  output_of({"export", "taken", "-o", "again"});
  EXPECT_EQ(sandbox_.read("names/model.safetensors"), sandbox_.read("again/model.safetensors"));
  EXPECT_EQ(sandbox_.read("names/vocab.txt"), sandbox_.read("again/vocab.txt"));
  EXPECT_TRUE(contains(output_of({"ls"}), "taken"));
  EXPECT_TRUE(contains(output_of({"show", "taken"}), "completed"));
  const json shown = json::parse(output_of({"show", "taken", "--json"}));
  EXPECT_EQ(shown.at("state"), "completed");
}

TEST_F(Import, IsVerifiedAndDoneOnce) {
  output_of({"import", "names", "--name", "taken", "-q"});
  EXPECT_TRUE(contains(output_of({"import", "names"}), "taken has this model already; nothing to do"));
  output_of({"verify", "taken"});
  sandbox_.write("names/vocab.txt", sandbox_.read("names/vocab.txt") + "\n");
  const runner::ProgramOutput changed = sandbox_.exp({"verify", "taken"});
  EXPECT_NE(changed.end.exit_code, 0) << changed.output;
}

TEST_F(Import, IsDoneForAStepThatNamesTheFolder) {
  sandbox_.write("app.toml",
                 "name = \"finder\"\n[app]\nsteps = [\"find\"]\n[app.step.find]\ntype = \"predict\"\n"
                 "model = { folder = \"names\" }\n[data]\ntype = \"conll\"\ndev = \"dev.conll\"\n"
                 "test = \"test.conll\"\n");
  output_of({"run", "app.toml", "-q"});
  EXPECT_TRUE(contains(output_of({"import", "names"}), "names has this model already; nothing to do"));
  const json given = json::parse(output_of({"predict", "finder", "Anna met Berg in Lund .", "--json"}));
  const json own = first_answer("bert", "Anna met Berg in Lund .", {"--scores"});
  int compared = 0;
  for (const auto& [name, value] : given.items())
    if (name.starts_with("find.") && own.contains(name.substr(5))) {
      EXPECT_EQ(value, own.at(name.substr(5))) << name;
      ++compared;
    }
  EXPECT_GT(compared, 0) << given << '\n' << own;
  output_of({"verify", "finder"});
}

TEST_F(Import, TakesTheEncoderAloneForVectors) {
  const std::string said = output_of({"import", "names", "--name", "vectors", "--task", "embed"});
  EXPECT_TRUE(contains(said, "vectors completed in ")) << said;
  const json answer = first_answer("vectors", "Anna met Berg");
  ASSERT_EQ(answer.at("embedding").size(), 16U);
  for (const json& value : answer.at("embedding"))
    EXPECT_TRUE(value.is_number() && std::isfinite(value.get<double>()));
  output_of(
      {"import", "names", "--name", "units", "--task", "embed", "-S", "model.head.normalize=true", "-q"});
  double squares = 0.0;
  const json unit = first_answer("units", "Anna met Berg");
  for (const json& value : unit.at("embedding")) squares += value.get<double>() * value.get<double>();
  EXPECT_NEAR(squares, 1.0, 1e-6);
  const json pair = first_answer("vectors", "Anna\tAnna");
  EXPECT_NEAR(pair.at("similarity").get<double>(), 1.0, 1e-6);
  const runner::ProgramOutput without = sandbox_.exp({"predict", "vectors", "--scores", "Anna"});
  EXPECT_EQ(without.end.exit_code, 1);
  EXPECT_TRUE(contains(without.errors,
                       "the task \"embed\" with the head \"embedding\" gives no scores: its answers are "
                       "vectors, which have no probability"))
      << without.errors;
  sandbox_.write("pairs.tsv", "Anna\tAnna\nBerg\tBerg\n");
  output_of({"import", "names", "--name", "scored", "--task", "embed", "-S", "data.text2_column=\"2\"", "-S",
             "data.label_column=", "-q"});
  const json scores = json::parse(output_of({"evaluate", "scored", "pairs.tsv", "--json"}));
  EXPECT_EQ(scores.at("measures").at("accuracy"), 1.0);
}

TEST_F(Import, SaysWhatItCannotTake) {
  EXPECT_TRUE(contains(refusal_of({"import"}), "import needs a folder"));
  EXPECT_TRUE(contains(refusal_of({"import", "nowhere"}), "nowhere does not exist"));
  EXPECT_TRUE(contains(refusal_of({"import", "names", "--task", "embd"}), "did you mean \"embed\"?"));
  EXPECT_TRUE(contains(refusal_of({"import", "names", "--task", "regress"}),
                       "holds a model \"ForTokenClassification\", which the task \"regress\" cannot import"));
  EXPECT_TRUE(
      contains(refusal_of({"import", "names", "--task", "classify"}),
               "holds a model \"ForTokenClassification\", which the task \"classify\" cannot import"));
  set_in_config("architectures", {"BertForNextSentencePrediction"});
  const std::string unknown = refusal_of({"import", "names"});
  EXPECT_TRUE(contains(unknown, "\"ForNextSentencePrediction\", which no task can import; expected one of "))
      << unknown;
  EXPECT_TRUE(contains(unknown, "for its encoder alone: --task embed")) << unknown;
  set_in_config("architectures", {"BertForQuestionAnswering"});
  const runner::ProgramOutput lacking =
      sandbox_.exp({"import", "names", "-S", "task.max_question=8", "-S", "task.stride=8"});
  EXPECT_TRUE(contains(lacking.output + lacking.errors, "has no tensor for head.bias, head.weight"))
      << lacking.output << lacking.errors;
  set_in_config("architectures", {"BertForTokenClassification"});
  set_in_config("id2label", {{"0", "LABEL_0"}, {"1", "LABEL_1"}});
  const std::string labels = refusal_of({"import", "names", "--name", "other", "--task", "ner"});
  EXPECT_TRUE(contains(
      labels, "holds a model \"ForTokenClassification/labels\", which the task \"ner\" cannot import"))
      << labels;
  set_in_config("id2label", {{"0", "O"}, {"2", "B-X"}});
  EXPECT_TRUE(contains(refusal_of({"import", "names"}), "id2label has no name for class 1 of 2"));
}

TEST_F(Import, RejectsAnInvalidExperimentWithoutEpochs) {
  std::string text = bert_experiment("none");
  text.replace(text.find("epochs = 2"), 10, "epochs = 0");
  sandbox_.write("none.toml", text);
  const runner::ProgramOutput none = sandbox_.exp({"run", "none.toml"});
  EXPECT_EQ(none.end.exit_code, 2);
  EXPECT_TRUE(contains(none.errors, "option \"epochs\" of [train] is 0, which imports the model of a folder"))
      << none.errors;
  sandbox_.write("named.toml", text.replace(text.find("[model]\n"), 8, "[model]\nfrom = \"names\"\n"));
  const runner::ProgramOutput named = sandbox_.exp({"run", "named.toml"});
  EXPECT_EQ(named.end.exit_code, 2);
  EXPECT_TRUE(contains(named.errors, "option \"train\" of [data] names a file that is not used"))
      << named.errors;
}

}  // namespace
}  // namespace encore::system_test
