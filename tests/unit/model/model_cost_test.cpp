// SPDX-License-Identifier: BSD-3-Clause
// Tests cost_of() (model/model_cost.hpp), which `exp plan --size` shows: parameters and operations must equal
// numbers that are computed by hand, and the memory what a real model of this shape then takes.
#include "model/model_cost.hpp"

#include <gtest/gtest.h>
#include <encore/plugin.hpp>

#include "support/tiny_model.hpp"

namespace encore::model {
namespace {

using namespace encore::testing;

/// These are the sizes of tiny_experiment (support/tiny_model.hpp).
constexpr double width = 8, hidden = 12, length = 7, sequences = 3, vocabulary = 11, classes = 5;
constexpr double rows = length * sequences;
constexpr double matrices = 4 * width * width + 2 * width * hidden;  // of a block
constexpr double scores = 2 * 2 * width * sequences * length * length;

/// A sub-layer that mixes rows and does not declare its products. No test here runs it.
class Mixer final : public Layer {
 public:
  static Schema options() { return {}; }
  Mixer(const Options&, const LayerContext&) {}
  void declare(LayerPlan&) override {}
  void forward(const Step&, std::span<const Tensor>, Tensor) override {}
  void backward(const Step&, std::span<const Tensor>, Tensor, Tensor, std::span<const Tensor>) override {}
};

struct ModelCostTest : ::testing::Test {
  ModelCost cost(std::size_t states = 2) const {
    const Network network(experiment, tiny_size(), registry, device);
    const std::int64_t shards = experiment.train.gradient_shards;
    const auto batch = [&](std::int64_t count) {
      return uniform_batch(network, count, static_cast<std::int64_t>(length), 0.5);
    };
    const auto count = static_cast<std::int64_t>(sequences);
    return cost_of(network, batch(count), batch((count + shards - 1) / shards), shards, states);
  }
  static const PartCost& part(const PartCost& whole, const std::string& name) {
    for (const PartCost& part : whole.parts)
      if (part.name == name) return part;
    throw Error("no part " + name);
  }
  void use_attention(const std::string& type, const Changes& changes = {}) {
    experiment.model.block[0] = layer_table(registry, "attention", type, changes);
  }
  double forward_of_attention() const {
    return part(part(part(cost().whole, "encoder"), "block"), "attention").forward_flops;
  }

