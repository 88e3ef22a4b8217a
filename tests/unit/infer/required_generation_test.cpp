// SPDX-License-Identifier: BSD-3-Clause
// Tests generation with required strings (Generator::run) and the alignment of strings
// (infer/text_alignment.hpp) on a small model with an encoder and a decoder, trained for a few steps, so that
// it would not write the strings by itself. Outputs without required strings must keep their bits, and an
// output must not depend on others.
#include <gtest/gtest.h>

#include "infer/text_alignment.hpp"
#include "unit/infer/engine_fixture.hpp"

namespace encore::infer {
namespace {

constexpr const char* experiment = R"(
name = "pairs"
seed = 1
[task]
type = "translate"
[data]
type = "parallel"
train = ["train.en", "train.de"]
dev = ["train.en", "train.de"]
max_length = 32
[tokenizer]
type = "byte_bpe"
vocab_size = 300
[model]
width = 16
layers = 1
positions = "sinusoidal"
norm = "layer_norm"
block = ["attention", "feed_forward"]
[model.decoder]
layers = 2
block = ["attention", "cross", "feed_forward"]
[model.layer.attention]
type = "self_attention"
heads = 2
[model.layer.cross]
type = "cross_attention"
heads = 2
[model.layer.feed_forward]
type = "feed_forward"
hidden = 32
activation = "relu"
[model.head]
type = "language_model"
transform = false
[optimizer]
type = "adam"
learning_rate = 1e-3
[schedule]
type = "constant"
[train]
steps = 4
batch_size = 4
)";

using Texts = std::vector<std::vector<GeneratedText>>;
using Required = std::vector<std::vector<RequiredText>>;

class RequiredGenerationTest : public testing::EngineTest {
 protected:
  void SetUp() override {
    testing::fs::create_directory(run_);
    testing::write_bytes(folder_ / "train.en",
                         "a dog runs\nthe cat sees a house\na boat\nthe dog and the cat\n");
    testing::write_bytes(folder_ / "train.de",
                         "ein Hund läuft\ndie Katze sieht ein Haus\nein Boot\nder Hund und die Katze\n");
    testing::Answer answer;
    testing::NobodyAsks control;
    const record::Specification specification = testing::specification_of(experiment, folder_.path());
    specification.save(run_);
    train::Session session(specification, run_, 1, device_, tasks::TokenCache{testing::fs::path()});
    train::Trainer(session.parts(answer, control)).run();
  }
  static Records sources(const std::vector<std::string>& texts) {
    Records records;
    records.add("source", Records::Texts(texts.begin(), texts.end()));
    return records;
  }
  static void expect_equal(const std::vector<GeneratedText>& a, const std::vector<GeneratedText>& b) {
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
      EXPECT_EQ(a[i].tokens, b[i].tokens);
      EXPECT_EQ(a[i].score, b[i].score);
    }
  }
};

const std::vector<std::string> asked = {"a dog runs", "the cat sees a boat", "the house",
                                        "a cat and a dog and a house"};
const Required wanted = {{{.forms = {"Hund"}}},
                         {},
                         {{.forms = {"Haus", "Häuser"}, .times = 2}},
                         {{.forms = {"Katze"}}, {.forms = {"Boot"}}}};

TEST_F(RequiredGenerationTest, EachOutputHasItsStringsAndTheOthersKeepTheirBits) {
  Engine model = engine();
  model.make_batch_invariant();
  const tasks::EncodedSet set = model.encode(sources(asked));
  for (const std::int64_t beam : {1, 3, 8}) {
    const Decoding decoding{.beam = beam, .texts = beam, .beyond_source = 20};
    const Texts usual = model.generate(set, decoding), with = model.generate(set, decoding, {}, wanted);
    expect_equal(with[1], usual[1]);
    for (const std::size_t i : {0, 2, 3})
      for (const GeneratedText& text : with[i])
        for (const RequiredText& required : wanted[i]) {
          std::int64_t times = 0;
          for (const std::string& form : required.forms)
            for (std::size_t at = text.text.find(form); at != std::string::npos;
                 at = text.text.find(form, at + 1))
              times += stands_alone(text.text, at, at + form.size()) ? 1 : 0;
          EXPECT_GE(times, required.times) << text.text;
        }
  }
}

TEST_F(RequiredGenerationTest, AnOutputDependsOnItsOwnStringsOnly) {
  Engine model = engine();
  model.make_batch_invariant();
  const Decoding decoding{.beam = 4, .texts = 2};
  const Texts together = model.generate(model.encode(sources(asked)), decoding, {}, wanted);
  for (std::size_t i = 0; i < asked.size(); ++i) {
    const Required one = {wanted[i]};
    expect_equal(model.generate(model.encode(sources({asked[i]})), decoding, {}, one)[0], together[i]);
  }
}

TEST_F(RequiredGenerationTest, DrawsCannotHaveRequiredStrings) {
  Engine model = engine();
  const tasks::EncodedSet set = model.encode(sources(asked));
  const std::string message =
      testing::message_of<Error>([&] { model.generate(set, {.temperature = 1.0}, {}, wanted); });
  EXPECT_EQ(message, "strings can be required of a search, not of draws: set the temperature to 0");
}

TEST_F(RequiredGenerationTest, AlignsTheTokensOfAPairByAttention) {
  Engine model = engine();
  model.make_batch_invariant();
  const std::vector<std::string> targets = {"ein Hund läuft", "die Katze", "", "Haus"};
  const std::vector<TextAlignment> all = align_texts(model, asked, targets);
  ASSERT_EQ(all.size(), asked.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    const TextAlignment& pair = all[i];
    ASSERT_FALSE(pair.source.empty());
    EXPECT_EQ(pair.source.back().end, asked[i].size());
    EXPECT_EQ(pair.target.empty(), targets[i].empty());
    ASSERT_EQ(pair.weights.size(), pair.source.size() * pair.target.size());
    for (std::size_t row = 0; row < pair.target.size(); ++row) {
      double sum = 0.0;
      for (std::size_t k = 0; k < pair.source.size(); ++k) sum += pair.weights[row * pair.source.size() + k];
      EXPECT_NEAR(sum, 1.0, 1e-6);
    }
    EXPECT_EQ(align_texts(model, {asked[i]}, {targets[i]})[0].weights, pair.weights);
  }
}

}  // namespace
}  // namespace encore::infer
