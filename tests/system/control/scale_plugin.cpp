// SPDX-License-Identifier: BSD-3-Clause
// A plugin for real_worker_test.cpp: the layer y = SCALE x, compiled twice. The two plugins differ only in
// the offered name and the factor, as two copies of one template do, and each must compute its own layer.
// Each has a kernel, so that both use the one Kokkos of the process. With $SCALE_PRINTS they print to
// standard output when they are loaded and for each layer.
#include <cstdio>
#include <cstdlib>
#include <iostream>

#include <encore/plugin.hpp>
#include <encore/rows.hpp>
#include <encore/view.hpp>

namespace my_layers {

using namespace encore;

bool print() {
  if (std::getenv("SCALE_PRINTS") == nullptr) return false;
  std::printf("a plugin prints\n");
  std::cout << "[\"a plugin prints JSON\"]" << std::endl;
  return true;
}
const bool printed = print();

template <class T>
void scale_rows(const Device& device, Tensor from, Tensor to) {
  const std::int64_t width = from.extent(1);
  const T* x = elements<T>(from);  // (N, C)
  T* y = elements<T>(to);          // (N, C)
  for_rows(
      device, "my_layers::scale_rows", from.extent(0), KOKKOS_LAMBDA(const Row& row) {
        const std::int64_t begin = row.index * width;
        row.each(width, [&](std::int64_t i) {
          y[begin + i] = static_cast<T>(Sum<T>(SCALE) * static_cast<Sum<T>>(x[begin + i]));
        });
      });
}

class Scale final : public Layer {
 public:
  static constexpr const char* summary = "y = constant * x";
  static Schema options() { return {}; }
  Scale(const Options&, const LayerContext&) { print(); }
  void declare(LayerPlan&) override {}
  void forward(const Step& step, std::span<const Tensor> inputs, Tensor output) override {
    scale(step, inputs[0], output);
  }
  void backward(const Step& step, std::span<const Tensor>, Tensor, Tensor output_gradient,
                std::span<const Tensor> input_gradients) override {
    scale(step, output_gradient, input_gradients[0]);
  }
  void scale(const Step& step, Tensor from, Tensor to) const {
    dispatch(from.dtype, [&](auto type) { scale_rows<decltype(type)>(step.device(), from, to); });
  }
};

}  // namespace my_layers

#define TEXT(x) #x
#define OFFERED(x) TEXT(x)
ENCORE_PLUGIN("scale_" OFFERED(SCALE), "1.0.0") {
  plugin.add<encore::Kind::layer, my_layers::Scale>("scale_" OFFERED(SCALE));
}
