// Behind encore/testing.hpp.
#include <encore/testing.hpp>

#include <memory>

#include "contract/test_memory.hpp"

namespace encore {

std::vector<double> run_layer(Layer& layer, std::int64_t width, const std::vector<std::int64_t>& lengths,
                              const std::vector<double>& input) {
  static const std::unique_ptr<Kokkos::ScopeGuard> kokkos =
      Kokkos::is_initialized()
          ? nullptr
          : std::make_unique<Kokkos::ScopeGuard>(Kokkos::InitializationSettings().set_disable_warnings(true));
  const Device device;
  LayerPlan plan(width);
  layer.declare(plan);
  const OwnedBatch batch(lengths);
  OwnedPlan memory(device, plan, batch, DType::float64, 1, 0.0);
  OwnedTensor x(DType::float64, {batch.rows(), width}), y(DType::float64, {batch.rows(), width});
  x.set(input);
  const Tensor inputs = x;
  layer.forward(memory.step(device, batch, false), {&inputs, 1}, y);
  device.fence();
  return y.values();
}

}  // namespace encore
