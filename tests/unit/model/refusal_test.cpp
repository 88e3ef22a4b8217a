// SPDX-License-Identifier: BSD-3-Clause
// Tests the mistakes that a Model rejects when it is built, planned or run (model/network.hpp,
// model/device_batch.hpp): the error is a ConfigError whose key is the option in the experiment file, or
// names layer and handle for a mistake in a plugin. The words may change; a mistake must never pass in
// silence.
#include <gtest/gtest.h>

#include "config/error.hpp"
#include "support/tiny_model.hpp"

namespace encore::model {
namespace {

using namespace encore::testing;

/// Returns key and message of the ConfigError that building the model throws.
std::pair<std::string, std::string> refusal(const std::function<void(config::Experiment&)>& change) {
  const Device device;
  const plugin_host::Registry registry = load_builtin_plugins();
  config::Experiment experiment = tiny_experiment(registry);
  change(experiment);
  try {
    Model(experiment, tiny_size(), registry, device);
  } catch (const config::ConfigError& error) {
    return {error.key(), error.what()};
  }
  return {"no error", ""};
}

TEST(ModelRefusal, HeadsThatDoNotDivideTheWidth) {
  const auto [key, message] =
      refusal([](config::Experiment& e) { e.model.block[0].options.set("heads", std::int64_t{3}); });
  EXPECT_EQ(key, "model.layer.attention.heads");
  EXPECT_NE(message.find("model.width = 8"), std::string::npos) << message;
}

TEST(ModelRefusal, OddWidthWithSinusoidalPositions) {
  const auto change = [](config::Experiment& e) {
    e.model.width = 7;
    e.model.block[0].options.set("heads", std::int64_t{1});
  };
  const auto [key, message] = refusal(change);
  EXPECT_EQ(key, "model.width");
  EXPECT_NE(message.find("must be even with sinusoidal positions"), std::string::npos) << message;
  EXPECT_EQ(refusal([&](config::Experiment& e) {
              change(e);
              e.model.positions = config::Positions::learned;
            }).first,
            "no error");
}

TEST(ModelRefusal, OddWidthOfAFactorisedEmbedding) {
  const auto [key, message] = refusal([](config::Experiment& e) { e.model.embedding_width = 5; });
  EXPECT_EQ(key, "model.embedding_width");
  EXPECT_NE(message.find("must be even with sinusoidal positions"), std::string::npos) << message;
}

TEST(ModelRefusal, LinearAttentionInACausalStack) {
  const plugin_host::Registry registry = load_builtin_plugins();
  const auto [key, message] = refusal([&](config::Experiment& e) {
    e.model.causal = true;
    e.model.block[0] = layer_table(registry, "attention", "linear_attention", {{"heads", std::int64_t{2}}});
  });
  EXPECT_EQ(key, "model.layer.attention");
  EXPECT_NE(message.find("a causal stack must not see"), std::string::npos) << message;
}

TEST(ModelRefusal, SegmentsThatAreNotIntegersOverTokens) {
  const Device device;
  const plugin_host::Registry registry = load_builtin_plugins();
  config::Experiment experiment = tiny_experiment(registry);
  ModelSize size = tiny_size();
  size.columns.push_back({.name = segments_column, .space = Space::sequences});
  EXPECT_NO_THROW(Model(experiment, size, registry, device)) << "the option is not used";
  experiment.model.segments = 2;
  try {
    Model(experiment, size, registry, device);
    ADD_FAILURE() << "not refused";
  } catch (const config::ConfigError& error) {
    EXPECT_EQ(error.key(), "model.segments");
    EXPECT_STREQ(error.what(),
                 "the column \"segments\" of the task \"\" is not one of integers over tokens, known at "
                 "prediction; a model with segments cannot read it");
  }
  size.columns.back() = {.name = segments_column};
  EXPECT_NO_THROW(Model(experiment, size, registry, device));
}

TEST(ModelRefusal, TwoSubLayersOfOneName) {
  const Device device;
  const plugin_host::Registry registry = load_builtin_plugins();
  config::Experiment experiment = tiny_experiment(registry);
  experiment.model.block[1] = experiment.model.block[0];
  EXPECT_THROW(Model(experiment, tiny_size(), registry, device), Error);
}

/// A layer with as many parameters as the number of its block.
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
  plugin_host::Registry registry = load_builtin_plugins();
  Registrar offers;
  offers.add<Kind::layer, BlockWise>("block_wise");
  registry.add("this test", offers);
  config::Experiment experiment = tiny_experiment(registry);
  experiment.model.block.push_back(layer_table(registry, "extra", "block_wise"));
  EXPECT_NO_THROW(Model(experiment, tiny_size(), registry, device));
  experiment.model.groups = 1;
  try {
    Model(experiment, tiny_size(), registry, device);
    ADD_FAILURE() << "not refused";
  } catch (const config::ConfigError& error) {
    EXPECT_EQ(error.key(), "model.groups");
    EXPECT_STREQ(error.what(),
                 "encoder.1.extra cannot share the parameters of encoder.0.extra: it declares other "
                 "names, shapes or types; set groups = 0");
  }
}

TEST(ModelRefusal, ALayerThatNoPluginOffers) {
  const auto [key, message] = refusal([](config::Experiment& e) { e.model.block[0].type = "self_atention"; });
  EXPECT_EQ(key, "model.layer.attention");
  EXPECT_NE(message.find("did you mean \"self_attention\"?"), std::string::npos) << message;
}

TEST(ModelRefusal, ABatchLargerThanPlanned) {
  const Device device;
  const plugin_host::Registry registry = load_builtin_plugins();
  TinyModel tiny(tiny_experiment(registry), tiny_size(), registry, device, tiny_batch());
  const data::PackedBatch larger = make_batch({9, 9, 9, 9}, 11, 5, 1);
  DeviceBatch batch(device, larger.size(), tiny.model.needs());
  batch.upload(larger);
  EXPECT_THROW(tiny.model.forward_backward(batch, batch.scales(), {1, 1}), std::logic_error);
  tiny.model.plan(larger.size(), {});
  EXPECT_GT(tiny.model.read(tiny.model.forward_backward(batch, batch.scales(), {1, 1})), 0.0);
  EXPECT_THROW(tiny.model.evaluate(batch, {}), std::logic_error) << "no memory was planned for evaluation";
}

TEST(ModelRefusal, ASequenceLongerThanThePositions) {
  const Device device;
  const plugin_host::Registry registry = load_builtin_plugins();
  TinyModel tiny(tiny_experiment(registry), tiny_size(), registry, device, make_batch({10}, 11, 5, 1));
  EXPECT_THROW(tiny.loss({1, 1}), std::logic_error);
}

TEST(ModelRefusal, APassWithoutAPlan) {
  const Device device;
  const plugin_host::Registry registry = load_builtin_plugins();
  Model model(tiny_experiment(registry), tiny_size(), registry, device);
  DeviceBatch batch(device, tiny_batch().size(), model.needs());
  EXPECT_THROW(model.forward_backward(batch, batch.scales(), {1, 1}), std::logic_error);
}

TEST(StepRefusal, HandlesThatWereNotDeclared) {
  const Device device;
  const RowSet batch;
  const std::vector<Tensor> parameters(2), buffers(1);
  const std::vector<RandomKey> keys(1);
  const Step step(device, batch, true,
                  {.parameters = parameters, .gradients = parameters, .buffers = buffers, .keys = keys});
  const auto refusal = [](const auto& ask) -> std::string {
    try {
      ask();
    } catch (const std::logic_error& error) {
      return error.what();
    }
    return "";
  };
  const auto expect_refused = [&](const auto& ask, const std::string& what) {
    EXPECT_EQ(refusal(ask),
              "the layer asks for a " + what + "); keep what LayerPlan returns for it in declare");
  };
  expect_refused([&] { step.parameter({}); }, "parameter that it did not declare (handle -1 of 2");
  expect_refused([&] { step.parameter({2}); }, "parameter that it did not declare (handle 2 of 2");
  expect_refused([&] { step.gradient({}); }, "parameter that it did not declare (handle -1 of 2");
  expect_refused([&] { step.buffer({}); }, "buffer that it did not declare (handle -1 of 1");
  expect_refused([&] { step.random({}); }, "random stream that it did not declare (handle -1 of 1");
  EXPECT_EQ(refusal([&] { step.parameter({1}), step.gradient({0}), step.buffer({0}), step.random({0}); }),
            "");
}

TEST(Step, GivesTheSumThatTheHostHasBound) {
  const Device device;
  const RowSet rows;
  float values[2];
  const Tensor branch(&values[0], DType::float32, {1}), trunk(&values[1], DType::float32, {1});
  Step::Bound bound;
  bound.trunk = trunk;
  bound.branch_dropout.probability = 0.5;
  EXPECT_EQ(Step(device, rows, true, {}).sum(branch).rows, nullptr);
  const ResidualSum sum = Step(device, rows, true, bound).sum(branch);
  EXPECT_EQ(sum.rows, &rows);
  EXPECT_EQ(sum.trunk.data, trunk.data);
  EXPECT_EQ(sum.branch.data, branch.data);
  EXPECT_EQ(sum.dropout.probability, 0.5);
  EXPECT_EQ(Step(device, rows, false, bound).sum(branch).dropout.probability, 0.0);
  EXPECT_EQ(Step(device, rows, true, bound).sum_gradient(branch).rows, nullptr)
      << "the trunk has no gradient";
}

// --- a head and a task that do not fit ---

/// A head with the requests that the test sets.
class AskingHead final : public Head {
 public:
  static Schema options() { return {}; }
  AskingHead(const Options&, const HeadContext&) {}
  void declare(HeadPlan& plan) override { ask(plan); }
  void score(const HeadStep&) override {}
  void loss(const HeadStep&) override {}
  void backward(const HeadStep&) override {}
  void decode(const HeadStep&) override {}

