// SPDX-License-Identifier: BSD-3-Clause
// Tests models with a vocabulary for sources and another one for targets ([tokenizer.target],
// infer/tokenizer_pair.hpp) with the real worker: training, translation, what other verbs do with such a run,
// and what is refused. Expected translations are those of the corpus, which the model must learn by heart.
#include <gtest/gtest.h>

#include <string>

#include <nlohmann/json.hpp>

#include "support/translating_experiment.hpp"
#include "system/control/real_worker.hpp"
#include "system/control/translated_days.hpp"

namespace encore::system_test {
namespace {

const std::string two_tokenizers =
    "type = \"word\"\nvocab_size = 20\ntarget = { type = \"byte_bpe\", vocab_size = 300 }\n";

std::string experiment(const std::string& train = "epochs = 40\n") {
  return testing::translating_experiment({.tokenizer = two_tokenizers, .train = train});
}

class TargetVocabulary : public RealWorkerTest {
 protected:
  TargetVocabulary() { write_translated_days(sandbox_); }
  std::string vocabulary_of(const std::string& run) const {
    return sandbox_.read("encore.db.runs/" + sandbox_.one("SELECT id FROM run WHERE name = '" + run + "'") +
                         "/vocab.txt");
  }
};

TEST_F(TargetVocabulary, IsTrainedFromTheTargetsAndWritesThem) {
  sandbox_.write("days.toml", experiment());
  output_of({"run", "days.toml", "-q"});
  EXPECT_GT(std::stod(sandbox_.one("SELECT max(value) FROM curve WHERE metric = 'dev/bleu'")), 0.6)
      << "of five words that each have one translation";
  const std::string text = vocabulary_of("days"), header = "\n#vocabulary of targets\n";
  const std::size_t border = text.find(header);
  ASSERT_NE(border, std::string::npos) << text;
  EXPECT_TRUE(contains(text.substr(0, border), "monday") && !contains(text.substr(0, border), "Montag"));
  EXPECT_TRUE(contains(text.substr(border), "tag") && !contains(text.substr(border), "monday"));

  EXPECT_EQ(output_of({"predict", "days", "monday"}), "Montag\n");
  EXPECT_EQ(output_of({"generate", "days", "--beam", "3"}, "friday\n\ntuesday\n"), " Freitag\n\n Dienstag\n")
      << "byte_bpe has the blank in front of a word in its token";
  EXPECT_TRUE(contains(output_of({"verify", "days"}), "equal"));
  const nlohmann::json attention =
      nlohmann::json::parse(output_of({"attention", "days", "monday", "--target", "Montag", "--json"}));
  EXPECT_EQ(attention.at("texts")[0].at("tokens")[0].at("piece"), "monday");
  std::string written;
  for (const nlohmann::json& token : attention.at("texts")[0].at("target"))
    if (!token.value("special", false)) written += token.at("piece").get<std::string>();
  EXPECT_TRUE(contains(written, "Montag")) << attention;
}

TEST_F(TargetVocabulary, IsInBundlesAndFolders) {
  sandbox_.write("days.toml", experiment());
  output_of({"run", "days.toml", "-q"});
  const std::string answers = output_of({"predict", "days", "--format", "jsonl"}, three_days);
  EXPECT_TRUE(contains(answers, "Montag")) << answers;
  output_of({"bundle", "days", "--data", "-o", "days.tar.zst"});
  EXPECT_TRUE(contains(output_of({"verify", "days.tar.zst"}), "equal"));
  output_of({"db", "merge", "days.tar.zst", "--db", "other.db"});
  EXPECT_EQ(output_of({"predict", "days", "--format", "jsonl", "--db", "other.db"}, three_days), answers);
  output_of({"quantize", "days"});
  EXPECT_FALSE(output_of({"predict", "days", "--int8"}, three_days).empty());
  EXPECT_TRUE(contains(refusal_of({"export", "days", "-o", "out"}),
                       "the model has separate vocabularies for sources and targets ([tokenizer.target]), "
                       "which no family of models has that Encore writes; export it with --format encore"));
  EXPECT_TRUE(contains(refusal_of({"export", "days", "--format", "onnx", "-o", "out"}),
                       "a model with a decoder over a second text"));
}

TEST_F(TargetVocabulary, GoesToARunThatStartsFromTheWeights) {
  sandbox_.write("days.toml", experiment("epochs = 2\n"));
  output_of({"run", "days.toml", "-q"});
  std::string text = testing::translating_experiment({.train = "epochs = 1\n"});
  text.erase(text.find("[tokenizer]"), text.find("[model]") - text.find("[tokenizer]"));
  text.erase(text.find("width = 16"), text.find("layer.cross") - text.find("width = 16"));
  text.erase(text.find("layer.cross"), text.find("head = ") - text.find("layer.cross"));
  text.insert(text.find("head = "), "from = { run = \"days\" }\n");
  text.replace(text.find("days"), 4, "more");
  sandbox_.write("more.toml", text);
  output_of({"run", "more.toml", "-q"});
  EXPECT_EQ(vocabulary_of("more"), vocabulary_of("days"));
}

TEST_F(TargetVocabulary, NeedsADecoder) {
  std::string text = experiment();
  const std::string decoder =
                        "decoder = { layers = 1, block = [\"attention\", \"cross\", \"feed_forward\"] }\n",
                    cross = "layer.cross = { type = \"cross_attention\", heads = 2 }\n";
  text.erase(text.find(decoder), decoder.size());
  text.erase(text.find(cross), cross.size());
  const std::string said = refusal(text);
  EXPECT_TRUE(contains(said,
                       "[tokenizer.target] is for the text that a decoder generates, and this model has no "
                       "decoder; add [model.decoder], or leave the table out"))
      << said;
}

TEST_F(TargetVocabulary, HasOptionsThatAreChecked) {
  const auto with = [](const std::string& target) {
    return testing::translating_experiment(
        {.tokenizer = "type = \"word\"\nvocab_size = 20\ntarget = " + target + "\n"});
  };
  EXPECT_TRUE(contains(refusal(with("5")), "[tokenizer.target] must be a table, found the integer 5"))
      << refusal(with("5"));
  EXPECT_TRUE(contains(refusal(with("{ vocab_size = 20 }")), "[tokenizer.target] must name a tokenizer"))
      << refusal(with("{ vocab_size = 20 }"));
  EXPECT_TRUE(contains(refusal(with("{ type = \"word\", vocab_sise = 20 }")), "did you mean \"vocab_size\"?"))
      << refusal(with("{ type = \"word\", vocab_sise = 20 }"));
}

}  // namespace
}  // namespace encore::system_test
