// SPDX-License-Identifier: BSD-3-Clause
// Tests the task "lm", a language model (plugins/tasks/lm/lm.cpp), with the real worker, from plain text to
// the answer of `exp predict` for lines, its export as a GPT-2, and what is rejected. The words of messages
// may change; the export must give the scores of the run.
#include <gtest/gtest.h>

#include <cmath>

#include <nlohmann/json.hpp>

#include "system/control/days.hpp"
#include "system/control/real_worker.hpp"

namespace encore::system_test {
namespace {

using nlohmann::json;

class LanguageModel : public RealWorkerTest {
 protected:
  LanguageModel() { write_days(sandbox_, "days"); }
};

TEST_F(LanguageModel, TrainsEvaluatesAndScoresLines) {
  const std::string run = output_of({"run", "days.toml"});
  for (const char* part :
       {"step 250", "dev perplexity ", "test perplexity ", "bits per character ", "token accuracy "})
    EXPECT_TRUE(contains(run, part)) << part << " in\n" << run;
  EXPECT_EQ(sandbox_.one("SELECT max(step) FROM point"), "250");
  const double perplexity =
      std::stod(sandbox_.one("SELECT value FROM curve WHERE metric = 'test/perplexity'"));
  EXPECT_LT(perplexity, 3.0) << "of some twenty letters";
  const json evaluation = json::parse(output_of({"evaluate", "days", "test.txt", "--json"}));
  EXPECT_NEAR(evaluation.at("measures").at("perplexity").get<double>(), perplexity, 1e-9 * perplexity);

  const auto score = [&](const std::string& line) {
    return json::parse(output_of({"predict", "days", "--format", "jsonl", line}));
  };
  const json known = score("monday tuesday"), odd = score("yadnom yadseut");
  EXPECT_EQ(known.at("pieces"), 14.0);
  EXPECT_LT(known.at("perplexity").get<double>(), odd.at("perplexity").get<double>());
  EXPECT_NEAR(std::exp(-known.at("log_probability").get<double>() / 14.0),
              known.at("perplexity").get<double>(), 1e-9);
  EXPECT_NEAR(known.at("bits_per_character").get<double>(),
              -known.at("log_probability").get<double>() / std::log(2.0) / 14.0, 1e-9);
  const std::string shown = output_of({"predict", "days"}, "monday\n\nmon\n");
  EXPECT_TRUE(contains(shown, " bits per character\tmonday\nno token is predicted\t\nperplexity ")) << shown;
}

TEST_F(LanguageModel, TakesBytePairsAndWholeFiles) {
  const std::string run = output_of({"run", "days.toml", "-S", "train.steps=20", "-S",
                                     "tokenizer={ type = \"byte_bpe\", vocab_size = 280 }", "-S",
                                     "data.record=file", "-S", "task.markers=false"});
  EXPECT_TRUE(contains(run, "step 20")) << run;
  EXPECT_TRUE(contains(run, "dev perplexity ")) << run;
  EXPECT_EQ(json::parse(output_of({"predict", "days", "--format", "jsonl", "monday"})).at("text"), "monday");
}

TEST_F(LanguageModel, LeavesAsAGpt2AndComesBack) {
  const std::vector<std::string> shape = {"-S", "train.steps=20",
                                          "-S", "tokenizer={ type = \"byte_bpe\", vocab_size = 280 }",
                                          "-S", "model.positions=learned",
                                          "-S", "model.embedding_scale=none",
                                          "-S", "model.layer.feed_forward.activation=gelu_tanh"};
  const auto train = [&](const std::string& name, const std::string& setting) {
    std::vector<std::string> command = {"run", "days.toml", "-S", "name=" + name, "-S", setting};
    command.insert(command.end(), shape.begin(), shape.end());
    output_of(command);
  };
  train("plain", "model.head.bias=false");
  EXPECT_TRUE(contains(output_of({"export", "plain", "-o", "folder"}), "as GPT2LMHeadModel"));
  output_of({"import", "folder", "--name", "again"});
  const std::vector<std::string> line = {"--format", "jsonl", "monday tuesday"};
  EXPECT_EQ(output_of({"predict", "plain", line[0], line[1], line[2]}),
            output_of({"predict", "again", line[0], line[1], line[2]}));
  EXPECT_EQ(output_of({"generate", "plain", "monday", "--max-tokens", "8"}),
            output_of({"generate", "again", "monday", "--max-tokens", "8"}));

  const auto refusal = [&](const std::string& name) {
    const runner::ProgramOutput out = sandbox_.exp({"export", name, "-o", "other"});
    EXPECT_NE(out.end.exit_code, 0);
    return out.output + out.errors;
  };
  train("biased", "model.head.bias=true");
  EXPECT_TRUE(contains(refusal("biased"),
                       "the parameter head.bias (model.head.type = \"language_model\") has no counterpart in "
                       "GPT2LMHeadModel; train with model.head.bias = false"))
      << refusal("biased");
  train("after", "model.norm_position=post");
  EXPECT_TRUE(contains(refusal("after"),
                       "model.norm_position = \"post\" cannot be written as a GPT-2, which "
                       "has a norm before each sub-layer"))
      << refusal("after");
}

TEST_F(LanguageModel, RefusesAModelThatSeesItsTargets) {
  const runner::ProgramOutput run = sandbox_.exp({"run", "days.toml", "-S", "model.causal=false"});
  EXPECT_EQ(run.end.exit_code, 1);
  EXPECT_TRUE(contains(run.output + run.errors, "set [model] causal = true")) << run.output << run.errors;
}

TEST_F(LanguageModel, RejectsDataWithoutContent) {
  sandbox_.write("dev.txt", "a\n");
  const runner::ProgramOutput run = sandbox_.exp({"run", "days.toml", "-S", "task.markers=false"});
  EXPECT_EQ(run.end.exit_code, 1);
  EXPECT_TRUE(contains(run.output + run.errors, "dev.txt: record 1: the text has fewer than two tokens"))
      << run.output << run.errors;
  sandbox_.write("train.txt", " \n\n");
  const runner::ProgramOutput empty = sandbox_.exp({"run", "days.toml"});
  EXPECT_EQ(empty.end.exit_code, 2);
  EXPECT_TRUE(contains(empty.errors, "train.txt: the training set is empty")) << empty.errors;
}

}  // namespace
}  // namespace encore::system_test
