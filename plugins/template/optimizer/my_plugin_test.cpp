// Tests of the optimizer "my_plugin" that only its author can write: expected values, and refused options.
// `exp plugin check` tests what every optimizer must do. CTest runs it after a build. Change it together with
// my_plugin.cpp.
#include <cmath>
#include <cstdio>

#include <encore/testing.hpp>

#include "my_plugin.cpp"

namespace {

using Numbers = std::vector<double>;

int failures = 0;
void expect(bool condition, const char* what) {
  if (!condition) std::printf("FAILED: %s\n", what);
  failures += condition ? 0 : 1;
}

my_plugin_optimizer::MyPluginOptimizer make(double beta1, double beta2, double weight_decay) {
  auto options = encore::default_options<my_plugin_optimizer::MyPluginOptimizer>();
  options.set("learning_rate", 0.1);
  options.set("beta1", beta1);
  options.set("beta2", beta2);
  options.set("weight_decay", weight_decay);
  return {options, {}};
}

/// Returns device memory with a copy of `from`.
template <class T>
Kokkos::View<T*, encore::DeviceMemory> on_device(const std::vector<T>& from) {
  const Kokkos::View<T*, encore::DeviceMemory> to("test", from.size());
  const Kokkos::View<const T*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>> host(from.data(),
                                                                                                from.size());
  Kokkos::deep_copy(to, host);
  return to;
}

/// Returns the values after one update for each given gradient, at the full learning rate.
Numbers train(Numbers values, const std::vector<Numbers>& gradients, double weight_decay) {
  const encore::Device device;
  const auto size = static_cast<std::int64_t>(values.size());
  const auto x = on_device(values), mean = on_device(Numbers(values.size(), 0.0));
  const auto segments = on_device<encore::Segment>({{0, size}});
  const auto chunks = on_device<encore::Chunk>({{0, static_cast<std::int32_t>(size), 0}});
  const auto tensor = [&](const auto& view) {
    return encore::Tensor(view.data(), encore::DType::float64, {size});
  };
  auto optimizer = make(0.5, 0.75, weight_decay);
  for (std::size_t step = 0; step < gradients.size(); ++step) {
    const auto gradient = on_device(gradients[step]);
    const encore::Blocks blocks{
        tensor(x), tensor(gradient), {tensor(mean)}, segments.data(), chunks.data(), 1, 1};
    optimizer.update(device, blocks, optimizer.learning_rate(), static_cast<std::int64_t>(step) + 1);
    device.fence();
  }
  Kokkos::deep_copy(Kokkos::View<double*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(
                        values.data(), values.size()),
                    x);
  return values;
}

bool near(double a, double b) {
  return std::abs(a - b) < 1e-12;
}

void moves_by_the_sign_alone() {
  const Numbers x = train({1, 1, 1}, {{100, -0.001, 0}}, 0.0);
  expect(near(x[0], 0.9) && near(x[1], 1.1) && x[2] == 1,
         "one step of 0.1 against the gradient, none without one");
}

/// Checks the mean: after a gradient of 8 it is 2; then -1 gives 0.5 (2 - 1) > 0, and -4 gives 0.5 (2 - 4) <
/// 0.
void remembers() {
  const Numbers x = train({1, 1}, {{8, 8}, {-1, -4}}, 0.0);
  expect(near(x[0], 0.8) && near(x[1], 1.0), "the mean of the past decides");
}

void decays_apart_from_the_gradient() {
  expect(near(train({1}, {{0}}, 0.5)[0], 0.95), "x -= 0.1 * 0.5 x");
}

void refuses_to_forget_everything() {
  try {
    make(0.0, 0.0, 0.0);
    expect(false, "beta1 = beta2 = 0 is refused");
  } catch (const encore::OptionError& error) {
    expect(error.option() == "beta2", "the error names the option");
    expect(error.what() ==
               std::string("beta1 = beta2 = 0 keeps no past gradients: use optimizer sgd, or beta2 = 0.99"),
           "the error says what to do");
  }
}

}  // namespace

int main() {
  const Kokkos::ScopeGuard kokkos(Kokkos::InitializationSettings().set_disable_warnings(true));
  moves_by_the_sign_alone();
  remembers();
  decays_apart_from_the_gradient();
  refuses_to_forget_everything();
  std::puts(failures == 0 ? "all passed" : "some failed");
  return failures == 0 ? 0 : 1;
}
