// Behind encore/testing.hpp.
#include <encore/testing.hpp>

#include <memory>

#include "contract/test_memory.hpp"

namespace encore {
namespace {

void start_kokkos() {
  static const std::unique_ptr<Kokkos::ScopeGuard> kokkos =
      Kokkos::is_initialized()
          ? nullptr
          : std::make_unique<Kokkos::ScopeGuard>(Kokkos::InitializationSettings().set_disable_warnings(true));
}

/// A layer or head that has declared what it needs, with rows of input in double.
class Declared {
 public:
  Declared(auto& part, std::int64_t width, const std::vector<std::int64_t>& lengths,
           const std::vector<double>& rows)
      : plan_(width),
        batch_(lengths),
        memory_(device_, declare(part, plan_), batch_, DType::float64, 1, 0.0),
        input_(DType::float64, {batch_.rows(), width}) {
    input_.set(rows);
  }

  const Device& device() const { return device_; }
  std::int64_t rows() const { return batch_.rows(); }
  Tensor input() const { return input_; }
  Step step() const { return memory_.step(device_, batch_, false); }

 private:
  static const LayerPlan& declare(auto& part, LayerPlan& plan) {
    part.declare(plan);
    return plan;
  }

  Device device_;
  LayerPlan plan_;
  OwnedBatch batch_;
  OwnedPlan memory_;
  OwnedTensor input_;
};

}  // namespace

std::vector<double> run_layer(Layer& layer, std::int64_t width, const std::vector<std::int64_t>& lengths,
                              const std::vector<double>& input) {
  start_kokkos();
  const Declared declared(layer, width, lengths, input);
  const OwnedTensor y(DType::float64, {declared.rows(), width});
  const Tensor inputs = declared.input();
  layer.forward(declared.step(), {&inputs, 1}, y);
  declared.device().fence();
  return y.values();
}

HeadOutput run_head(Head& head, std::int64_t width, const std::vector<std::int64_t>& lengths,
                    const std::vector<double>& states, const std::vector<std::int32_t>& targets) {
  start_kokkos();
  const Declared declared(head, width, lengths, states);
  OwnedTensor wanted(DType::int32, {declared.rows()});
  const OwnedTensor losses(DType::float64, {declared.rows()}), classes(DType::int32, {declared.rows()});
  wanted.set({targets.begin(), targets.end()});
  head.loss(declared.step(), declared.input(), wanted, losses);
  head.decode(declared.step(), declared.input(), wanted, classes);
  declared.device().fence();
  const std::vector<double> decoded = classes.values();
  return {losses.values(), {decoded.begin(), decoded.end()}};
}

}  // namespace encore
