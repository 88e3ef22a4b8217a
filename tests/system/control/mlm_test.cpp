// SPDX-License-Identifier: BSD-3-Clause
// Tests masked language modelling (plugins/tasks/mlm/mlm.cpp) with the real worker, from plain text to the
// answer of `exp predict`, and what is rejected before anything starts. The words of messages may change;
// members of the predictions must stay, because programs read them.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "system/control/real_worker.hpp"

namespace encore::system_test {
namespace {

using nlohmann::json;

const std::string markers = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n";

/// Returns days in their order: the neighbours of a hidden day determine it.
std::string days(int begin, int end) {
  const char* names[] = {"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"};
  std::string lines;
  for (int i = begin; i < end; ++i) {
    for (int k = 0; k < 5 + i % 4; ++k) lines += std::string(k > 0 ? " " : "") + names[(i + k) % 7];
    lines += "\n";
  }
  return lines;
}

/// Returns the experiment of the sandbox, changed to a masked language model.
std::string days_experiment() {
  std::string text = tiny_experiment("days");
  replace_all(text, "\"ner\"", "\"mlm\"");
  replace_all(text, "\"conll\"", "\"text_file\"");
  replace_all(text, ".conll", ".txt");
  replace_all(text, "\"linear\"", "\"language_model\"");
  replace_all(text, "vocab_size = 60", "vocab = \"vocab.txt\"");
  replace_all(text, "type = \"mlm\"", "type = \"mlm\"\nprobability = 0.3");
  replace_all(text, "width = 16", "width = 32\nnorm_position = \"pre\"");
  replace_all(text, "learning_rate = 1e-2", "learning_rate = 5e-3");
  replace_all(text, "epochs = 4", "epochs = 60");
  replace_all(text, "dropout = 0.1", "dropout = 0.0");
  return text;
}

class MaskedLanguageModel : public RealWorkerTest {
 protected:
  MaskedLanguageModel() {
    sandbox_.write("train.txt", days(0, 56));
    sandbox_.write("dev.txt", days(70, 84));
    sandbox_.write("test.txt", days(90, 104));
    sandbox_.write("vocab.txt",
                   markers + "[MASK]\nmonday\ntuesday\nwednesday\nthursday\nfriday\nsaturday\nsunday\n");
  }
};

TEST_F(MaskedLanguageModel, TrainsEvaluatesReportsAndFillsMasks) {
  sandbox_.write("days.toml", days_experiment());
  const std::string run = output_of({"run", "days.toml"});
  EXPECT_TRUE(contains(run, "dev perplexity ") && contains(run, "test perplexity ")) << run;
  const double perplexity =
      std::stod(sandbox_.one("SELECT value FROM curve WHERE metric = 'test/perplexity'"));
  EXPECT_LT(perplexity, 3.0) << "of seven days";

  const json evaluation = json::parse(output_of({"evaluate", "days", "test.txt", "--json"}));
  EXPECT_NEAR(evaluation.at("measures").at("perplexity").get<double>(), perplexity, 1e-9 * perplexity)
      << "the same model on the same file has the same masks";

  const std::string line = "monday [MASK] wednesday thursday [MASK] saturday";
  const json answer = json::parse(output_of({"predict", "days", "--format", "jsonl", line}));
  EXPECT_EQ(answer.at("text"), line);
  EXPECT_EQ(answer.at("masks"), json({"tuesday", "friday"}));
  EXPECT_TRUE(answer.at("candidates").at(0).get<std::string>().starts_with("tuesday 0.")) << answer;
  const std::string shown = output_of({"predict", "days"}, line + "\n\nmonday tuesday\n");
  EXPECT_TRUE(shown.starts_with("tuesday 0.")) << shown;
  EXPECT_TRUE(contains(shown, " | friday 0.")) << shown;
  EXPECT_TRUE(shown.ends_with("\t" + line + "\nno [MASK]\t\nno [MASK]\tmonday tuesday\n")) << shown;
  EXPECT_EQ(output_of({"predict", "days"}, "monday\n"), "no [MASK]\tmonday\n") << "a batch without any mask";

  const std::string report = output_of({"report", "days", "--format", "json"});
  for (const char* id : {"results-test-perplexity", "curve-dev-perplexity", "lengths"})
    EXPECT_TRUE(contains(report, "\"id\": \"" + std::string(id) + "\"")) << id;
}

/// Returns lines that repeat one day each, so that a model can see that a segment comes from another line.
std::string single_days(int begin, int end) {
  const char* names[] = {"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"};
  std::string lines;
  for (int i = begin; i < end; ++i) {
    for (int k = 0; k < 6 + i % 3; ++k) lines += std::string(k > 0 ? " " : "") + names[i % 7];
    lines += "\n";
  }
  return lines;
}

/// A BERT that also predicts whether the second segment of a window follows the first.
std::string pairs_experiment() {
  std::string text = days_experiment();
  replace_all(text, "type = \"mlm\"", "type = \"mlm\"\nnext_sentence = true");
  replace_all(text, "norm_position = \"pre\"",
              "positions = \"learned\"\nsegments = 2\nembedding_norm = true\nembedding_scale = \"none\"");
  replace_all(text, "learning_rate = 5e-3", "learning_rate = 2e-3");
  replace_all(text, "hidden = 32", "hidden = 32\nactivation = \"gelu\"");
  return text;
}

TEST_F(MaskedLanguageModel, PredictsWhetherOneSegmentFollowsAnother) {
  sandbox_.write("train.txt", single_days(0, 56));
  sandbox_.write("dev.txt", single_days(70, 84));
  sandbox_.write("test.txt", single_days(90, 104));
  sandbox_.write("pairs.toml", pairs_experiment());
  const std::string run = output_of({"run", "pairs.toml"});
  EXPECT_TRUE(contains(run, "next sentence accuracy ")) << run;
  const json evaluation = json::parse(output_of({"evaluate", "days", "train.txt", "--json"}));
  EXPECT_GT(evaluation.at("measures").at("next_accuracy").get<double>(), 0.8) << evaluation;

  const std::string pairs = "monday monday\tmonday [MASK]\nmonday monday\tfriday friday\nmonday\n";
  const std::string answers = output_of({"predict", "days", "--format", "jsonl"}, pairs);
  std::vector<json> told;
  std::istringstream lines(answers);
  for (std::string line; std::getline(lines, line);) told.push_back(json::parse(line));
  ASSERT_EQ(told.size(), 3U);
  EXPECT_EQ(told[0].at("masks"), json({"monday"}));
  for (std::size_t i = 0; i < 2;
       ++i) {  // rounding may decide between the two; how often the answer is right is measured above
    const std::string follows = told[i].at("follows");
    EXPECT_TRUE(follows == "yes" || follows == "no") << answers;
  }
  EXPECT_EQ(told[2].at("follows"), "");

  output_of({"export", "days", "-o", "folder"});
  const std::string config = sandbox_.read("folder/config.json");
  EXPECT_TRUE(contains(config, "\"BertForPreTraining\"")) << config;
  output_of({"import", "folder", "--name", "again"});
  EXPECT_EQ(output_of({"predict", "again", "--format", "jsonl"}, pairs), answers);
}

TEST_F(MaskedLanguageModel, RefusesPairsOfASingleText) {
  sandbox_.write("train.txt", "monday tuesday wednesday\n");
  const std::string said = refusal(pairs_experiment());
  EXPECT_TRUE(contains(said,
                       "the training set is one record, but next_sentence takes half of the second parts "
                       "from others: set data.record = \"paragraph\", or name several files"))
      << said;
}

TEST_F(MaskedLanguageModel, RefusesAHeadThatDoesNotGuessPieces) {
  std::string text = days_experiment();
  replace_all(text, "\"language_model\"", "\"linear\"");
  EXPECT_TRUE(contains(refusal(text),
                       "the task \"mlm\" reads the output \"candidates\" over picked, which the head "
                       "\"linear\" does not give"))
      << refusal(text);
}

TEST_F(MaskedLanguageModel, RefusesAPackedFileAndAnEmptyOne) {
  sandbox_.write("dev.txt", std::string("\x1F\x8B\x08\0", 4));
  EXPECT_TRUE(contains(refusal(days_experiment()),
                       "dev.txt: the development set is packed by gzip; unpack it, for example with gunzip"));
  sandbox_.write("dev.txt", "\n\n");
  EXPECT_TRUE(contains(refusal(days_experiment()),
                       "dev.txt: the development set is empty: expected at least one line with text"));
}

TEST_F(MaskedLanguageModel, RefusesAVocabularyWithoutTheMaskToken) {
  sandbox_.write("vocab.txt", markers + "monday\ntuesday\n");
  sandbox_.write("days.toml", days_experiment());
  const runner::ProgramOutput output = sandbox_.exp({"run", "days.toml"});
  EXPECT_EQ(output.end.exit_code, 1);
  EXPECT_TRUE(contains(
      output.output + output.errors,
      "train.txt: record 1: the vocabulary has no token for the role \"mask\"; add the line [MASK] to "
      "its file"))
      << output.output << output.errors;
}

}  // namespace
}  // namespace encore::system_test