  Device device;
  plugin_host::Registry registry = load_builtin_plugins();
  config::Experiment experiment = tiny_experiment(registry);
};

TEST_F(ModelCostTest, CountsParametersAndProductsOfEveryPart) {
  const ModelCost found = cost();
  const double block_parameters = matrices + 4 * width + hidden + width + 4 * width;
  const double head_parameters = width * classes + classes;
  EXPECT_EQ(static_cast<double>(found.whole.parameters),
            vocabulary * width + 2 * block_parameters + head_parameters);
  EXPECT_EQ(found.whole.trained, found.whole.parameters);
  ASSERT_EQ(found.whole.parts.size(), 3u);
  EXPECT_EQ(part(found.whole, "embedding").forward_flops, 0.0) << "a lookup is not a product";

  const PartCost& encoder = part(found.whole, "encoder");
  ASSERT_EQ(encoder.parts.size(), 1u) << "equal blocks are one line";
  const PartCost& block = encoder.parts.front();
  EXPECT_EQ(block.count, 2);
  EXPECT_EQ(static_cast<double>(block.parameters), block_parameters);
  EXPECT_EQ(block.forward_flops, 2 * rows * matrices + scores);
  EXPECT_EQ(encoder.forward_flops, 2 * block.forward_flops);
  std::vector<std::string> names;
  for (const PartCost& layer : block.parts) names.push_back(layer.name + " " + layer.type);
  EXPECT_EQ(names, (std::vector<std::string>{"attention self_attention", "attention.norm layer_norm",
                                             "feed_forward feed_forward", "feed_forward.norm layer_norm"}));

  const PartCost& head = part(found.whole, "head");
  EXPECT_EQ(head.type, "linear");
  EXPECT_EQ(head.forward_flops, 2 * rows * width * classes);
  EXPECT_EQ(found.whole.forward_flops, encoder.forward_flops + head.forward_flops);
  EXPECT_EQ(found.whole.training_flops, 3 * found.whole.forward_flops);
  EXPECT_TRUE(found.uncounted.empty());
}

TEST_F(ModelCostTest, MemoryIsWhatARealModelTakes) {
  for (const config::Precision precision : {config::Precision::float32, config::Precision::bfloat16})
    for (const std::int64_t shards : {1, 3}) {
      experiment.train.precision = precision;
      experiment.train.gradient_shards = shards;
      const ModelCost found = cost();
      Model model(experiment, tiny_size(), registry, device);
      BatchSize batch;
      batch.tokens = static_cast<std::int64_t>(rows), batch.sequences = static_cast<std::int64_t>(sequences);
      batch.longest = static_cast<std::int64_t>(length), batch.squares = batch.tokens * batch.longest;
      BatchSize shard = batch;
      shard.tokens /= shards, shard.sequences /= shards, shard.squares /= shards;
      model.plan(shard, batch);
      model.parameters().make_states({"first", "second"});
      EXPECT_EQ(found.memory.training, model.training_plan().arena_bytes);
      EXPECT_EQ(found.memory.evaluation, model.evaluation_plan().arena_bytes);
      EXPECT_EQ(found.memory.arena(), model.arena_bytes());
      EXPECT_EQ(found.whole.parameters, model.parameters().count());
      EXPECT_EQ(found.memory.parameters, memory::aligned(model.parameters().values().bytes()));
      EXPECT_EQ(found.memory.gradients, found.memory.parameters * (shards > 1 ? 2 : 1));
      EXPECT_EQ(found.memory.optimizer, 2 * found.memory.parameters);
      EXPECT_EQ(found.memory.copies > 0, precision == config::Precision::bfloat16);
      std::size_t copied = 0;
      for (const memory::ParameterSlice& slice : model.parameters().slices())
        if (slice.copy_begin >= 0)
          copied += 2 * static_cast<std::size_t>(memory::round_up(slice.size, memory::copy_alignment));
      EXPECT_EQ(found.memory.copies, copied);
    }
}

TEST_F(ModelCostTest, SharedBlocksCountOnceAndWorkTwice) {
  const ModelCost separate = cost();
  experiment.model.groups = 1;
  const ModelCost shared = cost();
  EXPECT_EQ(shared.whole.forward_flops, separate.whole.forward_flops);
  const PartCost& encoder = part(shared.whole, "encoder");
  ASSERT_EQ(encoder.parts.size(), 2u) << "a block with parameters, and one without";
  EXPECT_EQ(encoder.parts[1].parameters, 0);
  EXPECT_EQ(encoder.parts[1].forward_flops, encoder.parts[0].forward_flops);
}

TEST_F(ModelCostTest, FrozenParametersCostNoGradient) {
  experiment.train.freeze = {"embedding", "encoder.0"};
  const ModelCost found = cost();
  const PartCost& encoder = part(found.whole, "encoder");
  ASSERT_EQ(encoder.parts.size(), 2u);
  EXPECT_EQ(encoder.parts[0].trained, 0);
  EXPECT_EQ(encoder.parts[0].training_flops, encoder.parts[0].forward_flops) << "backward stops above it";
  EXPECT_EQ(encoder.parts[1].training_flops, 3 * encoder.parts[1].forward_flops)
      << "a layer gives its input a gradient, wanted or not";
}

TEST_F(ModelCostTest, AdaptersAreCountedBesideTheirMatrix) {
  const std::int64_t before = cost().whole.parameters;
  experiment.train.lora = {"attention.qkv.weight"};
  experiment.train.lora_rank = 3;
  const ModelCost found = cost();
  const std::int64_t factors = 2 * 3 * (8 + 24), adapted = 2 * 24 * 8;
  EXPECT_EQ(found.whole.parameters, before + factors);
  EXPECT_EQ(found.whole.trained, before + factors - adapted);
  EXPECT_GE(found.memory.copies, static_cast<std::size_t>(adapted) * sizeof(double));
}

TEST_F(ModelCostTest, AttentionCountsThePairsThatSeeEachOther) {
  const double products = 2 * rows * 4 * width * width;
  const auto pairs = [&](double count) { return 2 * 2 * width * sequences * count; };
  EXPECT_EQ(forward_of_attention(), products + pairs(length * length));
  use_attention("sliding_window_attention", {{"heads", std::int64_t{2}}, {"window", std::int64_t{2}}});
  EXPECT_EQ(forward_of_attention(), products + pairs(3 + 4 + 5 * 3 + 4 + 3));
  use_attention("sliding_window_attention", {{"heads", std::int64_t{2}}, {"window", std::int64_t{100}}});
  EXPECT_EQ(forward_of_attention(), products + pairs(length * length));
  experiment.model.causal = true;
  use_attention("self_attention", {{"heads", std::int64_t{2}}});
  EXPECT_EQ(forward_of_attention(), products + pairs(length * (length + 1) / 2));
}

TEST_F(ModelCostTest, ALayerThatMixesRowsWithoutDeclaringProductsIsNamed) {
  Registrar offers;
  offers.add<Kind::layer, Mixer>("mixer");
  registry.add("this test", offers);
  use_attention("mixer");
  EXPECT_EQ(cost().uncounted, (std::vector<std::string>{"encoder.0.attention", "encoder.1.attention"}));
}

}  // namespace
}  // namespace encore::model
