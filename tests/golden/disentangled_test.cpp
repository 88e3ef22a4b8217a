// SPDX-License-Identifier: BSD-3-Clause
// Compares the layer "disentangled_attention" (plugins/layers/disentangled_attention.cpp) with that of
// `transformers` (DeBERTa v2) in double: the context and every gradient. make_disentangled.py writes the
// numbers in disentangled.json and draws the inputs in the same order as this test.
#include <gtest/gtest.h>

#include <fstream>

#include <nlohmann/json.hpp>

#include "contract/test_memory.hpp"
#include "support/tiny_model.hpp"
#include "unit/plugins/built_in.hpp"

namespace encore::test {
namespace {

constexpr std::int64_t width = 6, heads = 2, length = 9, reach = 3;

class Drawn {
 public:
  std::vector<double> values(std::int64_t count) {
    std::vector<double> values;
    for (std::int64_t i = 0; i < count; ++i) values.push_back(numbers_.symmetric());
    return values;
  }

 private:
  testing::Numbers numbers_{5};
};

TEST(DisentangledAttention, ComputesWhatTransformersDoes) {
  std::ifstream file(std::string(ENCORE_SOURCE_DIR) + "/tests/golden/disentangled.json");
  const nlohmann::json golden = nlohmann::json::parse(file);
  const Device device;
  const auto layer = make_built_in<Kind::layer>("disentangled_attention", "disentangled_attention",
                                                {{"heads", heads}, {"max_distance", reach}},
                                                {.width = width, .max_length = length});
  LayerPlan plan(width);
  layer->declare(plan);
  const contract::OwnedBatch batch({length});
  contract::OwnedPlan owned(device, plan, batch.size(), DType::float64, 1);
  const auto parameter = [&](const std::string& name) {
    const auto at = std::ranges::find(plan.parameters(), name, &ParameterSpec::name);
    return static_cast<std::size_t>(at - plan.parameters().begin());
  };
  Drawn drawn;
  contract::OwnedTensor x(DType::float64, {length, width}), y(DType::float64, {length, width}),
      dx(DType::float64, {length, width}), dy(DType::float64, {length, width});
  x.set(drawn.values(length * width));
  for (const char* name : {"qkv.weight", "qkv.bias", "distances", "distance_query.weight",
                           "distance_query.bias", "distance_key.weight", "distance_key.bias"}) {
    contract::OwnedTensor& tensor = owned.parameters()[parameter(name)];
    tensor.set(drawn.values(tensor.tensor().size()));
  }
  dy.set(drawn.values(length * width));
  std::vector<double> identity(width * width, 0.0);
  for (std::size_t i = 0; i < width; ++i) identity[i * width + i] = 1.0;
  owned.parameters()[parameter("out.weight")].set(identity);
  owned.parameters()[parameter("out.bias")].fill(0.0);
  const Tensor input = x, gradient = dx;
  const Step step(device, batch, true, owned.bound(true));
  layer->forward(step, {&input, 1}, y);
  layer->backward(step, {&input, 1}, y, dy, {&gradient, 1});
  device.fence();
  const auto compare = [&](const contract::OwnedTensor& actual, const std::string& name) {
    const std::vector<double> values = actual.values(), expected = golden.at(name);
    ASSERT_EQ(values.size(), expected.size()) << name;
    for (std::size_t i = 0; i < values.size(); ++i) EXPECT_NEAR(values[i], expected[i], 1e-12) << name << i;
  };
  compare(y, "context");
  compare(dx, "x");
  for (const char* name : {"qkv.weight", "qkv.bias", "distances", "distance_query.weight",
                           "distance_query.bias", "distance_key.weight", "distance_key.bias"})
    compare(owned.gradients()[parameter(name)], name);
}

}  // namespace
}  // namespace encore::test
