// Two stacks in one model: an encoder over the first text, a causal decoder over the second that reads the
// encoder's rows, one table of tokens for both embeddings and the head.
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "config/error.hpp"
#include "seams/parts.hpp"
#include "support/tiny_model.hpp"
#include "train/training_step.hpp"

namespace encore {
namespace {

using namespace encore::testing;

constexpr std::int32_t vocabulary = 12, start = 0, end = 1;

struct Pair {
  std::vector<std::int32_t> source, target;
};

/// The target goes in behind `start`, and is to come out before `end`.
PackedBatch pack_pairs(const std::vector<Pair>& pairs) {
  PackedBatch batch;
  batch.columns.resize(1);
  batch.known = {true};
  batch.offsets = batch.target.offsets = batch.borders = {0};
  for (const Pair& pair : pairs) {
    const auto add = [](PackedRows& rows, std::int32_t id, std::size_t position) {
      rows.ids.push_back(id);
      rows.positions.push_back(static_cast<std::int32_t>(position));
    };
    for (std::size_t i = 0; i < pair.source.size(); ++i) add(batch, pair.source[i], i);
    for (std::size_t i = 0; i <= pair.target.size(); ++i) {
      add(batch.target, i == 0 ? start : pair.target[i - 1], i);
      batch.columns[0].integers.push_back(i < pair.target.size() ? pair.target[i] : end);
    }
    batch.offsets.push_back(static_cast<std::int32_t>(batch.ids.size()));
    batch.target.offsets.push_back(static_cast<std::int32_t>(batch.target.ids.size()));
    batch.sequences.push_back(static_cast<std::int64_t>(batch.sequences.size()));
    batch.borders.push_back(static_cast<std::int32_t>(batch.sequences.size()));
  }
  batch.weight = static_cast<double>(batch.columns[0].integers.size());
  return batch;
}

std::vector<Pair> some_pairs() {
  return {{{2, 3, 4, 5, 6}, {7, 8}}, {{9}, {10, 11, 2, 3}}, {{5, 5, 7}, {4}}};
}

struct StacksTest : ::testing::Test {
  StacksTest() : registry(load_builtin_plugins()) {
    Registrar offers;
    encore_seams::add_masked_words(offers);
    registry.add("this test", offers);
  }
  Experiment experiment(NormPosition position = NormPosition::post) {
    Experiment experiment = tiny_experiment(registry);
    ModelTable& model = experiment.model;
    model.norm_position = position;
    model.decoder.emplace();
    model.decoder->layers = 2;
    model.decoder->block = {model.block[0],
                            layer_table(registry, "cross", "cross_attention", {{"heads", std::int64_t{2}}}),
                            model.block[1]};
    fill_table(model.head, registry, Kind::head, "model.head", "tied_words", {});
    return experiment;
  }
  static ModelSize size() {
    return {.vocabulary = vocabulary,
            .columns = {{.name = "next", .space = Space::target, .truth = true}},
            .outputs = {{.name = "words", .space = Space::target}}};
  }
  std::unique_ptr<TinyModel> make(const Experiment& of, const PackedBatch& packed) {
    auto tiny = std::make_unique<TinyModel>(of, size(), registry, device, packed);
    tiny->model.initialize(1);
    return tiny;
  }
  std::vector<double> logits(TinyModel& tiny) {
    tiny.model.evaluate(tiny.batch, {});
    return to_host(device, tiny.model.evaluation_tensor("head.logits"));
  }