  static inline std::function<void(HeadPlan&)> ask;
};

std::pair<std::string, std::string> head_refusal(const std::function<void(HeadPlan&)>& ask,
                                                 const ModelSize& size = tiny_size(),
                                                 std::int64_t shards = 1) {
  const Device device;
  plugin_host::Registry registry = load_builtin_plugins();
  Registrar offers;
  offers.add<Kind::head, AskingHead>("asking");
  registry.add("this test", offers);
  AskingHead::ask = ask;
  config::Experiment experiment = tiny_experiment(registry);
  experiment.task.type = "guessing";
  experiment.model.head.type = "asking";
  experiment.train.gradient_shards = shards;
  try {
    Model(experiment, size, registry, device);
  } catch (const config::ConfigError& error) {
    return {error.key(), error.what()};
  }
  return {};
}

void ask_for_targets(HeadPlan& plan) {
  plan.read(Space::tokens);
  plan.add_loss(plan.column(targets_column, Space::tokens));
  plan.output(classes_output, Space::tokens);
}

TEST(HeadRefusal, AColumnThatTheTaskDoesNotGive) {
  EXPECT_EQ(head_refusal(ask_for_targets).second, "");
  const auto [key, message] = head_refusal([](HeadPlan& plan) {
    ask_for_targets(plan);
    plan.column("pairs", Space::sequences, ColumnType::numbers, 0, 2);
  });
  EXPECT_EQ(key, "model.head.type");
  EXPECT_EQ(message,
            "the head \"asking\" reads the column \"pairs\" (2 numbers over sequences), and the task "
            "\"guessing\" has "
            "none of that name");
  EXPECT_EQ(
      head_refusal([](HeadPlan& plan) {
        plan.read(Space::tokens);
        plan.add_loss(plan.column(targets_column, Space::sequences));
        plan.output(classes_output, Space::tokens);
      }).second,
      "the head \"asking\" reads the column \"targets\" (integers over sequences), and the task \"guessing\" "
      "gives integers over tokens");
}

TEST(HeadRefusal, AnOutputThatTheHeadDoesNotGive) {
  EXPECT_EQ(head_refusal([](HeadPlan& plan) {
              plan.read(Space::tokens);
              plan.add_loss(plan.column(targets_column, Space::tokens));
            }).second,
            "the task \"guessing\" reads the output \"classes\" over tokens, which the head \"asking\" does "
            "not give");
}

TEST(HeadRefusal, AnInvalidDeclaration) {
  EXPECT_EQ(head_refusal([](HeadPlan&) {}).second, "head: the head reads no space (HeadPlan::read)");
  EXPECT_EQ(head_refusal([](HeadPlan& plan) {
              ask_for_targets(plan);
              plan.read(Space::tokens);
            }).second,
            "head: the head reads the space tokens twice");
  EXPECT_EQ(head_refusal([](HeadPlan& plan) { plan.read(Space::target); }).second,
            "head: the head reads the rows of a second text, for which this model has no stack; add a "
            "[model.decoder]");
  EXPECT_EQ(head_refusal([](HeadPlan& plan) { plan.read(Space::ragged); }).second,
            "head: the head cannot read the space ragged of this model");
}

TEST(HeadRefusal, ATiedParameterThatIsNotThere) {
  const auto tied = [](const std::string& path, std::int64_t rows) {
    return head_refusal([=](HeadPlan& plan) {
             ask_for_targets(plan);
             plan.tie("table", path, {rows, 8});
           })
        .second;
  };
  EXPECT_EQ(tied("embedding.tokens", 11), "");
  EXPECT_EQ(tied("embedding.tokens", 12),
            "head shares the parameter \"embedding.tokens\", which has another shape");
  EXPECT_EQ(tied("embedding.words", 11),
            "head shares the parameter \"embedding.words\", which this model does not have");
}

TEST(HeadRefusal, ShardsOfALossBetweenSequences) {
  const auto [key, message] = head_refusal(
      [](HeadPlan& plan) {
        ask_for_targets(plan);
        plan.couple_sequences();
      },
      tiny_size(), 2);
  EXPECT_EQ(key, "train.gradient_shards");
  EXPECT_EQ(message, "the loss of the head \"asking\" depends on whole batches, which cannot be cut; set 1");
}

}  // namespace
}  // namespace encore::model
