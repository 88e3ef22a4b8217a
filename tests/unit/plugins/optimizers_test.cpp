// SPDX-License-Identifier: BSD-3-Clause
// Tests the optimizers adam, adamw and sgd (plugins/optimizers) against their formulas, element by element in
// double, over several steps, segments and chunks. lamb_test.cpp tests lamb. Names of states are in
// checkpoints, so they must not change.
#include <cmath>

#include <encore/space.hpp>

#include "unit/plugins/built_in.hpp"

#include "contract/test_memory.hpp"

namespace encore::test {
namespace {

using Values = std::vector<double>;

/// Two parameters of more than one chunk each: the first has weight decay and the full learning rate, the
/// second neither.
struct World {
  static constexpr std::int64_t first = 5000, size = 5003;

  World(DType type, std::size_t states)
      : values(type, {size}), gradients(type, {size}), scale(DType::float64, {1}) {
    values.set(contract::normal_values(size, 1));
    gradients.set(contract::normal_values(size, 2));
    scale.fill(0.5);
    for (std::size_t i = 0; i < states; ++i) state.emplace_back(type, std::vector<std::int64_t>{size});
    Kokkos::View<Segment*, Kokkos::HostSpace> host_segments("segments", 2);
    host_segments(0) = {0, first, 1.0F, 1.0F};
    host_segments(1) = {first, size, 0.0F, 0.5F};
    Kokkos::View<Chunk*, Kokkos::HostSpace> host_chunks("chunks", 3);
    host_chunks(0) = {0, 4096, 0};
    host_chunks(1) = {4096, 904, 0};
    host_chunks(2) = {first, 3, 1};
    segments = Kokkos::create_mirror_view_and_copy(DeviceMemory(), host_segments);
    chunks = Kokkos::create_mirror_view_and_copy(DeviceMemory(), host_chunks);
  }

  Blocks blocks(bool clipped) const {
    Blocks result{.values = values,
                  .gradients = gradients,
                  .states = std::vector<Tensor>(state.begin(), state.end()),
                  .segments = segments.data(),
                  .chunks = chunks.data(),
                  .segment_count = 2,
                  .chunk_count = 3};
    if (clipped) result.gradient_scale = static_cast<const double*>(scale.tensor().data);
    return result;
  }

