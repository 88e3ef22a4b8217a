// SPDX-License-Identifier: BSD-3-Clause
// Tests what single built-in layers and heads compute and refuse (plugins/layers, and the head "linear").
// A wrong option must be refused when the layer is made, not in a step. Rules that every layer must satisfy,
// such as gradients, are tested in tests/contract for all of them.
#include "unit/plugins/built_in.hpp"

#include <encore/space.hpp>

#include "contract/head_memory.hpp"
#include "unit/record/temporary_folder.hpp"

namespace encore::test {
namespace {

TEST(SelfAttentionLayer, RefusesHeadsThatDoNotDivideTheWidth) {
  try {
    make_built_in<Kind::layer>("self_attention", "self_attention", {{"heads", std::int64_t{5}}},
                               {.width = 384});
    ADD_FAILURE() << "not refused";
  } catch (const OptionError& error) {
    EXPECT_EQ(error.option(), "heads");
    EXPECT_STREQ(error.what(), "5 heads do not divide model.width = 384: 4 would, or set head_size");
  }
}

/// Returns the option and the message with which a layer of 384 channels is refused.
std::pair<std::string, std::string> refusal(const std::string& name, const Settings& settings,
                                            std::int64_t width = 384) {
  try {
    make_built_in<Kind::layer>(name, name, settings, {.width = width});
  } catch (const OptionError& error) {
    return {error.option(), error.what()};
  }
  return {"not refused", ""};
}

TEST(AttentionLayers, AllRefuseHeadsThatDoNotDivideTheWidth) {
  for (const char* name :
       {"alibi_attention", "cross_attention", "disentangled_attention", "linear_attention",
        "relative_attention", "rotary_attention", "sliding_window_attention", "sparse_attention"}) {
    EXPECT_EQ(refusal(name, {{"heads", std::int64_t{5}}}),
              std::pair(std::string("heads"),
                        std::string("5 heads do not divide model.width = 384: 4 would, or set head_size")));
    EXPECT_EQ(refusal(name, {{"heads", std::int64_t{5}}, {"head_size", std::int64_t{6}}}).first,
              "not refused");
    EXPECT_EQ(refusal(name, {{"heads", std::int64_t{60000}}, {"head_size", std::int64_t{60000}}}),
              std::pair(std::string("head_size"),
                        std::string("60000 heads of 60000 channels are 3600000000, more than 65536")));
  }
}

TEST(RelativeAttentionLayer, RefusesAFarthestDistanceThatHasABucketOfItsOwn) {
  EXPECT_EQ(
      refusal("relative_attention", {{"buckets", std::int64_t{32}}, {"max_distance", std::int64_t{8}}}),
      std::pair(
          std::string("max_distance"),
          std::string(
              "32 buckets hold the distances below 8 one by one: max_distance must be larger than that")));
  EXPECT_EQ(
      refusal("relative_attention", {{"buckets", std::int64_t{32}}, {"max_distance", std::int64_t{9}}}).first,
      "not refused");
}

TEST(RelativeAttentionLayer, HasOneTableForAllBlocksOfItsStack) {
  const auto table = [](const LayerContext& context) {
    const auto layer = make_built_in<Kind::layer>("relative_attention", "relative_attention", {}, context);
    LayerPlan plan(8);
    layer->declare(plan);
    return *std::ranges::find(plan.parameters(), "distances", &ParameterSpec::name);
  };
  EXPECT_EQ(table({.width = 8, .max_length = 9}).alias, "");
  EXPECT_EQ(table({.width = 8, .max_length = 9}).shape, (std::vector<std::int64_t>{32, 4}));
  EXPECT_EQ(table({.width = 8, .max_length = 9, .block = 2, .first_block = "decoder.0.attention"}).alias,
            "decoder.0.attention.distances");
}

TEST(ProductsOfLayers, HaveABiasByDefault) {
  for (const char* name : {"alibi_attention", "cross_attention", "disentangled_attention", "feed_forward",
                           "gated_feed_forward", "linear_attention", "relative_attention", "rotary_attention",
                           "self_attention", "sliding_window_attention", "sparse_attention"})
    for (const bool bias : {true, false}) {
      const auto layer =
          make_built_in<Kind::layer>(name, name, {{"bias", bias}}, {.width = 8, .max_length = 9});
      LayerPlan plan(8);
      layer->declare(plan);
      const bool found = std::ranges::any_of(
          plan.parameters(), [](const ParameterSpec& spec) { return spec.name.ends_with(".bias"); });
      EXPECT_EQ(found, bias) << name;
    }
}

TEST(AttentionLayers, HeadsMayHaveASizeOfTheirOwn) {
  for (const char* name : {"self_attention", "cross_attention", "disentangled_attention"}) {
    const auto layer =
        make_built_in<Kind::layer>(name, name, {{"heads", std::int64_t{3}}, {"head_size", std::int64_t{10}}},
                                   {.width = 8, .max_length = 64});
    LayerPlan plan(8);
    layer->declare(plan);
    const auto shape = [&](const std::string& parameter) {
      return std::ranges::find(plan.parameters(), parameter, &ParameterSpec::name)->shape;
    };
    EXPECT_EQ(shape("out.weight"), (std::vector<std::int64_t>{8, 30})) << name;
    if (std::string(name) == "cross_attention")
      EXPECT_EQ(shape("kv.weight"), (std::vector<std::int64_t>{60, 8}));
    else
      EXPECT_EQ(shape("qkv.weight"), (std::vector<std::int64_t>{90, 8})) << name;
  }
}

TEST(LinearAttentionLayer, RefusesACausalStack) {
  EXPECT_EQ(encore::testing::message_of<Error>([] {
              make_built_in<Kind::layer>("linear_attention", "linear_attention", {},
                                         {.width = 8, .max_length = 64, .causal = true});
            }),
            "linear_attention sums over all tokens of a sequence, later ones too, which a causal stack must "
            "not see: use self_attention, or sparse_attention for long sequences");
}
TEST(RotaryAttentionLayer, RefusesOddHeadSizes) {
  EXPECT_EQ(refusal("rotary_attention", {{"heads", std::int64_t{128}}}).second,
            "128 heads of model.width = 384 have 3 channels each: rotary positions turn pairs and need an "
            "even number; 96 would do");
  EXPECT_EQ(refusal("rotary_attention", {{"heads", std::int64_t{3}}}, 9).second,
            "3 heads of model.width = 9 have 3 channels each: rotary positions turn pairs and need an even "
            "number; set an even model.width");
  EXPECT_EQ(refusal("rotary_attention", {{"heads", std::int64_t{192}}}).first, "not refused");
  EXPECT_EQ(
      refusal("rotary_attention", {{"head_size", std::int64_t{7}}}),
      std::pair(std::string("head_size"),
                std::string("a head of 7 channels: rotary positions turn pairs and need an even number")));
}

/// Returns the output of a layer for random states from a seed, in double.
std::vector<double> output_of(const std::string& name, const Settings& settings,
                              const std::vector<std::int64_t>& lengths) {
  const Device device;
  const auto layer = make_built_in<Kind::layer>(name, name, settings, {.width = 8, .max_length = 64});
  LayerPlan plan(8);
  layer->declare(plan);
  const contract::OwnedBatch batch(lengths);
  contract::OwnedPlan owned(device, plan, batch.size(), DType::float64, 1);
  const std::int64_t rows = batch.batch().size.tokens;
  contract::OwnedTensor x(DType::float64, {rows, 8}), y(DType::float64, {rows, 8});
  x.set(contract::normal_values(rows * 8, 5));
  const Tensor input = x;
  layer->forward(Step(device, batch, false, owned.bound(false)), {&input, 1}, y);
  device.fence();
  return y.values();
}

TEST(AttentionLayers, DifferFromEachOtherAndAgreeWhereTheyMust) {
  const std::vector<std::int64_t> lengths{6, 1};
  const std::vector<double> plain = output_of("self_attention", {}, lengths);
  EXPECT_EQ(output_of("sliding_window_attention", {{"window", std::int64_t{5}}}, lengths), plain);
  // With stride 1 every token sees all others, so only the order of sums differs.
  const std::vector<double> whole = output_of("sparse_attention", {{"stride", std::int64_t{1}}}, lengths);
  for (std::size_t i = 0; i < plain.size(); ++i) EXPECT_NEAR(whole[i], plain[i], 1e-13);
  for (const auto& other :
       {output_of("sliding_window_attention", {{"window", std::int64_t{4}}}, lengths),
        output_of("alibi_attention", {}, lengths), output_of("rotary_attention", {}, lengths),
        output_of("sparse_attention", {{"window", std::int64_t{1}}, {"stride", std::int64_t{3}}}, lengths)}) {
    EXPECT_NE(other, plain);
    // A token alone has nothing to be far from.
    for (std::size_t i = plain.size() - 8; i < plain.size(); ++i) EXPECT_NEAR(other[i], plain[i], 1e-15);
  }
}

TEST(HighwayLayer, CarriesItsInputWhereTheGateIsShutAndTransformsWhereItIsOpen) {
  const std::vector<double> x = contract::normal_values(4 * 8, 5);
  const std::vector<double> carried = output_of("highway", {{"bias", -100.0}}, {4});
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(carried[i], x[i], 1e-12);
  const std::vector<double> transformed = output_of("highway", {{"bias", 100.0}}, {4});
  for (const double value : transformed) EXPECT_GE(value, -1e-12) << "relu(x W^T + b)";
}

TEST(HighwayLayer, ItsOwnKernelsRunInFloatAndBearItsName) {
  static std::vector<std::string> labels;
  const auto before = Kokkos::Tools::Experimental::get_callbacks();
  Kokkos::Tools::Experimental::set_begin_parallel_for_callback(
      [](const char* label, std::uint32_t, std::uint64_t*) { labels.emplace_back(label); });
  const Device device;
  const auto layer = make_built_in<Kind::layer>("highway", "highway", {}, {.width = 33, .max_length = 64});
  LayerPlan plan(33);
  layer->declare(plan);
  const contract::OwnedBatch batch({5, 1});
  std::vector<std::vector<double>> outputs;
  for (const DType type : {DType::float64, DType::float32}) {
    contract::OwnedPlan owned(device, plan, batch.size(), type, 1);
    contract::OwnedTensor x(type, {6, 33}), y(type, {6, 33}), dy(type, {6, 33}), dx(type, {6, 33});
    x.set(contract::normal_values(6 * 33, 5));
    dy.set(contract::normal_values(6 * 33, 6));
    const Tensor input = x, gradient = dx;
    const Step step(device, batch, true, owned.bound(true));
    layer->forward(step, {&input, 1}, y);
    layer->backward(step, {&input, 1}, y, dy, {&gradient, 1});
    device.fence();
    outputs.push_back(y.values());
    for (const double value : dx.values()) outputs.back().push_back(value);
  }
  Kokkos::Tools::Experimental::set_callbacks(before);
  for (std::size_t i = 0; i < outputs[0].size(); ++i)
    EXPECT_NEAR(outputs[1][i], outputs[0][i], 1e-5 * (1.0 + std::abs(outputs[0][i]))) << i;
  for (const char* label : {"encore_highway::mix", "encore_highway::mix_backward"})
    EXPECT_EQ(std::count(labels.begin(), labels.end(), label), 2) << label;
}

TEST(LinearHead, DecodesTheClassWithTheLargestLogit) {
  const Device device;
  const auto head = make_built_in<Kind::head>(
      "linear_head", "linear", {},
      {.width = 2, .classes = 3, .columns = {{.name = targets_column, .truth = true}}});
  const contract::OwnedBatch batch({2});
  contract::HeadMemory memory(device, *head, 2, batch, DType::float32, 1, 0.2);
  memory.memory().parameters()[0].set({1, 0, 0, 1, -1, -1});
  memory.memory().parameters()[1].set({0, 0, 0.5});
  memory.inputs()[0].set({-1, 2, -3, -3});
  head->score(memory.step(false, false));
  head->decode(memory.step(false, false));
  device.fence();
  EXPECT_EQ(memory.outputs()[0].values(), (std::vector<double>{1, 2}));
}

TEST(LinearHead, LearnsOverTheRowsThatTheTaskHasTargetsFor) {
  const Device device;
  const auto read = [&](Space space) {
    const auto head = make_built_in<Kind::head>(
        "linear_head", "linear", {},
        {.width = 2, .classes = 3, .columns = {{.name = targets_column, .space = space, .truth = true}}});
    HeadPlan plan(2);
    head->declare(plan);
    return plan;
  };
  for (const Space space : {Space::tokens, Space::sequences, Space::picked}) {
    EXPECT_EQ(read(space).reads(), std::vector<Space>{space});
    EXPECT_EQ(read(space).loss_space(), space);
    EXPECT_EQ(read(space).outputs().front().space, space);
  }
  EXPECT_EQ(encore::testing::message_of<Error>(
                [] { make_built_in<Kind::head>("linear_head", "linear", {}, {.width = 2, .classes = 3}); }),
            "the linear head learns from the column \"targets\", which this task does not have");
}

}  // namespace
}  // namespace encore::test
