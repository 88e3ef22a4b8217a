// SPDX-License-Identifier: BSD-3-Clause
// Tests train.lora (TrainedParameters, model/trained_parameters.hpp, and memory/adapters.hpp): the chosen
// matrices keep their values, low-rank adapters B A are trained instead, and the gradients of A and B follow
// from those of the matrices. A new adapter changes no bit of the model's output, because B starts at zero.
#include <gtest/gtest.h>

#include <map>

#include "config/error.hpp"
#include "support/tiny_model.hpp"

namespace encore::model {
namespace {

using namespace encore::testing;

const std::string adapted_matrix = "encoder.1.attention.qkv.weight";  // (24, 8)

struct LoraTest : ::testing::Test {
  struct Choice {
    std::vector<std::string> lora = {"attention.qkv.weight", "encoder.0.feed_forward.up.weight"};
    std::int64_t rank = 3;
    std::vector<std::string> freeze = {};
    config::Precision precision = config::Precision::float64;
    std::int64_t shards = 1;
  };
  std::unique_ptr<TinyModel> make(const Choice& choice) {
    config::Experiment experiment = tiny_experiment(registry);
    experiment.train.precision = choice.precision;
    experiment.train.gradient_shards = choice.shards;
    experiment.train.lora = choice.lora;
    experiment.train.lora_rank = choice.rank;
    experiment.train.lora_alpha = 6.0;
    experiment.train.freeze = choice.freeze;
    auto tiny = std::make_unique<TinyModel>(experiment, tiny_size(), registry, device, tiny_batch());
    tiny->model.initialize(1);
    return tiny;
  }
  /// Sets B to values other than zero: it starts at zero, and then A has no gradient.
  void wake(TinyModel& tiny) {
    Numbers numbers(7);
    for (const memory::ParameterSlice& slice : tiny.model.parameters().slices()) {
      if (!slice.path.ends_with(".lora_b")) continue;
      std::vector<double> values(static_cast<std::size_t>(slice.size));
      for (double& value : values) value = 0.1 * numbers.symmetric();
      tiny.set_values(slice, values);
    }
  }
  std::string refusal(const Choice& choice) {
    try {
      make(choice);
    } catch (const config::ConfigError& error) {
      return error.key() + ": " + error.what();
    }
    return "not refused";
  }

