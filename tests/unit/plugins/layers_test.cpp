// What single built-in layers and heads compute and refuse; what all must satisfy is in tests/contract.
#include "unit/plugins/built_in.hpp"

#include "contract/test_memory.hpp"

namespace encore::test {
namespace {

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
