// SPDX-License-Identifier: BSD-3-Clause
// Optimizers "adam" (Kingma and Ba 2015) and "adamw" (Loshchilov and Hutter 2019), with PyTorch's steps: adam
// g += decay x, adamw x *= 1 - rate decay; then m += (1 - beta1) (g - m), v = beta2 v + (1 - beta2) g^2, x -=
// rate / (1 - beta1^step) * m / (sqrt(v) / sqrt(1 - beta2^step) + epsilon). Clipping is a factor on g. Chunks
// without a gradient get the same bits as if it had been read; with moments of zero only x shrinks (adamw).
// train/training_step.cpp calls update() at each step. Checkpoints contain the names of the moments, so these
// never change.
#include <cmath>

#include <encore/plugin.hpp>
#include <encore/rows.hpp>
#include <encore/sliced_update.hpp>
#include <encore/view.hpp>

#include "above_zero.hpp"

namespace encore_adam {

using namespace encore;

struct Settings {
  double beta1, beta2, epsilon, weight_decay;
};

/// Updates one element, given the numbers of its parameter. In "adam" the L2 penalty is added to the
/// gradient; in "adamw" the value itself shrinks.
template <class T>
struct Rule {
  T scale, penalty, shrink, step_size;
  T beta2, rest1, rest2, root_factor, epsilon;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(T g, T& x, T& m, T& v) const {
    const T gradient = scale * g + (penalty == T(0) ? T(0) : penalty * x);
    const T moment = m + rest1 * (gradient - m);
    const T square = beta2 * v + rest2 * gradient * gradient;
    m = moment;
    v = square;
    x = shrink * x - step_size * moment / (Kokkos::sqrt(square) * root_factor + epsilon);
  }
  /// Returns whether an element without a gradient and with moments of zero can only shrink.
  KOKKOS_FORCEINLINE_FUNCTION bool rests() const {
    T x = T(0), m = T(0), v = T(0);
    (*this)(T(0), x, m, v);
    return penalty == T(0) && step_size >= T(0) && x == T(0) && m == T(0) && v == T(0);
  }
};

template <class T, bool Decoupled>
void update(const Device& device, const Blocks& blocks, const Settings& settings, double learning_rate,
            std::int64_t step) {
  T* values = elements<T>(blocks.values);
  const T* gradients = elements<T>(blocks.gradients);
  T* first = elements<T>(blocks.states[0]);
  T* second = elements<T>(blocks.states[1]);
  const Segment* segments = blocks.segments;
  const Chunk* chunks = blocks.chunks;
  const ChunkGradient* known = blocks.chunk_gradients;
  const double* gradient_scale = blocks.gradient_scale;
  const double correction1 = 1.0 - std::pow(settings.beta1, static_cast<double>(step));
  const double correction2 = 1.0 - std::pow(settings.beta2, static_cast<double>(step));
  const T beta2 = static_cast<T>(settings.beta2);
  const T rest1 = static_cast<T>(1.0 - settings.beta1);
  const T rest2 = static_cast<T>(1.0 - settings.beta2);
  const T epsilon = above_zero<T>(settings.epsilon);
  const T root_factor = static_cast<T>(1.0 / std::sqrt(correction2));
  const double weight_decay = settings.weight_decay;
  for_uneven_rows(
      device, "encore::adam", blocks.chunk_count, KOKKOS_LAMBDA(const Row& row) {
        const Chunk chunk = chunks[row.index];
        const Segment segment = segments[chunk.segment];
        const double rate = learning_rate * static_cast<double>(segment.learning_rate);
        const double decay = weight_decay * static_cast<double>(segment.decay);
        const Rule<T> rule{.scale = gradient_scale == nullptr ? T(1) : static_cast<T>(*gradient_scale),
                           .penalty = static_cast<T>(Decoupled ? 0.0 : decay),
                           .shrink = static_cast<T>(Decoupled ? 1.0 - rate * decay : 1.0),
                           .step_size = static_cast<T>(rate / correction1),
                           .beta2 = beta2,
                           .rest1 = rest1,
                           .rest2 = rest2,
                           .root_factor = root_factor,
                           .epsilon = epsilon};
        const ChunkGradient gradient = known == nullptr ? ChunkGradient::present : known[row.index];
        T* x = values + chunk.begin;
        const T* g = gradients + chunk.begin;
        T* m = first + chunk.begin;
        T* v = second + chunk.begin;
        if (gradient == ChunkGradient::present) {
          row.each(chunk.size, [&](std::int64_t i) { rule(g[i], x[i], m[i], v[i]); });
        } else if (gradient == ChunkGradient::absent || !rule.rests()) {
          row.each(chunk.size, [&](std::int64_t i) { rule(T(0), x[i], m[i], v[i]); });
        } else if (rule.shrink != T(1)) {
          row.each(chunk.size, [&](std::int64_t i) { x[i] *= rule.shrink; });
        }
      });
}

template <bool Decoupled>
class Adam final : public Optimizer, public SlicedUpdate {
 public:
  static constexpr const char* summary =
      Decoupled ? "Adam with decoupled weight decay: the decay shrinks the weights directly and is not added "
                  "to the gradient (Loshchilov and Hutter 2019)"
                : "a step subtracts learning_rate * m / (sqrt(v) + epsilon) from each weight, where m and v "
                  "are the running means of its gradient and of the squared gradient, both corrected for "
                  "their start at zero (Kingma and Ba 2015)";
  static Schema options() {
    return Schema()
        .number("learning_rate", 1e-3,
                {.help = "step size, which the schedule multiplies by its factor",
                 .min = 0.0,
                 .exclusive_min = true})
        .number("beta1", 0.9,
                {.help = "decay of the running mean of the gradient",
                 .min = 0.0,
                 .max = 1.0,
                 .exclusive_max = true})
        .number("beta2", 0.999,
                {.help = "decay of the running mean of the squared gradient",
                 .min = 0.0,
                 .max = 1.0,
                 .exclusive_max = true})
        .number("epsilon", 1e-8,
                {.help = "added to the square root of the running mean of the squared gradient, after the "
                         "bias correction of this mean",
                 .min = 0.0,
                 .exclusive_min = true})
        .number("weight_decay", Decoupled ? 0.01 : 0.0,
                {.help = Decoupled ? "each step subtracts learning rate * weight_decay * weight from a weight"
                                   : "L2 penalty: weight_decay * weight is added to the gradient; for "
                                     "decoupled decay use adamw",
                 .min = 0.0});
  }

  Adam(const Options& options, const OptimizerContext&)
      : learning_rate_(options.number("learning_rate")),
        settings_{options.number("beta1"), options.number("beta2"), options.number("epsilon"),
                  options.number("weight_decay")} {}

  double learning_rate() const override { return learning_rate_; }
  std::vector<std::string> states() const override { return {"first_moment", "second_moment"}; }
  UpdateReach reach() const override { return UpdateReach::element; }

  void update(const Device& device, const Blocks& blocks, double learning_rate, std::int64_t step) override {
    dispatch_parameters(blocks.values.dtype, [&](auto type) {
      encore_adam::update<decltype(type), Decoupled>(device, blocks, settings_, learning_rate, step);
    });
  }

 private:
  double learning_rate_;
  Settings settings_;
};

}  // namespace encore_adam

ENCORE_PLUGIN("adam", "1.0.0") {
  plugin.add<encore::Kind::optimizer, encore_adam::Adam<false>>("adam");
  plugin.add<encore::Kind::optimizer, encore_adam::Adam<true>>("adamw");
}