  Device device;
  plugin_host::Registry registry = load_builtin_plugins();
};

TEST_F(LoraTest, ChangesNothingAtFirst) {
  const auto adapted = make({}), plain = make({.lora = {}});
  EXPECT_EQ(adapted->loss({1, 3}), plain->loss({1, 3}));
  EXPECT_EQ(adapted->model.parameters().find(adapted_matrix + ".lora_a").spec.shape,
            (std::vector<std::int64_t>{3, 8}));
  EXPECT_EQ(adapted->model.parameters().find(adapted_matrix + ".lora_b").spec.shape,
            (std::vector<std::int64_t>{24, 3}));
}

TEST_F(LoraTest, PassesSeeTheMatrixWithItsAdapter) {
  const auto tiny = make({});
  wake(*tiny);
  tiny->loss({1, 3});
  memory::ParameterBlock& block = tiny->model.parameters();
  const std::vector<double> w = tiny->values(block.find(adapted_matrix)),
                            a = tiny->values(block.find(adapted_matrix + ".lora_a")),
                            b = tiny->values(block.find(adapted_matrix + ".lora_b")),
                            adapted = to_host(device, block.adapted(block.find(adapted_matrix)));
  for (std::size_t i = 0; i < 24; ++i)
    for (std::size_t j = 0; j < 8; ++j) {
      double expected = w[8 * i + j];
      for (std::size_t r = 0; r < 3; ++r) expected += 2.0 * b[3 * i + r] * a[8 * r + j];  // alpha / r = 2
      EXPECT_NEAR(adapted[8 * i + j], expected, 1e-14);
    }
}

TEST_F(LoraTest, GradientsAreThoseOfTheLoss) {
  for (const std::int64_t shards : {1, 2}) {
    const auto tiny = make({.shards = shards});
    wake(*tiny);
    for (const std::string factor : {".lora_a", ".lora_b"}) {
      const memory::ParameterSlice& slice = tiny->model.parameters().find(adapted_matrix + factor);
      tiny->loss({1, 3});
      const std::vector<double> gradient = tiny->gradient(slice), start = tiny->values(slice);
      for (const std::size_t i : {std::size_t{0}, std::size_t{5}, start.size() - 1}) {
        const double h = 1e-5;
        std::vector<double> moved = start;
        moved[i] = start[i] + h;
        tiny->set_values(slice, moved);
        const double above = tiny->loss({1, 3});
        moved[i] = start[i] - h;
        tiny->set_values(slice, moved);
        const double below = tiny->loss({1, 3});
        tiny->set_values(slice, start);
        EXPECT_NEAR(gradient[i], (above - below) / (2.0 * h), 1e-8) << factor << " " << i;
      }
    }
  }
}

TEST_F(LoraTest, OnlyTheAdapterIsTrained) {
  for (const config::Precision precision : {config::Precision::float64, config::Precision::bfloat16}) {
    const auto tiny = make({.freeze = {"embedding", "encoder"}, .precision = precision});
    std::map<std::string, std::vector<double>> before;
    for (const memory::ParameterSlice& slice : tiny->model.parameters().slices())
      before[slice.path] = tiny->values(slice);
    const auto optimizer =
        registry.make_optimizer("adamw", defaults(registry.offer(Kind::optimizer, "adamw").options));
    tiny->model.parameters().make_states(optimizer->states());
    const double first = tiny->loss({1, 1});
    double last = first;
    for (int step = 1; step <= 20; ++step) {
      last = tiny->loss({1, 1});
      optimizer->update(device, tiny->model.parameters().blocks(nullptr), 0.05, step);
    }
    EXPECT_LT(last, 0.9 * first);
    for (const memory::ParameterSlice& slice : tiny->model.parameters().slices()) {
      const bool trained = slice.path.find(".lora_") != std::string::npos || slice.path.starts_with("head.");
      EXPECT_EQ(before[slice.path] != tiny->values(slice), trained) << slice.path;
    }
  }
}

TEST_F(LoraTest, NormsCountTheAdapterAndNotItsMatrix) {
  const auto tiny = make({.freeze = {"embedding", "encoder", "head"}});
  wake(*tiny);
  tiny->loss({1, 3});
  double expected = 0.0;
  for (const memory::ParameterSlice& slice : tiny->model.parameters().slices())
    if (!slice.frozen)
      for (const double g : tiny->gradient(slice)) expected += g * g;
  memory::DeviceBuffer squares("squares", sizeof(double));
  auto* sum = reinterpret_cast<double*>(squares.data());
  tiny->model.parameters().sum_gradient_squares(sum);
  EXPECT_NEAR(tiny->model.read(sum), expected, 1e-12 * expected);
}

TEST_F(LoraTest, RejectsParametersThatAreNotMatrices) {
  EXPECT_EQ(refusal({.lora = {"attention.qvk.weight"}}),
            "train.lora: the model has no matrix \"attention.qvk.weight\"; did you mean "
            "\"attention.qkv.weight\"?");
  EXPECT_TRUE(refusal({.lora = {"attention.qkv.bias"}}).starts_with("train.lora: the model has no matrix"));
  EXPECT_TRUE(refusal({.lora = {"embedding.tokens"}}).starts_with("train.lora: the model has no matrix"));
  EXPECT_EQ(refusal({.rank = 9}),
            "train.lora_rank: rank 9 is more than \"encoder.0.attention.qkv.weight\" itself can have: it is "
            "24 x 8");
}

}  // namespace
}  // namespace encore::model
