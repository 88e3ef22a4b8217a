// SPDX-License-Identifier: BSD-3-Clause
// Tests that a model with the tokenizer unigram is exported as a MarianMT folder and imported again
// (pretrained/marian_family.cpp): the same output, the same bits, and what is rejected. Names of files and
// tensors are those of `transformers` and must stay.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include <nlohmann/json.hpp>

#include "record/safetensors.hpp"
#include "support/translating_experiment.hpp"
#include "system/control/real_worker.hpp"
#include "system/control/translated_days.hpp"

namespace encore::system_test {
namespace {

using nlohmann::json;

const std::string days_experiment =
    testing::translating_experiment({.task = "target_start = \"padding\"\n",
                                     .max_length = "24",
                                     .tokenizer = "type = \"unigram\"\nvocab_size = 50\n",
                                     .model = "position_layout = \"halves\"\nnorm_position = \"post\"\n",
                                     .decoder_layers = "2",
                                     .feed_forward = ", activation = \"silu\"",
                                     .train = "epochs = 12\n"});

class Marian : public RealWorkerTest {
 protected:
  /// Makes the run "days" and its folder "marian".
  void SetUp() override {
    RealWorkerTest::SetUp();
    if (IsSkipped()) return;
    write_translated_days(sandbox_);
    sandbox_.write("days.toml", days_experiment);
    output_of({"run", "days.toml", "-q"});
    output_of({"export", "days", "-o", "marian"});
  }
  std::string written_by(const std::string& run, const std::string& beam) const {
    return output_of({"generate", run, "--beam", beam}, three_days);
  }
};

TEST_F(Marian, ComesBackWithItsOutputAndItsBits) {
  const std::string import = output_of({"import", "marian", "--name", "taken", "--task", "translate"});
  EXPECT_TRUE(contains(import, "taken completed in ")) << import;
  for (const char* beam : {"1", "4"}) EXPECT_EQ(written_by("taken", beam), written_by("days", beam));
  EXPECT_EQ(output_of({"predict", "taken", "--format", "jsonl"}, three_days),
            output_of({"predict", "days", "--format", "jsonl"}, three_days));
  output_of({"export", "taken", "-o", "again"});
  for (const char* file : {"model.safetensors", "config.json", "vocab.json", "source.spm", "target.spm"})
    EXPECT_EQ(sandbox_.read(std::string("marian/") + file), sandbox_.read(std::string("again/") + file))
        << file;
  const json config = json::parse(sandbox_.read("marian/config.json"));
  EXPECT_EQ(config.at("model_type"), "marian");
  EXPECT_EQ(config.at("architectures").at(0), "MarianMTModel");
  EXPECT_EQ(config.at("decoder_start_token_id"), config.at("pad_token_id"));
  EXPECT_EQ(config.at("activation_function"), "silu");
  EXPECT_TRUE(contains(output_of({"verify", "days"}), "equal"));
}

TEST_F(Marian, IsTrainedOnWithWhatTheFolderSays) {
  std::string text = days_experiment;
  text.replace(text.find("name = \"days\""), 13, "name = \"tuned\"");
  const std::size_t tokenizer = text.find("[tokenizer]");
  text.replace(tokenizer, text.find("[optimizer]") - tokenizer,
               "[model]\nfrom = \"marian\"\n[model.head]\ntype = \"language_model\"\ntransform = false\n");
  sandbox_.write("tuned.toml", text);
  output_of({"run", "tuned.toml", "-q", "-S", "train.epochs=1"});
  EXPECT_TRUE(contains(output_of({"logs", "tuned"}), "tensors taken")) << output_of({"logs", "tuned"});
  EXPECT_TRUE(contains(output_of({"show", "tuned", "--all"}), "position_layout"));
  const std::string pairs = refusal_of({"plan", "tuned.toml", "-S", "model.position_layout=\"pairs\""});
  EXPECT_TRUE(contains(pairs, "model.position_layout = \"pairs\", but ") &&
              contains(pairs, "which means model.position_layout = \"halves\""))
      << pairs;
  const std::string size = refusal_of({"plan", "tuned.toml", "-S", "tokenizer.byte_fallback=true"});
  EXPECT_TRUE(contains(size, "tokenizer.byte_fallback is for a vocabulary that is trained")) << size;
}

/// The token of padding stands for no text, but a model from elsewhere may find it the most probable one.
TEST_F(Marian, NeverWritesPadding) {
  output_of({"import", "marian", "--name", "taken", "--task", "translate", "-q"});
  const auto padding = json::parse(sandbox_.read("marian/config.json")).at("pad_token_id").get<std::size_t>();
  const std::filesystem::path file = sandbox_.folder() / "marian/model.safetensors";
  {
    const record::Safetensors whole(file);
    std::vector<record::TensorSlice> tensors;
    std::vector<float> bias;
    for (const auto& [name, tensor] : whole.tensors()) {
      tensors.push_back({.name = name, .dtype = tensor.dtype, .shape = tensor.shape, .bytes = tensor.bytes});
      if (name != "final_logits_bias") continue;
      bias.resize(tensor.bytes.size() / sizeof(float));
      std::memcpy(bias.data(), tensor.bytes.data(), tensor.bytes.size());
      bias[padding] = 100.0F;
      tensors.back().bytes = std::as_bytes(std::span(bias));
    }
    ASSERT_FALSE(bias.empty());
    record::save_safetensors(sandbox_.folder() / "padded.safetensors", tensors, whole.metadata());
  }
  std::filesystem::rename(sandbox_.folder() / "padded.safetensors", file);
  output_of({"import", "marian", "--name", "padded", "--task", "translate", "-q"});
  EXPECT_EQ(written_by("padded", "1"), written_by("taken", "1"));
  for (const std::vector<std::string>& way : {std::vector<std::string>{"--temperature", "1", "--seed", "3"},
                                              {"--beam", "1", "--repetition-penalty", "1.1"}}) {
    std::vector<std::string> taken = {"generate", "taken"}, padded = {"generate", "padded"};
    taken.insert(taken.end(), way.begin(), way.end());
    padded.insert(padded.end(), way.begin(), way.end());
    EXPECT_EQ(output_of(padded, three_days), output_of(taken, three_days)) << way.front();
  }
}

TEST_F(Marian, IsNotWrittenWhereItWouldComputeOtherwise) {
  struct Other {
    const char *name, *from, *to, *refusal;
  };
  const Other others[] = {
      {"pairs", "position_layout = \"halves\"\n", "",
       "model.position_layout = \"pairs\" cannot be written as a MarianMT, which has \"halves\" in this "
       "place"},
      {"learned", "position_layout = \"halves\"", "positions = \"learned\"",
       "model.positions = \"learned\" cannot be written as a MarianMT, which has \"sinusoidal\" positions"},
      {"begins", "target_start = \"padding\"", "target_start = \"padding\"\ntarget_begins = true",
       "task.target_begins = true cannot be written as a MarianMT, whose text does not begin with a marker"},
      {"before", "norm_position = \"post\"", "norm_position = \"pre\"",
       "model.norm_position = \"pre\" cannot be written as a MarianMT, which has a norm after each sum"}};
  for (const Other& other : others) {
    std::string text = days_experiment;
    text.replace(text.find("\"days\""), 6, "\"" + std::string(other.name) + "\"");
    text.replace(text.find(other.from), std::strlen(other.from), other.to);
    sandbox_.write("other.toml", text);
    output_of({"run", "other.toml", "-q", "-S", "train.epochs=1"});
    const runner::ProgramOutput output = sandbox_.exp({"export", other.name, "-o", "other"});
    EXPECT_NE(output.end.exit_code, 0) << other.name;
    EXPECT_TRUE(contains(output.errors, other.refusal)) << output.errors;
  }
}

TEST_F(Marian, IsRefusedWhereItsFilesDoNotBelongTogether) {
  sandbox_.write("marian/source.spm", "no model");
  EXPECT_TRUE(
      contains(refusal_of({"import", "marian", "--task", "translate"}), "is not a SentencePiece model"));
  std::filesystem::remove(sandbox_.folder() / "marian/source.spm");
  EXPECT_TRUE(contains(refusal_of({"import", "marian", "--task", "translate"}),
                       "source.spm is missing, so the splits of sources are unknown"));
  const std::string other = refusal_of({"import", "marian", "--task", "embed"});
  EXPECT_FALSE(other.empty());
}

}  // namespace
}  // namespace encore::system_test