  Device device;
  Registry registry;
};

TEST_F(StacksTest, ShareOneTableAndNameTheirParametersByStack) {
  const auto tiny = make(experiment(NormPosition::pre), pack_pairs(some_pairs()));
  std::set<std::string> paths;
  for (const ParameterSlice& slice : tiny->model.parameters().slices()) paths.insert(slice.path);
  for (const char* path :
       {"embedding.tokens", "encoder.1.attention.qkv.weight", "encoder.norm.gain",
        "decoder.0.attention.qkv.weight", "decoder.1.feed_forward.norm.bias", "decoder.norm.gain"})
    EXPECT_TRUE(paths.contains(path)) << path;
  EXPECT_FALSE(paths.contains("decoder.embedding.tokens"));
  EXPECT_FALSE(paths.contains("head.table"));
}

/// Four-point differences of the loss at single entries of every parameter.
TEST_F(StacksTest, GradientsAreThoseOfTheLoss) {
  for (const NormPosition position : {NormPosition::post, NormPosition::pre}) {
    const auto tiny = make(experiment(position), pack_pairs(some_pairs()));
    const auto loss = [&] {
      return tiny->model.read(tiny->model.forward_backward(tiny->batch, tiny->scale, {1, 1}));
    };
    loss();
    for (const ParameterSlice& slice : tiny->model.parameters().slices()) {
      loss();
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

TEST_F(StacksTest, ARowOfTheDecoderKnowsTheSourceAndNothingBehindIt) {
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
  later[1].target[2] = 9;  // row 3 + 3 of the decoder
  EXPECT_EQ(changed(later), (std::vector<bool>{0, 0, 0, 0, 0, 0, 1, 1, 0, 0}));
  std::vector<Pair> source = pairs;
  source[0].source[4] = 9;
  EXPECT_EQ(changed(source), (std::vector<bool>{1, 1, 1, 0, 0, 0, 0, 0, 0, 0}));
}

TEST_F(StacksTest, ShardsGiveTheGradientOfTheWholeBatch) {
  Experiment cut = experiment();
  cut.train.gradient_shards = 3;
  const auto whole = make(experiment(), pack_pairs(some_pairs())),
             shards = make(cut, pack_pairs(some_pairs()));
  EXPECT_NEAR(whole->loss({1, 1}), shards->loss({1, 1}), 1e-13);
  for (const ParameterSlice& slice : whole->model.parameters().slices()) {
    const std::vector<double> a = whole->gradient(slice),
                              b = shards->gradient(shards->model.parameters().find(slice.path));
    for (std::size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], 1e-13) << slice.path;
  }
}

TEST_F(StacksTest, ALayerThatReadsAnEncoderStandsInADecoderOnly) {
  Experiment wrong = tiny_experiment(registry);
  wrong.model.block.push_back(
      layer_table(registry, "cross", "cross_attention", {{"heads", std::int64_t{2}}}));
  try {
    Model(wrong, tiny_size(), registry, device);
    ADD_FAILURE() << "not refused";
  } catch (const ConfigError& error) {
    EXPECT_EQ(error.key(), "model.layer.cross");
    EXPECT_STREQ(error.what(),
                 "encoder.0.cross reads the rows of an encoder; it is for the blocks of a decoder");
  }
}

TEST_F(StacksTest, ADecoderReadsItsEncoder) {
  Experiment wrong = experiment();
  wrong.model.decoder->block.erase(wrong.model.decoder->block.begin() + 1);
  try {
    Model(wrong, size(), registry, device);
    ADD_FAILURE() << "not refused";
  } catch (const ConfigError& error) {
    EXPECT_EQ(error.key(), "model.decoder.block");
    EXPECT_STREQ(
        error.what(),
        "no sub-layer of the decoder reads the encoder; name one that does, such as a cross_attention");
  }
}

/// Texts of up to six words from a generator.
std::vector<Pair> copies(Numbers& numbers, int count) {
  std::vector<Pair> pairs;
  for (int i = 0; i < count; ++i) {
    std::vector<std::int32_t> text;
    for (std::int32_t k = 0; k <= numbers.below(6); ++k) text.push_back(2 + numbers.below(vocabulary - 2));
    pairs.push_back({text, text});
  }
  return pairs;
}

TEST_F(StacksTest, LearnToCopy) {
  Experiment of = experiment(NormPosition::pre);
  of.model.width = 32;
  of.model.decoder->layers = of.model.layers = 1;
  of.train.precision = Precision::float32;
  Numbers numbers(3);
  const BatchSize largest = {{32 * 6, 32, 32 * 36, 6}, {32 * 7, 32, 32 * 49, 7}};
  Model model(of, size(), registry, device);
  model.plan(largest, largest);
  model.initialize(1);
  const auto optimizer =
      registry.make_optimizer("adam", defaults(registry.offer(Kind::optimizer, "adam").options));
  model.parameters().make_states(optimizer->states());
  DeviceBatch batch(device, largest, model.needs());
  TrainingStep step(model, *optimizer, 1.0);
  for (int i = 1; i <= 600; ++i) {
    batch.upload(pack_pairs(copies(numbers, 32)));
    step.compute_gradient(batch, {1, static_cast<std::uint64_t>(i)});
    step.update(3e-3 * std::min(1.0, i / 50.0), i);
  }
  const PackedBatch unseen = pack_pairs(copies(numbers, 32));
  batch.upload(unseen);
  const auto count = static_cast<std::int64_t>(unseen.target.ids.size());
  DeviceBuffer memory("words", static_cast<std::size_t>(count) * sizeof(std::int32_t));
  const Tensor words(memory.data(), DType::int32, {count});
  model.evaluate(batch, {&words, 1});
  std::vector<std::int32_t> said(static_cast<std::size_t>(count));
  copy_to_host(device, words, said.data());
  double right = 0;
  for (std::size_t i = 0; i < said.size(); ++i) right += said[i] == unseen.columns[0].integers[i];
  EXPECT_GT(right / static_cast<double>(count), 0.9) << "one of twelve by chance";
}

}  // namespace
}  // namespace encore
