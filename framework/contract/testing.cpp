// SPDX-License-Identifier: BSD-3-Clause
// run_layer() and run_head() of the library encore_testing, by which the tests of a plugin's author run a
// layer or head. They are public, so their signatures never change. Read encore/testing.hpp first.
#include <encore/testing.hpp>

#include <algorithm>

#include <encore/device.hpp>

#include "contract/head_memory.hpp"

namespace encore {
namespace {

/// Starts Kokkos, which stays open until the program ends.
void start_kokkos() {
  static const KokkosSession kokkos;
}

}  // namespace

std::vector<double> run_layer(Layer& layer, std::int64_t width, const std::vector<std::int64_t>& lengths,
                              const std::vector<double>& input) {
  start_kokkos();
  const Device device;
  const contract::OwnedBatch batch(lengths);
  LayerPlan plan(width);
  layer.declare(plan);
  const contract::OwnedPlan memory(device, plan, batch.size(), DType::float64, 1, 0.0);
  contract::OwnedTensor x(DType::float64, {batch.rows(), width});
  const contract::OwnedTensor y(DType::float64, {batch.rows(), width});
  x.set(input);
  const Tensor inputs = x;
  layer.forward(Step(device, batch, false, memory.bound(false)), {&inputs, 1}, y);
  device.fence();
  contract::require_within("forward", memory.overrun());
  contract::require_within("forward", y.overrun("its output"));
  return y.values();
}

HeadResult run_head(Head& head, std::int64_t width, const std::vector<std::int64_t>& lengths,
                    const std::vector<double>& states, const HeadColumns& columns) {
  start_kokkos();
  const Device device;
  const contract::OwnedBatch batch(lengths);
  contract::HeadMemory memory(device, head, width, batch, DType::float64, 1, 0.0);
  const HeadPlan& plan = memory.plan();
  ENCORE_REQUIRE(plan.reads().size() == 1, "run_head is for heads that read one space");
  memory.inputs().front().set(states);
  for (const auto& [name, values] : columns) {
    const auto found = std::ranges::find(plan.columns(), name, &ColumnNeed::name);
    ENCORE_REQUIRE(found != plan.columns().end(), "the head reads no column \"" + name + "\"");
    memory.columns()[static_cast<std::size_t>(found - plan.columns().begin())].set(values);
  }
  head.score(memory.step(false, true));
  head.loss(memory.step(false, true));
  head.decode(memory.step(false, false));
  device.fence();
  contract::require_within("the head", memory.memory().overrun());
  contract::require_within("the head", memory.overrun());
  HeadResult result = {memory.losses().front().values(), {}};
  for (std::size_t i = 0; i < plan.outputs().size(); ++i)
    result.outputs[plan.outputs()[i].name] = memory.outputs()[i].values();
  return result;
}

}  // namespace encore
