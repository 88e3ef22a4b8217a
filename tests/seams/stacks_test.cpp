// SPDX-License-Identifier: BSD-3-Clause
// Tests models of two stacks (model/network.hpp): an encoder over the first text, a causal decoder over the
// second that reads the encoder's rows, and one table of tokens for both embeddings and the head, or a table
// for each vocabulary. Gradients must be those of the loss, also in shards, and a row of the decoder may see
// the source but no later row.
// Read next: generation_test.cpp.
#include <cmath>
#include <set>

#include "config/error.hpp"
#include "seams/copying.hpp"

namespace encore {
namespace {

using namespace encore::testing;

using StacksTest = CopyTest;

std::vector<Pair> some_pairs() {
  return {{{2, 3, 4, 5, 6}, {7, 8}}, {{9}, {10, 11, 2, 3}}, {{5, 5, 7}, {4}}};
}

TEST_F(StacksTest, ShareOneTableAndNameTheirParametersByStack) {
  const auto tiny = make(experiment(config::NormPosition::pre), pack_pairs(some_pairs()));
  std::set<std::string> paths;
  for (const memory::ParameterSlice& slice : tiny->model.parameters().slices()) paths.insert(slice.path);
  for (const char* path :
       {"embedding.tokens", "encoder.1.attention.qkv.weight", "encoder.norm.gain",
        "decoder.0.attention.qkv.weight", "decoder.1.feed_forward.norm.bias", "decoder.norm.gain"})
    EXPECT_TRUE(paths.contains(path)) << path;
  EXPECT_FALSE(paths.contains("decoder.embedding.tokens"));
  EXPECT_FALSE(paths.contains("head.table"));
}

TEST_F(StacksTest, HaveATableForEachVocabulary) {
  const auto tiny = make(experiment(config::NormPosition::pre), pack_pairs(some_pairs()), vocabulary + 3);
  const memory::ParameterBlock& parameters = tiny->model.parameters();
  EXPECT_EQ(parameters.find("encoder.embedding.tokens").spec.shape,
            (std::vector<std::int64_t>{vocabulary, 8}));
  EXPECT_EQ(parameters.find("embedding.tokens").spec.shape, (std::vector<std::int64_t>{vocabulary + 3, 8}));
  EXPECT_EQ(logits(*tiny).size(), pack_pairs(some_pairs()).target.ids.size() * (vocabulary + 3))
      << "the head predicts tokens of targets";
}

/// With equal values in both tables a model computes what it computes with one, and the gradient of the one
/// is the sum of theirs.
TEST_F(StacksTest, TwoEqualTablesGiveTheLossOfOne) {
  const auto one = make(experiment(), pack_pairs(some_pairs())),
             two = make(experiment(), pack_pairs(some_pairs()), vocabulary);
  const memory::ParameterBlock &of_one = one->model.parameters(), &of_two = two->model.parameters();
  for (const memory::ParameterSlice& slice : of_two.slices())
    two->set_values(
        slice, one->values(of_one.find(
                   slice.path == "encoder.embedding.tokens" ? std::string("embedding.tokens") : slice.path)));
  EXPECT_EQ(one->loss({1, 1}), two->loss({1, 1}));
  const std::vector<double> whole = one->gradient(of_one.find("embedding.tokens")),
                            sources = two->gradient(of_two.find("encoder.embedding.tokens")),
                            targets = two->gradient(of_two.find("embedding.tokens"));
  for (std::size_t i = 0; i < whole.size(); ++i) EXPECT_NEAR(whole[i], sources[i] + targets[i], 1e-14) << i;
  EXPECT_NE(sources, std::vector<double>(sources.size(), 0.0));
  EXPECT_NE(targets, std::vector<double>(targets.size(), 0.0));
}

struct StacksGradientTest : CopyTest, ::testing::WithParamInterface<std::int64_t> {};

/// Compares gradients with four-point differences of the loss at single entries of every parameter.
TEST_P(StacksGradientTest, IsThatOfTheLoss) {
  for (const config::NormPosition position : {config::NormPosition::post, config::NormPosition::pre}) {
    const auto tiny = make(experiment(position), pack_pairs(some_pairs()), GetParam());
    const auto loss = [&] {
      return tiny->model.read(tiny->model.forward_backward(tiny->batch, tiny->batch.scales(), {1, 1}));
    };
    for (const memory::ParameterSlice& slice : tiny->model.parameters().slices()) {
      loss();  // computes the gradient at the present values
      const std::vector<double> values = tiny->values(slice), gradient = tiny->gradient(slice);
      for (const std::size_t i : {values.size() / 2, values.size() - 1}) {
        const auto at = [&](double step) {
          std::vector<double> moved = values;
          moved[i] += step;
          tiny->set_values(slice, moved);
          return loss();
        };
        const double h = 1e-4, numeric = (at(-2 * h) - 8 * at(-h) + 8 * at(h) - at(2 * h)) / (12 * h);
        tiny->set_values(slice, values);
        EXPECT_NEAR(gradient[i], numeric, 1e-8) << slice.path << " " << i;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, StacksGradientTest, ::testing::Values(0, vocabulary + 3),
                         [](const auto& of) {
                           return of.param == 0 ? std::string("OneVocabulary")
                                                : std::string("TwoVocabularies");
                         });

TEST_F(StacksTest, ARowOfTheDecoderSeesTheSourceAndNoLaterRow) {
  std::vector<Pair> pairs = some_pairs();
  const auto before = make(experiment(), pack_pairs(pairs));
  const std::vector<double> plain = logits(*before);
  const auto changed = [&](const std::vector<Pair>& other) {
    const std::vector<double> now = logits(*make(experiment(), pack_pairs(other)));
    std::vector<bool> rows;
    for (std::size_t row = 0; row * vocabulary < plain.size(); ++row)
      rows.push_back(!std::equal(now.begin() + static_cast<std::ptrdiff_t>(row * vocabulary),
                                 now.begin() + static_cast<std::ptrdiff_t>((row + 1) * vocabulary),
                                 plain.begin() + static_cast<std::ptrdiff_t>(row * vocabulary)));
    return rows;
  };
  std::vector<Pair> later = pairs;
  later[1].target[2] = 9;  // the decoder's rows of pair 1 begin at 3; the fourth of them, 6, reads this token
  EXPECT_EQ(changed(later), (std::vector<bool>{0, 0, 0, 0, 0, 0, 1, 1, 0, 0}));
  std::vector<Pair> source = pairs;
  source[0].source[4] = 9;
  EXPECT_EQ(changed(source), (std::vector<bool>{1, 1, 1, 0, 0, 0, 0, 0, 0, 0}));
}

TEST_F(StacksTest, ShardsGiveTheGradientOfTheWholeBatch) {
  config::Experiment cut = experiment();
  cut.train.gradient_shards = 3;
  const auto whole = make(experiment(), pack_pairs(some_pairs())),
             shards = make(cut, pack_pairs(some_pairs()));
  EXPECT_NEAR(whole->loss({1, 1}), shards->loss({1, 1}), 1e-13);
  for (const memory::ParameterSlice& slice : whole->model.parameters().slices()) {
    const std::vector<double> a = whole->gradient(slice),
                              b = shards->gradient(shards->model.parameters().find(slice.path));
    for (std::size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], 1e-13) << slice.path;
  }
}

TEST_F(StacksTest, ALayerThatReadsAnEncoderIsRefusedOutsideOfADecoder) {
  config::Experiment wrong = tiny_experiment(registry);
  wrong.model.block.push_back(
      layer_table(registry, "cross", "cross_attention", {{"heads", std::int64_t{2}}}));
  try {
    model::Model(wrong, tiny_size(), registry, device);
    ADD_FAILURE() << "not refused";
  } catch (const config::ConfigError& error) {
    EXPECT_EQ(error.key(), "model.layer.cross");
    EXPECT_STREQ(error.what(),
                 "encoder.0.cross reads the rows of an encoder; it is for the blocks of a decoder");
  }
}

TEST_F(StacksTest, ADecoderReadsItsEncoder) {
  config::Experiment wrong = experiment();
  wrong.model.decoder->block.erase(wrong.model.decoder->block.begin() + 1);
  try {
    model::Model(wrong, size(), registry, device);
    ADD_FAILURE() << "not refused";
  } catch (const config::ConfigError& error) {
    EXPECT_EQ(error.key(), "model.decoder.block");
    EXPECT_STREQ(
        error.what(),
        "no sub-layer of the decoder reads the encoder; name one that does, such as a cross_attention");
  }
}

TEST_F(StacksTest, LearnToCopy) {
  Numbers numbers(3);
  model::Model model(copying_experiment(), size(), registry, device);
  train_to_copy(model, numbers);
  model::DeviceBatch batch(device, largest_copies(), model.needs());
  const data::PackedBatch unseen = pack_pairs(copies(numbers, 32));
  batch.upload(unseen);
  const auto count = static_cast<std::int64_t>(unseen.target.ids.size());
  memory::DeviceBuffer memory("words", static_cast<std::size_t>(count) * sizeof(std::int32_t));
  const Tensor words(memory.data(), DType::int32, {count});
  model.evaluate(batch, {&words, 1});
  std::vector<std::int32_t> said(static_cast<std::size_t>(count));
  memory::copy_to_host(device, words, said.data());
  double right = 0;
  for (std::size_t i = 0; i < said.size(); ++i) right += said[i] == unseen.columns[0].integers[i];
  EXPECT_GT(right / static_cast<double>(count), 0.9) << "one of twelve by chance";
}

}  // namespace
}  // namespace encore
