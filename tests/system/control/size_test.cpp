// SPDX-License-Identifier: BSD-3-Clause
// Tests `exp plan --size` with the real worker (cli/plan_size.cpp, worker/size_verb.cpp): the parameters of
// BERT-base and BERT-large, compared with the sums of Devlin et al.'s shapes, so these numbers never change;
// the assumptions without data; and what is rejected.
#include <gtest/gtest.h>

#include <filesystem>

#include <nlohmann/json.hpp>

#include "system/control/real_worker.hpp"

namespace encore::system_test {
namespace {

using nlohmann::json;

/// The shape of a BERT with a tied output over the vocabulary.
struct Bert {
  double width, layers, hidden;
  static constexpr double tokens = 30522, positions = 512, segments = 2;

  double norm() const { return 2 * width; }
  double embedding() const { return (tokens + positions + segments) * width + norm(); }
  double matrices() const { return 4 * width * width + 2 * width * hidden; }
  double block() const { return matrices() + 4 * width + hidden + width + 2 * norm(); }
  double transform() const { return width * width + width + norm(); }
  double parameters() const { return embedding() + layers * block() + transform() + tokens; }
  /// Returns the operations of a forward pass, with those of q k^T and p v over all pairs of a sequence.
  double forward(double sequences, double length, double picked) const {
    const double block = 2 * sequences * length * matrices() + 4 * sequences * length * length * width;
    return layers * block + 2 * picked * (width * width + width * tokens);
  }
};
constexpr Bert base{768, 12, 3072}, large{1024, 24, 4096};

class PlanSize : public RealWorkerTest {
 protected:
  json sizes(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "plan");
    arguments.insert(arguments.end(), {"--size", "--json"});
    return json::parse(output_of(arguments));
  }
  std::string failure(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "plan");
    const runner::ProgramOutput output = sandbox_.exp(arguments);
    EXPECT_EQ(output.end.exit_code, 2) << output.output;
    return output.errors;
  }
  static std::string shipped(const std::string& name) {
    return ENCORE_SOURCE_DIR "/experiments/" + name + ".toml";
  }
};

TEST_F(PlanSize, BertBaseAndLargeComeOutToTheParameter) {
  EXPECT_EQ(base.parameters(), 109514298) << "110 million";
  EXPECT_EQ(large.parameters(), 335174458) << "340 million";
  for (const auto& [name, bert] : {std::pair("bert_base", base), std::pair("bert_large", large)}) {
    const json size = sizes({shipped(name), "--batch", "32"}).at(0);
    EXPECT_EQ(size.at("model").at("parameters").get<double>(), bert.parameters());
    const json& parts = size.at("model").at("parts");
    ASSERT_EQ(parts.size(), 3u);
    EXPECT_EQ(parts[0].at("parameters").get<double>(), bert.embedding());
    ASSERT_EQ(parts[1].at("parts").size(), 1u);
    EXPECT_EQ(parts[1].at("parts")[0].at("count").get<double>(), bert.layers);
    EXPECT_EQ(parts[1].at("parts")[0].at("parameters").get<double>(), bert.block());
    EXPECT_EQ(parts[2].at("parameters").get<double>(), bert.transform() + Bert::tokens);

    const double picked = 2458;  // 15 % of 32 x 512, rounded up
    EXPECT_EQ(size.at("batch").at("picked").at("value").get<double>(), picked);
    const json& flops = size.at("model").at("flops");
    EXPECT_EQ(flops.at("forward").get<double>(), bert.forward(32, 512, picked));
    EXPECT_EQ(flops.at("training").get<double>(), 3 * bert.forward(32, 512, picked));
    EXPECT_EQ(flops.at("forward_per_token").get<double>(), bert.forward(32, 512, picked) / (32 * 512));

    const json& memory = size.at("memory");
    const double bytes = memory.at("parameters").get<double>();
    EXPECT_NEAR(bytes, 4 * bert.parameters(), 1e-5 * bytes) << "float32, with gaps for alignment";
    EXPECT_EQ(memory.at("gradients").get<double>(), 2 * bytes) << "of the batch, and of a shard";
    EXPECT_EQ(memory.at("optimizer").get<double>(), 2 * bytes);
    // Matrices of the blocks and of the head, and the table of tokens, which is tied to the head.
    const double copied = bert.layers * bert.matrices() + bert.width * bert.width + Bert::tokens * bert.width;
    EXPECT_NEAR(memory.at("copies").get<double>(), 2 * copied, 1e3);
    EXPECT_GT(memory.at("activations").get<double>(), 32.0 * 512 * bert.width * 2);
  }
}

