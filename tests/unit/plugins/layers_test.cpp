// Gradients of the built-in layers and heads by the check that plugin authors use, and what they refuse.
#include "unit/plugins/built_in.hpp"

#include <encore/testing.hpp>

namespace encore::test {
namespace {

constexpr double tolerance = 1e-7;

void expect_layer_gradients(const std::string& name, const Settings& settings, GradientCheck check = {}) {
  const Device device;
  for (const std::uint64_t seed : {1, 2}) {
    check.seed = seed;
    const auto layer =
        make_built_in<Kind::layer>(name, name, settings, {.width = check.width, .max_length = 64});
    const GradientReport report = check_layer(device, *layer, check);
    EXPECT_LE(report.worst(), tolerance) << name << "\n" << report.text();
  }
}

void expect_head_gradients(const Settings& settings, double smoothing) {
  const Device device;
  const GradientCheck check{.width = 9, .classes = 7};
  const auto head =
      make_built_in<Kind::head>("linear_head", "linear", settings,
                                {.width = 9, .classes = 7, .label_smoothing = smoothing, .labels = {}});
  const GradientReport report = check_head(device, *head, check);
  EXPECT_LE(report.worst(), tolerance) << report.text();
}

TEST(LayerNormLayer, gradients) {
  expect_layer_gradients("layer_norm", {}, {.width = 11});
}

TEST(SelfAttentionLayer, gradients) {
  expect_layer_gradients("self_attention", {{"heads", std::int64_t{2}}});
  expect_layer_gradients("self_attention", {{"heads", std::int64_t{3}}},
                         {.width = 15, .lengths = {1, 19, 2}});
}
TEST(SelfAttentionLayer, gradients_with_dropout_of_weights) {
  expect_layer_gradients("self_attention", {{"heads", std::int64_t{2}}, {"attention_dropout", 0.3}});
}
TEST(SelfAttentionLayer, refuses_heads_that_do_not_divide_the_width) {
  try {
    make_built_in<Kind::layer>("self_attention", "self_attention", {{"heads", std::int64_t{5}}},
                               {.width = 384});
    ADD_FAILURE() << "not refused";
  } catch (const OptionError& error) {
    EXPECT_EQ(error.option(), "heads");
    EXPECT_STREQ(error.what(), "5 heads do not divide model.width = 384; 4 would");
  }
}

TEST(FeedForwardLayer, gradients) {
  expect_layer_gradients("feed_forward", {{"hidden", std::int64_t{13}}});
  expect_layer_gradients("feed_forward", {{"hidden", std::int64_t{13}}, {"activation", std::string("gelu")}});
}

TEST(LinearHead, gradients) {
  expect_head_gradients({}, 0.0);
  expect_head_gradients({}, 0.1);
  expect_head_gradients({{"residual_norm", true}}, 0.1);
}

TEST(LinearHead, decodes_the_class_with_the_largest_logit) {
  const Device device;
  const auto head =
      make_built_in<Kind::head>("linear_head", "linear", {}, {.width = 2, .classes = 3, .labels = {}});
  LayerPlan plan(2);
  head->declare(plan);
  const OwnedBatch batch({2});
  OwnedPlan owned(device, plan, batch, DType::float32, 1);
  owned.parameters()[0].set({1, 0, 0, 1, -1, -1});
  owned.parameters()[1].set({0, 0, 0.5});
  OwnedTensor states(DType::float32, {2, 2}), mask(DType::int32, {2}), predictions(DType::int32, {2});
  states.set({-1, 2, -3, -3});
  head->decode(owned.step(device, batch, false), states, mask, predictions);
  device.fence();
  EXPECT_EQ(predictions.values(), (std::vector<double>{1, 2}));
}

}  // namespace
}  // namespace encore::test
