// SPDX-License-Identifier: BSD-3-Clause
// Tests the optimizer "lamb" (plugins/optimizers/lamb.cpp) against the paper's algorithm in double, tensor by
// tensor, and on cases with a known result: the length of a step, a parameter that is all zero, a gradient
// that is zero, the limit of the ratio. Bits must not depend on threads, nor on how parameters are cut into
// chunks.
#include "support/child_threads.hpp"
#include "unit/plugins/built_in.hpp"

#include <cmath>
#include <cstdio>

#include <encore/space.hpp>

#include "contract/test_memory.hpp"

namespace encore::test {
namespace {

using Values = std::vector<double>;

struct Parameter {
  std::int64_t size = 0;
  float decay = 1.0F;
  float learning_rate = 1.0F;
};

/// Blocks of these parameters, one after the other, cut into chunks as ParameterBlock
/// (memory/parameter_block.hpp) does.
struct World {
  World(DType type, const std::vector<Parameter>& list) : scale(DType::float64, {1}) {
    std::vector<Chunk> chunk_list;
    for (const Parameter& parameter : list) {
      const std::int64_t end = size + parameter.size;
      segments.push_back({size, end, parameter.decay, parameter.learning_rate,
                          static_cast<std::int64_t>(chunk_list.size())});
      for (; size < end; size += chunk_list.back().size)
        chunk_list.push_back({size, static_cast<std::int32_t>(std::min(Blocks::chunk_size, end - size)),
                              static_cast<std::int32_t>(segments.size()) - 1});
    }
    for (contract::OwnedTensor* tensor : {&values, &gradients, &first, &second})
      *tensor = contract::OwnedTensor(type, {size});
    values.set(contract::normal_values(size, 1));
    gradients.set(contract::normal_values(size, 2));
    scale.fill(0.5);
    device_segments = on_device(segments);
    device_chunks = on_device(chunk_list);
  }
  template <class T>
  static Kokkos::View<T*, DeviceMemory> on_device(const std::vector<T>& list) {
    const Kokkos::View<const T*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>> host(
        list.data(), list.size());
    Kokkos::View<T*, DeviceMemory> result("table", list.size());
    Kokkos::deep_copy(result, host);
    return result;
  }

  void update(Optimizer& optimizer, double learning_rate, std::int64_t step, bool clipped) {
    Blocks blocks{.values = values,
                  .gradients = gradients,
                  .states = {first, second},
                  .segments = device_segments.data(),
                  .chunks = device_chunks.data(),
                  .segment_count = static_cast<std::int64_t>(segments.size()),
                  .chunk_count = static_cast<std::int64_t>(device_chunks.size())};
    if (clipped) blocks.gradient_scale = static_cast<const double*>(scale.tensor().data);
    optimizer.update(device, blocks, learning_rate, step);
    device.fence();
  }

