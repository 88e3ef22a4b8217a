// SPDX-License-Identifier: BSD-3-Clause
// Tests train.freeze (TrainedParameters, model/trained_parameters.hpp): frozen parameters keep their values,
// all others get the gradients that they have without freezing, and the backward pass stops where nothing
// below is trained.
#include <gtest/gtest.h>

#include "config/error.hpp"
#include "support/tiny_model.hpp"

namespace encore::model {
namespace {

using namespace encore::testing;

struct FreezeTest : ::testing::Test {
  std::unique_ptr<TinyModel> make(std::vector<std::string> freeze,
                                  config::Precision precision = config::Precision::float64,
                                  config::NormPosition position = config::NormPosition::post) {
    config::Experiment experiment = tiny_experiment(registry);
    experiment.model.layers = 3;
    experiment.model.dropout = 0.2;
    experiment.model.norm_position = position;
    experiment.train.precision = precision;
    experiment.train.freeze = std::move(freeze);
    auto tiny = std::make_unique<TinyModel>(experiment, tiny_size(), registry, device, tiny_batch());
    tiny->model.initialize(1);
    return tiny;
  }
  void train(TinyModel& tiny, const std::string& type, int steps) {
    const auto optimizer =
        registry.make_optimizer(type, defaults(registry.offer(Kind::optimizer, type).options));
    tiny.model.parameters().make_states(optimizer->states());
    for (int step = 1; step <= steps; ++step) {
      tiny.loss({1, static_cast<std::uint64_t>(step)});
      optimizer->update(device, tiny.model.parameters().blocks(nullptr), 0.01, step);
    }
  }
  std::string refusal(std::vector<std::string> freeze) {
    try {
      make(std::move(freeze));
    } catch (const config::ConfigError& error) {
      return error.key() + ": " + error.what();
    }
    return "not refused";
  }

  Device device;
  plugin_host::Registry registry = load_builtin_plugins();
};

bool is_frozen(const std::string& path) {
  return path.starts_with("embedding.") || path.starts_with("encoder.0.") || path == "head.bias";
}
const std::vector<std::string> frozen_parts = {"embedding", "encoder.0", "head.bias"};

TEST_F(FreezeTest, OptimizersLeaveFrozenParametersAlone) {
  for (const char* optimizer : {"sgd", "adamw", "lamb"})
    for (const config::Precision precision : {config::Precision::float64, config::Precision::bfloat16}) {
      const auto tiny = make(frozen_parts, precision), untouched = make({}, precision);
      train(*tiny, optimizer, 4);
      for (const memory::ParameterSlice& slice : tiny->model.parameters().slices()) {
        EXPECT_EQ(slice.frozen, is_frozen(slice.path)) << slice.path;
        const bool same =
            tiny->values(slice) == untouched->values(untouched->model.parameters().find(slice.path));
        EXPECT_EQ(same, slice.frozen) << optimizer << " " << slice.path;
      }
    }
}

TEST_F(FreezeTest, TrainedParametersHaveTheGradientsThatTheyHaveWithoutFreezing) {
  for (const config::NormPosition position : {config::NormPosition::post, config::NormPosition::pre}) {
    const auto frozen = make(frozen_parts, config::Precision::float32, position),
               whole = make({}, config::Precision::float32, position);
    EXPECT_EQ(frozen->loss({1, 3}), whole->loss({1, 3}));
    int compared = 0;
    for (const memory::ParameterSlice& slice : frozen->model.parameters().slices()) {
      if (slice.frozen) continue;
      EXPECT_EQ(frozen->gradient(slice), whole->gradient(whole->model.parameters().find(slice.path)))
          << slice.path;
      ++compared;
    }
    EXPECT_GT(compared, 20);
  }
}

TEST_F(FreezeTest, TheNormOfTheGradientCountsTrainedParametersOnly) {
  const auto frozen = make(frozen_parts), whole = make({});
  double expected = 0.0;
  whole->loss({1, 3});
  for (const memory::ParameterSlice& slice : whole->model.parameters().slices())
    for (const double g : whole->gradient(slice)) expected += is_frozen(slice.path) ? 0.0 : g * g;
  frozen->loss({1, 3});
  memory::DeviceBuffer squares("squares", sizeof(double));
  auto* sum = reinterpret_cast<double*>(squares.data());
  frozen->model.parameters().sum_gradient_squares(sum);
  EXPECT_NEAR(frozen->model.read(sum), expected, 1e-12 * expected);
}

TEST_F(FreezeTest, BackwardStopsWhereNothingTrains) {
  const auto backward = [&](std::vector<std::string> freeze) {
    std::vector<std::string> nodes;
    const auto tiny = make(std::move(freeze));
    for (const NodePlan& node : tiny->model.training_plan().nodes)
      if (node.backward) nodes.push_back(node.path);
    return nodes;
  };
  const std::size_t all = backward({}).size();
  EXPECT_EQ(backward({"encoder.2"}).size(), all) << "the gradient passes through";
  EXPECT_EQ(backward({"embedding"}).size(), all - 1);
  EXPECT_EQ(backward({"embedding", "encoder.0"}).front(), "encoder.1.attention");
  EXPECT_EQ(backward({"embedding", "encoder"}), std::vector<std::string>{"head"});
  EXPECT_LT(make({"embedding", "encoder"})->model.arena_bytes(), make({})->model.arena_bytes());
}

TEST_F(FreezeTest, AFactorisedEmbeddingIsFrozenWithItsProjection) {
  config::Experiment experiment = tiny_experiment(registry);
  experiment.model.embedding_width = 6;
  experiment.train.freeze = {"embedding"};
  TinyModel tiny(experiment, tiny_size(), registry, device, tiny_batch());
  for (const memory::ParameterSlice& slice : tiny.model.parameters().slices())
    EXPECT_EQ(slice.frozen, slice.path.starts_with("embedding.")) << slice.path;
}

TEST_F(FreezeTest, RejectsUnknownParametersAndAllParameters) {
  EXPECT_EQ(refusal({"encoder.0", "encodr.1"}),
            "train.freeze: the model has no part \"encodr.1\"; did you mean \"encoder.1\"?");
  EXPECT_EQ(refusal({"embedding", "encoder", "head"}),
            "train.freeze: every parameter is frozen; nothing is left to train");
  EXPECT_EQ(refusal({"encoder.1.attention.qkv.weight"}), "not refused");
}

}  // namespace
}  // namespace encore::model