TEST_F(PlanSize, ReportsItsAssumptionsWithoutData) {
  const json size = sizes({shipped("bert_base")}).at(0);
  EXPECT_TRUE(size.at("labels").at("assumed").get<bool>());
  EXPECT_TRUE(size.at("batch").at("picked").at("assumed").get<bool>());
  EXPECT_EQ(size.at("vocabulary").at("value"), 30522);
  const std::string text =
      output_of({"plan", shipped("bert_base"), "--size", "--length", "128", "--batch", "8"});
  EXPECT_TRUE(contains(text, "bert_base: 109,514,298 parameters\n")) << text;
  EXPECT_TRUE(contains(text, "batch: 8 sequences of 128 tokens, 1,024 in all; 154 rows picked (assumed"))
      << text;
  EXPECT_TRUE(contains(text, "vocabulary: 30,522 (tokenizer.vocab_size, the most it can get)")) << text;
  EXPECT_TRUE(contains(text, "train.txt is not there; --labels")) << text;
  EXPECT_TRUE(contains(text, "12 x block")) << text;
  EXPECT_FALSE(std::filesystem::exists(sandbox_.folder() / "encore.db"));
}

TEST_F(PlanSize, TakesLabelsFromTheDataAndVocabulariesFromTheirFiles) {
  sandbox_.write("tiny.toml", tiny_experiment());
  const json size = sizes({"tiny.toml"}).at(0);
  EXPECT_FALSE(size.at("labels").at("assumed").get<bool>());
  const std::int64_t labels = size.at("labels").at("value");
  EXPECT_EQ(size.at("batch").at("sequences"), 4) << "train.batch_size";
  EXPECT_EQ(size.at("batch").at("length"), 32) << "data.max_length";
  EXPECT_EQ(sizes({"tiny.toml", "-S", "train.batch_tokens=200"}).at(0).at("batch").at("sequences"), 6)
      << "as many of 32 tokens as 200 hold";
  EXPECT_EQ(size.at("model").at("parts").at(2).at("parameters"), 16 * labels + labels);
  sandbox_.write("vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\nin\n");
  std::string with_file = tiny_experiment();
  with_file.replace(with_file.find("vocab_size = 60"), 15, "vocab = \"vocab.txt\"");
  sandbox_.write("file.toml", with_file);
  EXPECT_EQ(sizes({"file.toml"}).at(0).at("vocabulary").at("value"), 5);
  EXPECT_EQ(sizes({"tiny.toml", "--vocabulary", "100"}).at(0).at("model").at("parts").at(0).at("parameters"),
            1600);
  EXPECT_EQ(sizes({"tiny.toml", "--labels", "9"}).at(0).at("labels").at("value"), 9);
}

TEST_F(PlanSize, AModelOfEverySetOfRunsOnce) {
  sandbox_.write("tiny.toml", tiny_experiment());
  const json found = sizes({"tiny.toml", "--seeds", "1-3", "--grid", "model.width=16,32", "--grid",
                            "optimizer.learning_rate=0.1,0.2"});
  ASSERT_EQ(found.size(), 2u) << "neither seed nor learning rate makes another model";
  EXPECT_EQ(found.at(0).at("runs").size(), 6u);
  EXPECT_LT(found.at(0).at("model").at("parameters"), found.at(1).at("model").at("parameters"));
}

TEST_F(PlanSize, RefusesShapesAndModelsThatCannotBe) {
  sandbox_.write("tiny.toml", tiny_experiment());
  EXPECT_TRUE(contains(failure({"tiny.toml", "--size", "--length", "33"}),
                       "no sequence has 33 rows, the length that was asked for; the longest has 32"));
  EXPECT_TRUE(
      contains(failure({"tiny.toml", "--size", "--batch", "0"}), "invalid --batch 0: expected at least 1"));
  EXPECT_TRUE(contains(failure({"tiny.toml", "--size", "--picked", "1.5"}), "invalid --picked 1.5"));
  EXPECT_TRUE(contains(failure({"tiny.toml", "--size", "--values"}), "--size and --values"));
  EXPECT_TRUE(contains(failure({"tiny.toml", "--length", "8"}), "--length needs --size"));
  const std::string heads = failure({"tiny.toml", "--size", "-S", "model.layer.attention.heads=3"});
  EXPECT_TRUE(contains(heads, "3 heads do not divide model.width = 16")) << heads;
}

}  // namespace
}  // namespace encore::system_test