  Device device;
  std::int64_t size = 0;
  std::vector<Segment> segments;
  contract::OwnedTensor values, gradients, first, second, scale;
  Kokkos::View<Segment*, DeviceMemory> device_segments;
  Kokkos::View<Chunk*, DeviceMemory> device_chunks;
};

std::unique_ptr<Optimizer> lamb(const Settings& settings = {}) {
  return make_built_in<Kind::optimizer>("lamb", "lamb", settings, {});
}

double length(const Values& values, const Segment& segment) {
  double squares = 0.0;
  for (std::int64_t i = segment.begin; i < segment.end; ++i)
    squares += values[static_cast<std::size_t>(i)] * values[static_cast<std::size_t>(i)];
  return std::sqrt(squares);
}

/// Makes one step of the paper's algorithm 2 with decay 0.1 and the other options at their defaults.
void reference_step(const World& world, Values& x, Values& m, Values& v, const Values& g, double rate,
                    std::int64_t step, double max_ratio) {
  Values u(x.size());
  for (const Segment& segment : world.segments) {
    for (std::int64_t at = segment.begin; at < segment.end; ++at) {
      const auto i = static_cast<std::size_t>(at);
      m[i] = 0.9 * m[i] + 0.1 * g[i];
      v[i] = 0.999 * v[i] + 0.001 * g[i] * g[i];
      const auto t = static_cast<double>(step);
      u[i] = m[i] / (1 - std::pow(0.9, t)) / (std::sqrt(v[i] / (1 - std::pow(0.999, t))) + 1e-6) +
             0.1 * static_cast<double>(segment.decay) * x[i];
    }
    const double of_x = length(x, segment), of_u = length(u, segment);
    double ratio = segment.decay > 0.0F && of_x > 0.0 && of_u > 0.0 ? of_x / of_u : 1.0;
    if (max_ratio > 0.0) ratio = std::min(ratio, max_ratio);
    for (std::int64_t at = segment.begin; at < segment.end; ++at)
      x[static_cast<std::size_t>(at)] -=
          rate * static_cast<double>(segment.learning_rate) * ratio * u[static_cast<std::size_t>(at)];
  }
}

TEST(Lamb, FollowsThePaperOverSegmentsAndChunks) {
  const std::vector<Parameter> parameters = {{9000}, {3, 0.0F, 0.5F}, {4096}, {1}, {4097, 1.0F, 2.0F}};
  for (const double max_ratio : {0.0, 0.9})
    for (const bool clipped : {false, true})
      for (const DType type : {DType::float64, DType::float32}) {
        World world(type, parameters);
        const auto optimizer = lamb({{"weight_decay", 0.1}, {"max_trust_ratio", max_ratio}});
        Values x = world.values.values(), m(x.size(), 0.0), v(x.size(), 0.0);
        for (std::int64_t step = 1; step <= 5; ++step) {
          world.gradients.set(contract::normal_values(world.size, static_cast<std::uint64_t>(step)));
          Values g = world.gradients.values();
          for (double& value : g) value *= clipped ? 0.5 : 1.0;
          reference_step(world, x, m, v, g, 0.01, step, max_ratio);
          world.update(*optimizer, 0.01, step, clipped);
        }
        const Values result = world.values.values();
        for (std::size_t i = 0; i < x.size(); ++i)
          ASSERT_NEAR(result[i], x[i], (type == DType::float64 ? 1e-14 : 5e-6) * (1.0 + std::abs(x[i]))) << i;
      }
}

TEST(Lamb, AStepIsAsLongAsTheRateTimesTheParameter) {
  World world(DType::float64, {{5000}, {70}});
  const Values before = world.values.values();
  world.update(*lamb(), 0.25, 1, false);
  Values moved = world.values.values();
  for (std::size_t i = 0; i < moved.size(); ++i) moved[i] -= before[i];
  for (const Segment& segment : world.segments)
    EXPECT_NEAR(length(moved, segment) / length(before, segment), 0.25, 1e-13);
}

/// In the first step the corrected moments are g and g^2, so without decay every entry moves by the rate.
TEST(Lamb, AParameterThatIsZeroMovesWithRatioOne) {
  World world(DType::float64, {{4100}});
  world.values.fill(0.0);
  world.update(*lamb({{"weight_decay", 0.0}}), 0.01, 1, false);
  const Values x = world.values.values(), g = world.gradients.values();
  for (std::size_t i = 0; i < x.size(); ++i)
    ASSERT_NEAR(x[i], -0.01 * g[i] / (std::abs(g[i]) + 1e-6), 1e-15) << i;
}

TEST(Lamb, AParameterWithoutDecayKeepsRatioOne) {
  World world(DType::float64, {{4100, 0.0F}});
  const Values before = world.values.values(), g = world.gradients.values();
  world.update(*lamb({{"weight_decay", 0.5}}), 0.01, 1, false);
  const Values x = world.values.values();
  for (std::size_t i = 0; i < x.size(); ++i)
    ASSERT_NEAR(x[i], before[i] - 0.01 * g[i] / (std::abs(g[i]) + 1e-6), 1e-14) << i;
}

TEST(Lamb, WithoutGradientAndDecayNoParameterMoves) {
  World world(DType::float64, {{10}});
  world.gradients.fill(0.0);
  const Values before = world.values.values();
  world.update(*lamb({{"weight_decay", 0.0}}), 0.01, 1, false);
  EXPECT_EQ(world.values.values(), before);
}

TEST(Lamb, TheRatioHasALimitIfOneIsGiven) {
  World world(DType::float64, {{100}});
  world.values.fill(50.0);
  world.gradients.fill(1.0);
  world.update(*lamb({{"weight_decay", 0.0}, {"max_trust_ratio", 3.0}}), 0.01, 1, false);
  for (const double x : world.values.values()) EXPECT_NEAR(x, 50.0 - 0.01 * 3.0 / (1.0 + 1e-6), 1e-13);
}

TEST(Lamb, NamesItsStates) {
  EXPECT_EQ(lamb()->states(), (std::vector<std::string>{"first_moment", "second_moment"}));
}

/// Runs in a child process with a number of threads.
TEST(LambThreads, DISABLED_Child) {
  World world(DType::float32, {{50000}, {3, 0.0F}, {12345}});
  const auto optimizer = lamb();
  for (std::int64_t step = 1; step <= 3; ++step) world.update(*optimizer, 0.01, step, true);
  std::string bits;
  for (const double value : world.values.values()) {
    char text[32];
    std::snprintf(text, sizeof(text), "%a,", value);
    bits += text;
  }
  testing::print_digest(bits);
}

TEST(LambThreads, OneTwoAndThreeGiveEqualBits) {
  if (std::string(ENCORE_BACKEND_NAME) != "openmp") GTEST_SKIP() << "threads of the host only";
  const auto child = [](int threads) {
    return testing::digest_of_child("plugins_test", "LambThreads.DISABLED_Child", threads);
  };
  const std::string one = child(1);
  EXPECT_GT(one.size(), 100000U);
  EXPECT_TRUE(child(2) == one);
  EXPECT_TRUE(child(3) == one);
}

}  // namespace
}  // namespace encore::test
