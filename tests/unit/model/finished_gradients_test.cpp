// SPDX-License-Identifier: BSD-3-Clause
// Tests the callback of Model::shard_gradient (model/model.hpp), which reports each node that the backward
// pass has finished: from then on, the gradients of parameters that no earlier node uses do not change. The
// exchange of gradients between ranks relies on this (train/gradient_exchange.hpp). Gradients of parameters
// that earlier nodes share are not final yet.
#include <gtest/gtest.h>

#include <set>

#include "support/tiny_model.hpp"

namespace encore::model {
namespace {

using namespace encore::testing;

struct FinishedGradientsTest : ::testing::Test {
  /// Checks that each gradient, once reported as final, stays as it is. `shared_parameters` is the expected
  /// number of parameters to which a later node of the network adds before the one that makes them final.
  void expect_final(const config::Experiment& experiment, std::size_t shared_parameters) {
    TinyModel tiny(experiment, tiny_size(), registry, device, tiny_batch());
    tiny.model.initialize(1);
    const memory::ParameterBlock& parameters = tiny.model.parameters();
    const std::map<std::string, std::size_t> first_users = tiny.model.network().first_users();
    ASSERT_EQ(first_users.size(), parameters.slices().size());
    const auto gradient = [&](const memory::ParameterSlice& slice) {
      return to_host(device, memory::ParameterBlock::slice(parameters.shard_gradients(), slice));
    };
    std::map<std::string, std::vector<double>> final;
    std::set<std::string> changed_before;
    tiny.model.begin_gradients();
    tiny.model.shard_gradient(tiny.batch.shards().front(), tiny.scales, {1, 3}, [&](std::size_t node) {
      for (const memory::ParameterSlice& slice : parameters.slices()) {
        const std::vector<double> now = gradient(slice);
        const bool some = std::ranges::any_of(now, [](double g) { return g != 0.0; });
        if (some && first_users.at(slice.path) < node) changed_before.insert(slice.path);
        if (first_users.at(slice.path) == node) final[slice.path] = now;
      }
    });
    for (const memory::ParameterSlice& slice : parameters.slices())
      EXPECT_EQ(final.at(slice.path), gradient(slice)) << slice.path;
    EXPECT_EQ(changed_before.size(), shared_parameters) << "another node has added to them before";
  }

  Device device;
  plugin_host::Registry registry = load_builtin_plugins();
};

TEST_F(FinishedGradientsTest, StayAsTheyAre) {
  config::Experiment experiment = tiny_experiment(registry);
  expect_final(experiment, 0);
  experiment.model.norm_position = config::NormPosition::pre;
  expect_final(experiment, 0);
}

TEST_F(FinishedGradientsTest, OfSharedParametersAreFinalAtTheFirstNodeThatUsesThem) {
  config::Experiment experiment = tiny_experiment(registry);
  const std::size_t both =
      TinyModel(experiment, tiny_size(), registry, device, tiny_batch()).model.network().first_users().size();
  experiment.model.groups = 1;
  const std::size_t shared =
      TinyModel(experiment, tiny_size(), registry, device, tiny_batch()).model.network().first_users().size();
  expect_final(experiment, both - shared);
}

}  // namespace
}  // namespace encore::model
