// SPDX-License-Identifier: BSD-3-Clause
// Tests train.layer_decay (TrainedParameters, model/trained_parameters.hpp): each level of a stack learns at
// a fixed share of the rate of the level above it, and an optimizer's step is that share of the usual step.
#include <gtest/gtest.h>

#include "support/tiny_model.hpp"

namespace encore::model {
namespace {

using namespace encore::testing;

struct LayerDecayTest : ::testing::Test {
  std::unique_ptr<TinyModel> make(double layer_decay,
                                  config::NormPosition position = config::NormPosition::post,
                                  std::int64_t embedding_width = 0) {
    config::Experiment experiment = tiny_experiment(registry);
    experiment.model.layers = 3;
    experiment.model.norm_position = position;
    experiment.model.final_norm = true;
    experiment.model.embedding_width = embedding_width;
    experiment.train.layer_decay = layer_decay;
    auto tiny = std::make_unique<TinyModel>(experiment, tiny_size(), registry, device, tiny_batch());
    tiny->model.initialize(1);
    return tiny;
  }
  /// Returns what one step of plain gradient descent adds to a parameter.
  static std::vector<double> change(TinyModel& tiny, const plugin_host::Registry& registry,
                                    const Device& device, const std::string& path) {
    const memory::ParameterSlice& slice = tiny.model.parameters().find(path);
    const std::vector<double> before = tiny.values(slice);
    const auto optimizer =
        registry.make_optimizer("sgd", defaults(registry.offer(Kind::optimizer, "sgd").options));
    tiny.model.parameters().make_states(optimizer->states());
    tiny.loss({1, 3});
    optimizer->update(device, tiny.model.parameters().blocks(nullptr), 0.01, 1);
    std::vector<double> after = tiny.values(slice);
    for (std::size_t i = 0; i < after.size(); ++i) after[i] -= before[i];
    return after;
  }

  Device device;
  plugin_host::Registry registry = load_builtin_plugins();
};

TEST_F(LayerDecayTest, EveryLevelHasItsFactor) {
  for (const config::NormPosition position : {config::NormPosition::post, config::NormPosition::pre}) {
    const auto tiny = make(0.5, position, 6);
    EXPECT_NO_THROW(tiny->model.parameters().find("embedding.projection.weight"));
    for (const memory::ParameterSlice& slice : tiny->model.parameters().slices()) {
      const std::string& path = slice.path;
      const float expected = path.starts_with("embedding.")   ? 0.0625F
                             : path.starts_with("encoder.0.") ? 0.125F
                             : path.starts_with("encoder.1.") ? 0.25F
                             : path.starts_with("encoder.2.") ? 0.5F
                                                              : 1.0F;  // the head, and a norm at the end
      EXPECT_EQ(slice.learning_rate, expected) << path;
    }
  }
}

TEST_F(LayerDecayTest, AnOptimizerStepsByThatShare) {
  for (const auto& [path, share] : {std::pair<std::string, double>{"embedding.tokens", 0.0625},
                                    {"encoder.0.attention.qkv.weight", 0.125},
                                    {"encoder.2.feed_forward.up.weight", 0.5},
                                    {"head.weight", 1.0}}) {
    const auto decayed = make(0.5), whole = make(1.0);
    const std::vector<double> less = change(*decayed, registry, device, path),
                              all = change(*whole, registry, device, path);
    double largest = 0.0;
    for (std::size_t i = 0; i < all.size(); ++i) {
      EXPECT_NEAR(less[i], share * all[i], 1e-15) << path << " " << i;
      largest = std::max(largest, std::abs(all[i]));
    }
    EXPECT_GT(largest, 1e-6) << path << " did not move";
  }
}

}  // namespace
}  // namespace encore::model
