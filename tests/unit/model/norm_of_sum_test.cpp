// SPDX-License-Identifier: BSD-3-Clause
// Tests norms that take the residual sum (trunk and branch as two inputs, model/network.hpp): a model with
// them trains bit for bit like one whose norms get the finished sum, in every precision, with and without
// dropout, on one thread and on two. So the fused path must keep the order of additions.
#include <gtest/gtest.h>

#include "base/sha256.hpp"
#include "support/child_threads.hpp"
#include "support/separate_norms.hpp"
#include "support/tiny_model.hpp"

namespace encore::model {
namespace {

using namespace encore::testing;

std::string digest(const Device& device, Tensor tensor) {
  std::vector<std::byte> bytes(tensor.bytes());
  memory::copy_to_host(device, tensor, bytes.data());
  Sha256 hash;
  hash.add(std::span<const std::byte>(bytes));
  return hash.hex();
}

struct Case {
  config::Precision precision;
  double dropout;
  const char* norm;
};
constexpr Case cases[] = {
    {config::Precision::float32, 0.0, "layer_norm"},  {config::Precision::float32, 0.1, "layer_norm"},
    {config::Precision::float64, 0.0, "layer_norm"},  {config::Precision::float64, 0.1, "layer_norm"},
    {config::Precision::bfloat16, 0.0, "layer_norm"}, {config::Precision::bfloat16, 0.1, "layer_norm"},
    {config::Precision::float32, 0.1, "rms_norm"},    {config::Precision::float64, 0.0, "rms_norm"},
    {config::Precision::bfloat16, 0.1, "rms_norm"},
};

std::string name_of(const Case& c) {
  const std::string precision = c.precision == config::Precision::float32   ? "float32"
                                : c.precision == config::Precision::float64 ? "float64"
                                                                            : "bfloat16";
  return std::string(c.norm) + "_" + precision + (c.dropout > 0.0 ? "_dropout" : "");
}
void PrintTo(const Case& c, std::ostream* out) {
  *out << name_of(c);
}

/// Returns a hash of three steps of Adam and an evaluation. `norm` is the type of all norms of the model;
/// `nodes`, if given, gets the number of nodes of its network.
std::string train(const Case& c, const std::string& norm, std::size_t* nodes = nullptr) {
  const Device device;
  plugin_host::Registry registry = load_builtin_plugins();
  add_separate_norms(registry);
  config::Experiment experiment = tiny_experiment(registry);
  experiment.model.width = 40;
  experiment.model.groups = 1;
  experiment.model.dropout = c.dropout;
  experiment.data.max_length = 64;
  experiment.model.norm = layer_table(registry, "norm", norm);
  experiment.train.precision = c.precision;
  experiment.train.gradient_shards = 2;
  TinyModel tiny(experiment, size_with(300), registry, device, make_batch({64, 33, 1, 50, 17}, 300, 5, 1));
  tiny.model.initialize(1);
  if (nodes != nullptr) *nodes = tiny.model.training_plan().nodes.size();
  const auto optimizer =
      registry.make_optimizer("adam", defaults(registry.offer(Kind::optimizer, "adam").options));
  tiny.model.parameters().make_states(optimizer->states());
  std::string digests;
  for (std::uint64_t step = 1; step <= 3; ++step) {
    digests += std::to_string(tiny.loss({1, step})) + " ";
    optimizer->update(device, tiny.model.parameters().blocks(nullptr), 0.01, static_cast<std::int64_t>(step));
    tiny.model.parameters().values_changed();
  }
  digests += std::to_string(tiny.model.read(tiny.model.evaluate(tiny.batch, {}))) + " ";
  return digests + digest(device, tiny.model.parameters().values()) + " " +
         digest(device, tiny.model.parameters().state(1));
}

class NormOfSum : public ::testing::TestWithParam<Case> {};

TEST_P(NormOfSum, TrainsLikeTheNormAfterTheSum) {
  std::size_t one = 0, two = 0;
  EXPECT_EQ(train(GetParam(), GetParam().norm, &one),
            train(GetParam(), std::string("separate_") + GetParam().norm, &two));
  EXPECT_EQ(one + 4, two) << "two blocks of two sub-layers, each with a sum of its own";
}

INSTANTIATE_TEST_SUITE_P(Model, NormOfSum, ::testing::ValuesIn(cases),
                         [](const auto& info) { return name_of(info.param); });

/// Runs in the child: prints one hash of all cases with fused norms. Those with separate norms must agree
/// there too.
TEST(NormOfSumChild, DISABLED_Trains) {
  std::string all;
  for (const Case& c : cases) {
    const std::string fused = train(c, c.norm);
    ASSERT_EQ(fused, train(c, std::string("separate_") + c.norm)) << name_of(c);
    all += fused;
  }
  Sha256 hash;
  hash.add(std::as_bytes(std::span(all)));
  print_digest(hash.hex());
}

TEST(NormOfSumThreads, OneAndTwoGiveEqualBits) {
  if (std::string(ENCORE_BACKEND_NAME) != "openmp") GTEST_SKIP() << "threads of the host only";
  const std::string one = digest_of_child("model_test", "NormOfSumChild.DISABLED_Trains", 1);
  EXPECT_EQ(digest_of_child("model_test", "NormOfSumChild.DISABLED_Trains", 2), one);
}

}  // namespace
}  // namespace encore::model