  contract::OwnedTensor values, gradients, scale;
  std::vector<contract::OwnedTensor> state;
  Kokkos::View<Segment*, DeviceMemory> segments;
  Kokkos::View<Chunk*, DeviceMemory> chunks;
};

/// Compares five steps of the optimizer `name` with `formula(x, g, m, v, rate, decay, step)` on every
/// element.
template <class Formula>
void compare(const std::string& plugin, const std::string& name, const Settings& settings,
             const Formula& formula) {
  const Device device;
  for (const bool clipped : {false, true})
    for (const DType type : {DType::float64, DType::float32}) {
      const auto optimizer = make_built_in<Kind::optimizer>(plugin, name, settings, {});
      World world(type, optimizer->states().size());
      Values x = world.values.values(), m(x.size(), 0.0), v(x.size(), 0.0);
      for (std::int64_t step = 1; step <= 5; ++step) {
        world.gradients.set(contract::normal_values(World::size, static_cast<std::uint64_t>(step)));
        const Values g = world.gradients.values();
        for (std::size_t i = 0; i < x.size(); ++i) {
          const bool second = static_cast<std::int64_t>(i) >= World::first;
          formula(x[i], g[i] * (clipped ? 0.5 : 1.0), m[i], v[i], 0.01 * (second ? 0.5 : 1.0),
                  second ? 0.0 : 1.0, step);
        }
        optimizer->update(device, world.blocks(clipped), 0.01, step);
      }
      device.fence();
      const Values result = world.values.values();
      for (std::size_t i = 0; i < x.size(); ++i)
        ASSERT_NEAR(result[i], x[i], (type == DType::float64 ? 1e-14 : 5e-6) * (1.0 + std::abs(x[i])))
            << name << " at " << i;
    }
}

void adam_moments(double g, double& m, double& v) {
  m = 0.9 * m + 0.1 * g;
  v = 0.999 * v + 0.001 * g * g;
}
double adam_step(double m, double v, double rate, std::int64_t step) {
  const auto t = static_cast<double>(step);
  return rate * (m / (1 - std::pow(0.9, t))) / (std::sqrt(v) / std::sqrt(1 - std::pow(0.999, t)) + 1e-8);
}

TEST(Adam, FollowsItsFormulaWithL2Decay) {
  compare("adam", "adam", {{"weight_decay", 0.1}},
          [](double& x, double g, double& m, double& v, double rate, double decay, std::int64_t step) {
            adam_moments(g + 0.1 * decay * x, m, v);
            x -= adam_step(m, v, rate, step);
          });
}

TEST(AdamW, FollowsItsFormulaWithDecoupledDecay) {
  compare("adam", "adamw", {{"weight_decay", 0.1}},
          [](double& x, double g, double& m, double& v, double rate, double decay, std::int64_t step) {
            x *= 1.0 - rate * 0.1 * decay;
            adam_moments(g, m, v);
            x -= adam_step(m, v, rate, step);
          });
}

TEST(Sgd, FollowsItsFormulaWithMomentumAndNesterov) {
  for (const bool nesterov : {false, true})
    compare("sgd", "sgd", {{"momentum", 0.9}, {"nesterov", nesterov}, {"weight_decay", 0.1}},
            [&](double& x, double g, double& m, double&, double rate, double decay, std::int64_t) {
              g += 0.1 * decay * x;
              m = 0.9 * m + g;
              x -= rate * (nesterov ? g + 0.9 * m : m);
            });
}

TEST(Optimizers, TakeAnEpsilonThatFloat32DoesNotHold) {
  const std::vector<std::pair<std::string, std::string>> optimizers = {
      {"adam", "adam"}, {"adam", "adamw"}, {"lamb", "lamb"}};
  const Device device;
  for (const auto& [plugin, name] : optimizers)
    for (const DType type : {DType::float64, DType::float32}) {
      const auto optimizer = make_built_in<Kind::optimizer>(plugin, name, {{"epsilon", 1e-300}}, {});
      World world(type, optimizer->states().size());
      world.gradients.fill(0.0);
      optimizer->update(device, world.blocks(false), 0.01, 1);
      device.fence();
      for (const double value : world.values.values())
        ASSERT_TRUE(std::isfinite(value)) << name << " without a gradient";
    }
}

TEST(Optimizers, HaveTheLearningRateOfTheirOption) {
  const std::vector<std::pair<std::string, std::string>> optimizers = {
      {"adam", "adam"}, {"adam", "adamw"}, {"sgd", "sgd"}, {"lamb", "lamb"}};
  for (const auto& [plugin, name] : optimizers) {
    EXPECT_EQ(make_built_in<Kind::optimizer>(plugin, name, {}, {})->learning_rate(),
              name == "sgd" ? 0.01 : 1e-3);
    EXPECT_EQ(make_built_in<Kind::optimizer>(plugin, name, {{"learning_rate", 0.3}}, {})->learning_rate(),
              0.3);
  }
}

TEST(Sgd, RefusesNesterovWithoutMomentum) {
  EXPECT_THROW(make_built_in<Kind::optimizer>("sgd", "sgd", {{"momentum", 0.0}, {"nesterov", true}}, {}),
               OptionError);
}

TEST(Adam, NamesItsStates) {
  EXPECT_EQ(make_built_in<Kind::optimizer>("adam", "adamw", {}, {})->states(),
            (std::vector<std::string>{"first_moment", "second_moment"}));
}

}  // namespace
}  // namespace encore::test
