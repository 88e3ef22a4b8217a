// A language model from plain text to what `exp predict` says of lines, and what is refused.
#include <gtest/gtest.h>

#include <cmath>

#include <nlohmann/json.hpp>

#include "system/control/real_worker.hpp"

namespace encore::system_test {
namespace {

using nlohmann::json;

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

constexpr const char* experiment = R"(name = "days"
seed = 1
[task]
type = "lm"
[data]
type = "text_file"
train = "train.txt"
dev = "dev.txt"
test = "test.txt"
max_length = 16
[tokenizer]
type = "character"
vocab_size = 60
white_space = true
[model]
causal = true
width = 32
layers = 1
dropout = 0.0
norm_position = "pre"
block = ["attention", "feed_forward"]
[model.layer.attention]
type = "self_attention"
heads = 2
[model.layer.feed_forward]
type = "feed_forward"
hidden = 64
[model.head]
type = "language_model"
transform = false
[optimizer]
type = "adamw"
learning_rate = 5e-3
[schedule]
type = "cosine"
warmup_steps = 10
[train]
steps = 250
batch_tokens = 256
)";

/// Days in their order, in lines that are longer than a window.
std::string days(int begin, int end) {
  const char* names[] = {"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"};
  std::string lines;
  for (int i = begin; i < end; ++i) {
    for (int k = 0; k < 5 + i % 4; ++k) lines += std::string(k > 0 ? " " : "") + names[(i + k) % 7];
    lines += "\n";
  }
  return lines;
}

class LanguageModel : public RealWorkerTest {
 protected:
  LanguageModel() {
    sandbox_.write("days.toml", experiment);
    sandbox_.write("train.txt", days(0, 56));
    sandbox_.write("dev.txt", days(70, 84));
    sandbox_.write("test.txt", days(90, 104));
  }
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
  EXPECT_TRUE(contains(shown, " bits per character\tmonday\nno piece is predicted\t\nperplexity ")) << shown;
}

TEST_F(LanguageModel, TakesBytePairsAndWholeFiles) {
  const std::string run = output_of({"run", "days.toml", "-S", "train.steps=20", "-S",
                                     "tokenizer={ type = \"byte_bpe\", vocab_size = 280 }", "-S",
                                     "data.record=file", "-S", "task.markers=false"});
  EXPECT_TRUE(contains(run, "step 20")) << run;
  EXPECT_TRUE(contains(run, "dev perplexity ")) << run;
  EXPECT_EQ(json::parse(output_of({"predict", "days", "--format", "jsonl", "monday"})).at("text"), "monday");
}

TEST_F(LanguageModel, RefusesAModelThatSeesItsTargets) {
  const ProgramOutput run = sandbox_.exp({"run", "days.toml", "-S", "model.causal=false"});
  EXPECT_EQ(run.end.exit_code, 1);
  EXPECT_TRUE(contains(run.output + run.errors, "set [model] causal = true")) << run.output << run.errors;
}

TEST_F(LanguageModel, RefusesTextsThatSayNothing) {
  sandbox_.write("dev.txt", "a\n");
  const ProgramOutput run = sandbox_.exp({"run", "days.toml", "-S", "task.markers=false"});
  EXPECT_EQ(run.end.exit_code, 1);
  EXPECT_TRUE(contains(run.output + run.errors, "text 1 has fewer than two pieces"))
      << run.output << run.errors;
  sandbox_.write("train.txt", " \n\n");
  const ProgramOutput empty = sandbox_.exp({"run", "days.toml"});
  EXPECT_EQ(empty.end.exit_code, 2);
  EXPECT_TRUE(contains(empty.errors, "train.txt: the training set is empty")) << empty.errors;
}

}  // namespace
}  // namespace encore::system_test
