// What a model refuses, and that the message names the option in the file.
#include <gtest/gtest.h>

#include "config/error.hpp"
#include "support/tiny_model.hpp"

namespace encore {
namespace {

using namespace encore::testing;

/// Key and message of the ConfigError that building the model throws.
std::pair<std::string, std::string> refusal(const std::function<void(Experiment&)>& change) {
  const Device device;
  const Registry registry = load_builtin_plugins();
  Experiment experiment = tiny_experiment(registry);
  change(experiment);
  try {
    Model(experiment, tiny_size(), registry, device);
  } catch (const ConfigError& error) {
    return {error.key(), error.what()};
  }
  return {"no error", ""};
}

TEST(ModelRefusal, HeadsThatDoNotDivideTheWidth) {
  const auto [key, message] =
      refusal([](Experiment& e) { e.model.block[0].options.set("heads", std::int64_t{3}); });
  EXPECT_EQ(key, "model.layer.attention.heads");
  EXPECT_NE(message.find("model.width = 8"), std::string::npos) << message;
}

TEST(ModelRefusal, OddWidthWithSinusoidalPositions) {
  const auto change = [](Experiment& e) {
    e.model.width = 7;
    e.model.block[0].options.set("heads", std::int64_t{1});
  };
  const auto [key, message] = refusal(change);
  EXPECT_EQ(key, "model.width");
  EXPECT_NE(message.find("must be even with sinusoidal positions"), std::string::npos) << message;
  EXPECT_EQ(refusal([&](Experiment& e) {
              change(e);
              e.model.positions = Positions::learned;
            }).first,
            "no error");
}

TEST(ModelRefusal, TwoSubLayersOfOneName) {
  const Device device;
  const Registry registry = load_builtin_plugins();
  Experiment experiment = tiny_experiment(registry);
  experiment.model.block[1] = experiment.model.block[0];
  EXPECT_THROW(Model(experiment, tiny_size(), registry, device), Error);
}

/// Has as many parameters as the number of its block says.
class BlockWise final : public Layer {
 public:
  static Schema options() { return {}; }
  BlockWise(const Options&, const LayerContext& context) : block_(context.block) {}
  void declare(LayerPlan& plan) override { plan.bias("bias", 1 + block_); }
  void forward(const Step&, std::span<const Tensor>, Tensor) override {}
  void backward(const Step&, std::span<const Tensor>, Tensor, Tensor, std::span<const Tensor>) override {}

 private:
  std::int64_t block_;
};

TEST(ModelRefusal, BlocksThatCannotShareTheirParameters) {
  const Device device;
  Registry registry = load_builtin_plugins();
  Registrar offers;
  offers.add<Kind::layer, BlockWise>("block_wise");
  registry.add("this test", offers);
  Experiment experiment = tiny_experiment(registry);
  experiment.model.block.push_back(layer_table(registry, "extra", "block_wise"));
  EXPECT_NO_THROW(Model(experiment, tiny_size(), registry, device));
  experiment.model.groups = 1;
  try {
    Model(experiment, tiny_size(), registry, device);
    ADD_FAILURE() << "not refused";
  } catch (const ConfigError& error) {
    EXPECT_EQ(error.key(), "model.groups");
    EXPECT_STREQ(error.what(),
                 "encoder.1.extra cannot share the parameters of encoder.0.extra: it declares other "
                 "names, shapes or types; set groups = 0");
  }
}

TEST(ModelRefusal, ALayerThatNoPluginOffers) {
  const auto [key, message] = refusal([](Experiment& e) { e.model.block[0].type = "self_atention"; });
  EXPECT_EQ(key, "model.layer.attention");
  EXPECT_NE(message.find("did you mean \"self_attention\"?"), std::string::npos) << message;
}

TEST(ModelRefusal, ABatchLargerThanPlanned) {
  const Device device;
  const Registry registry = load_builtin_plugins();
  TinyModel tiny(tiny_experiment(registry), tiny_size(), registry, device, tiny_batch());
  const PackedBatch larger = make_batch({9, 9, 9, 9}, 11, 5, 1);
  DeviceBatch batch(device, larger.size());
  batch.upload(larger);
  EXPECT_THROW(tiny.model.forward_backward(batch, 1.0, {1, 1}), std::logic_error);
  tiny.model.plan(larger.size(), {});
  EXPECT_GT(tiny.model.read(tiny.model.forward_backward(batch, 1.0, {1, 1})), 0.0);
  EXPECT_THROW(tiny.model.evaluate(batch, {}), std::logic_error) << "no memory was planned for evaluation";
}

TEST(ModelRefusal, ASequenceLongerThanThePositions) {
  const Device device;
  const Registry registry = load_builtin_plugins();
  TinyModel tiny(tiny_experiment(registry), tiny_size(), registry, device, make_batch({10}, 11, 5, 1));
  EXPECT_THROW(tiny.loss({1, 1}), std::logic_error);
}

TEST(ModelRefusal, APassWithoutAPlan) {
  const Device device;
  const Registry registry = load_builtin_plugins();
  Model model(tiny_experiment(registry), tiny_size(), registry, device);
  DeviceBatch batch(device, tiny_batch().size());
  EXPECT_THROW(model.forward_backward(batch, 1.0, {1, 1}), std::logic_error);
}

TEST(StepRefusal, HandlesThatWereNotDeclared) {
  const Device device;
  const Batch batch;
  const std::vector<Tensor> parameters(2), buffers(1);
  const std::vector<RandomKey> keys(1);
  Step step(device, batch, true);
  step.bind(parameters, parameters, buffers, keys);
  const auto refusal = [](const auto& ask) -> std::string {
    try {
      ask();
    } catch (const std::logic_error& error) {
      return error.what();
    }
    return "";
  };
  const auto expect_refused = [&](const auto& ask, const std::string& what) {
    const std::string message = refusal(ask);
    EXPECT_NE(
        message.find("the layer asks for a " + what + "); keep what LayerPlan returns for it in declare"),
        std::string::npos)
        << message;
  };
  expect_refused([&] { step.parameter({}); }, "parameter that it did not declare (handle -1 of 2");
  expect_refused([&] { step.parameter({2}); }, "parameter that it did not declare (handle 2 of 2");
  expect_refused([&] { step.gradient({}); }, "parameter that it did not declare (handle -1 of 2");
  expect_refused([&] { step.buffer({}); }, "buffer that it did not declare (handle -1 of 1");
  expect_refused([&] { step.random({}); }, "random stream that it did not declare (handle -1 of 1");
  EXPECT_EQ(refusal([&] { step.parameter({1}), step.gradient({0}), step.buffer({0}), step.random({0}); }),
            "");
}

TEST(StepRefusal, ASumOfNeitherOneNorTwoParts) {
  const Device device;
  const Batch batch;
  const Step step(device, batch, true);
  const std::vector<Tensor> parts(3);
  EXPECT_EQ(step.sum(std::span(parts).first(1)).batch, nullptr);
  EXPECT_EQ(step.sum(std::span(parts).first(2)).batch, &batch);
  for (const std::size_t count : {0, 3}) {
    try {
      step.sum(std::span(parts).first(count));
      ADD_FAILURE() << "a sum of " << count;
    } catch (const std::logic_error& error) {
      EXPECT_NE(std::string(error.what()).find("a sum has two parts, branch and trunk, or is there already"),
                std::string::npos)
          << error.what();
    }
  }
}

}  // namespace
}  // namespace encore
