// SPDX-License-Identifier: BSD-3-Clause
// Tests that a model with the tokenizer unigram is exported as a T5 folder, like the first T5 and like
// version 1.1, and imported again (pretrained/t5_family.cpp): the same output, the same bits, and what is
// rejected. Names of files and tensors are those of `transformers` and must stay.
#include <gtest/gtest.h>

#include <cstring>

#include <nlohmann/json.hpp>

#include "support/translating_experiment.hpp"
#include "system/control/real_worker.hpp"
#include "system/control/translated_days.hpp"

namespace encore::system_test {
namespace {

using nlohmann::json;

std::string t5_experiment(bool gated) {
  std::string text = testing::translating_experiment(
      {.task = "target_start = \"padding\"\n",
       .max_length = "24",
       .tokenizer = "type = \"unigram\"\nvocab_size = 50\n",
       .model = "norm_position = \"pre\"\nnorm = \"norm\"\npositions = \"none\"\nembedding_scale = \"none\"\n"
                "layer.norm = { type = \"rms_norm\", epsilon = 1e-6 }\n",
       .decoder_layers = "2",
       .feed_forward = std::string(", bias = false") + (gated ? ", activation = \"geglu_tanh\"" : ""),
       .train = gated ? "epochs = 12\n" : "epochs = 40\n"});
  const std::string heads = "heads = 2, head_size = 6, bias = false, scaled = false";
  replace_first(text, "\"self_attention\", heads = 2",
                "\"relative_attention\", buckets = 8, max_distance = 12, " + heads);
  replace_first(text, "\"cross_attention\", heads = 2", "\"cross_attention\", " + heads);
  replace_first(
      text, "transform = false",
      std::string("transform = false, bias = false, ") + (gated ? "tied = false" : "scaled = true"));
  if (gated) replace_first(text, "type = \"feed_forward\"", "type = \"gated_feed_forward\"");
  return text;
}

class T5 : public RealWorkerTest, public ::testing::WithParamInterface<bool> {
 protected:
  /// Makes the run "days" and its folder "t5".
  void SetUp() override {
    RealWorkerTest::SetUp();
    if (IsSkipped()) return;
    write_translated_days(sandbox_);
    sandbox_.write("days.toml", t5_experiment(GetParam()));
    output_of({"run", "days.toml", "-q"});
    output_of({"export", "days", "-o", "t5"});
  }
  json config() const { return json::parse(sandbox_.read("t5/config.json")); }
  std::string written_by(const std::string& run, const std::string& beam) const {
    return output_of({"generate", run, "--beam", beam}, three_days);
  }
};

TEST_P(T5, ComesBackWithItsOutputAndItsBits) {
  const std::string import = output_of({"import", "t5", "--name", "taken", "--task", "translate"});
  EXPECT_TRUE(contains(import, "taken completed in ")) << import;
  EXPECT_TRUE(contains(written_by("days", "1"), "tag")) << written_by("days", "1");
  for (const char* beam : {"1", "4"}) EXPECT_EQ(written_by("taken", beam), written_by("days", beam));
  EXPECT_EQ(output_of({"predict", "taken", "--format", "jsonl"}, three_days),
            output_of({"predict", "days", "--format", "jsonl"}, three_days));
  output_of({"export", "taken", "-o", "again"});
  for (const char* file : {"model.safetensors", "spiece.model"})
    EXPECT_EQ(sandbox_.read(std::string("t5/") + file), sandbox_.read(std::string("again/") + file)) << file;
  EXPECT_EQ(config().at("model_type"), "t5");
  EXPECT_EQ(config().at("architectures").at(0), "T5ForConditionalGeneration");
  EXPECT_EQ(config().at("decoder_start_token_id"), config().at("pad_token_id"));
  EXPECT_EQ(config().at("feed_forward_proj"), GetParam() ? "gated-gelu" : "relu");
  EXPECT_EQ(config().at("tie_word_embeddings"), !GetParam());
  EXPECT_EQ(config().at("d_kv"), 6);
  EXPECT_FALSE(config().contains("bos_token_id"));
  EXPECT_TRUE(contains(output_of({"verify", "days"}), "equal"));
  EXPECT_TRUE(contains(output_of({"attention", "days", "tuesday friday", "--target", "Dienstag", "--json"}),
                       "decoder"));
}

TEST_P(T5, IsTrainedOnWithWhatTheFolderSays) {
  std::string text = t5_experiment(GetParam());
  replace_first(text, "name = \"days\"", "name = \"tuned\"");
  const std::size_t tokenizer = text.find("[tokenizer]");
  text.replace(tokenizer, text.find("[optimizer]") - tokenizer,
               "[model]\nfrom = \"t5\"\n[model.head]\ntype = \"language_model\"\n");
  sandbox_.write("tuned.toml", text);
  output_of({"run", "tuned.toml", "-q", "-S", "train.epochs=1"});
  const std::string log = output_of({"logs", "tuned"});
  EXPECT_TRUE(contains(log, "tensors taken")) << log;
  EXPECT_FALSE(contains(log, "new")) << log;
  output_of({"export", "tuned", "-o", "tuned-folder"});
  const auto refused = [&](const std::string& setting) {
    return refusal_of({"plan", "tuned.toml", "-S", setting});
  };
  EXPECT_TRUE(
      contains(refused("model.layer.attention.buckets=16"), "model.layer.attention.buckets = 16, but "))
      << refused("model.layer.attention.buckets=16");
  EXPECT_TRUE(
      contains(refused("model.layer.attention.buckets=16"), "says relative_attention_num_buckets = 8"));
  EXPECT_TRUE(contains(refused("model.layer.cross.scaled=true"), "model.layer.cross.scaled = true, but "))
      << refused("model.layer.cross.scaled=true");
  const std::string tied = GetParam() ? "true" : "false";
  EXPECT_TRUE(contains(refused("model.head.tied=" + tied), "model.head.tied = " + tied + ", but "))
      << refused("model.head.tied=" + tied);
}

TEST_P(T5, IsNotWrittenWhereItWouldComputeOtherwise) {
  struct Other {
    const char *name, *from, *to, *refusal;
  };
  const Other others[] = {
      {"biased", "hidden = 24, bias = false", "hidden = 24",
       "model.layer.feed_forward.bias = true cannot be written as a T5, which has no biases"},
      {"divided", "max_distance = 12, heads = 2, head_size = 6, bias = false, scaled = false",
       "max_distance = 12, heads = 2, head_size = 6, bias = false",
       "model.layer.attention.scaled = true cannot be written as a T5, which has no scores that are divided"},
      {"begins", "target_start = \"padding\"", "target_start = \"padding\"\ntarget_begins = true",
       "task.target_begins = true cannot be written as a T5, whose text does not begin with a marker"},
      {"positions", "positions = \"none\"", "positions = \"sinusoidal\"",
       "model.positions = \"sinusoidal\" cannot be written as a T5, which has \"none\" positions"},
      {"sizes", "\"cross_attention\", heads = 2, head_size = 6",
       "\"cross_attention\", heads = 2, head_size = 7",
       "model.layer.cross.head_size = 7 cannot be written as a T5, which has the same number in both stacks"},
      {"both", "transform = false, bias = false, ",
       "transform = false, bias = false, tied = false, scaled = true } #",
       "model.head.tied = false with model.head.scaled = true cannot be written as a T5"}};
  for (const Other& other : others) {
    std::string text = t5_experiment(GetParam());
    replace_first(text, "\"days\"", "\"" + std::string(other.name) + "\"");
    replace_first(text, other.from, other.to);
    sandbox_.write("other.toml", text);
    output_of({"run", "other.toml", "-q", "-S", "train.epochs=1"});
    const runner::ProgramOutput output = sandbox_.exp({"export", other.name, "-o", "other"});
    EXPECT_NE(output.end.exit_code, 0) << other.name;
    EXPECT_TRUE(contains(output.errors, other.refusal)) << output.errors;
  }
}

TEST_P(T5, IsRefusedWhereItsFolderIsNot) {
  const json whole = config();
  struct Changed {
    const char* member;
    json value;
    const char* refusal;
  };
  const Changed changes[] = {
      {"feed_forward_proj", "gated-mish", "feed_forward_proj is \"gated-mish\", which is not supported"},
      {"is_encoder_decoder", false, "is_encoder_decoder is false, which is not supported"},
      {"num_decoder_layers", 3, "it lacks \"decoder.block.2.layer.0.layer_norm.weight\""},
      {"num_decoder_layers", 1, "it holds \"decoder.block.1."},
      {"d_kv", 7,
       "SelfAttention.o.weight\" is float32(16, 12), and parameter \"decoder.0.attention.out.weight\""},
      {"vocab_size", 20, "they belong to different models"}};
  for (const auto& [member, value, refusal] : changes) {
    json changed = whole;
    changed[member] = value;
    sandbox_.write("t5/config.json", changed.dump());
    const runner::ProgramOutput output = sandbox_.exp({"import", "t5", "--task", "translate"});
    EXPECT_NE(output.end.exit_code, 0) << member;
    EXPECT_TRUE(contains(output.errors + output.output, refusal)) << output.errors << output.output;
  }
  sandbox_.write("t5/config.json", whole.dump());
  sandbox_.write("t5/spiece.model", "no model");
  EXPECT_TRUE(contains(refusal_of({"import", "t5", "--task", "translate"}), "invalid SentencePiece model"));
  std::filesystem::remove(sandbox_.folder() / "t5/spiece.model");
  EXPECT_TRUE(contains(refusal_of({"import", "t5", "--task", "translate"}),
                       "has no spiece.model, so its tokenizer is unknown"));
}

INSTANTIATE_TEST_SUITE_P(Versions, T5, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "gated" : "first"; });

}  // namespace
}  // namespace encore::system_test
