// See encore/testing.hpp.
#include <encore/testing.hpp>

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
  OwnedPlan owned(device, plan, batch, DType::float64, 1);
  for (std::size_t i = 0; i < plan.parameters().size(); ++i)
    kernels::initialize(device, plan.parameters()[i], RandomKey{1, i, 0}, owned.parameters()[i]);
  const std::vector<std::int64_t> shape{batch.batch().size.tokens, width};
  OwnedTensor rows(DType::float64, shape), output(DType::float64, shape);
  rows.set(input);
  const Tensor inputs[] = {rows};
  layer.forward(owned.step(device, batch, false), inputs, output);
  device.fence();
  return output.values();
}

}  // namespace encore
