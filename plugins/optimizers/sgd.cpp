// SPDX-License-Identifier: BSD-3-Clause
// Optimizer "sgd": stochastic gradient descent with momentum (Polyak 1964) or Nesterov's, as in PyTorch:
//   g += decay x,  m = momentum m + g,  x -= rate (nesterov ? g + momentum m : m)
// In the first step m is zero, so it starts as the gradient. Chunks without a gradient get the same bits as
// if it had been read; chunks that cannot change are skipped. train/training_step.cpp calls update() at each
// step. Checkpoints contain the name of the momentum, so it never changes.
#include <encore/plugin.hpp>
#include <encore/rows.hpp>
#include <encore/sliced_update.hpp>
#include <encore/view.hpp>

namespace encore_sgd {

using namespace encore;

struct Settings {
  double momentum, weight_decay;
  bool nesterov;
};

/// Updates one element, given the numbers of its parameter.
template <class T>
struct Rule {
  T rate, decay, scale, momentum;
  bool nesterov;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(T g, T& x, T& m) const {
    const T gradient = scale * g + (decay == T(0) ? T(0) : decay * x);
    const T moment = momentum * m + gradient;
    m = moment;
    x -= rate * (nesterov ? gradient + momentum * moment : moment);
  }
  /// Returns whether an element without a gradient and with a moment of zero stays unchanged.
  KOKKOS_FORCEINLINE_FUNCTION bool rests() const {
    T x = T(0), m = T(0);
    (*this)(T(0), x, m);
    return decay == T(0) && rate >= T(0) && x == T(0) && m == T(0);
  }
};

template <class T>
void update(const Device& device, const Blocks& blocks, const Settings& settings, double learning_rate) {
  T* values = elements<T>(blocks.values);
  const T* gradients = elements<T>(blocks.gradients);
  T* moments = elements<T>(blocks.states[0]);
  const Segment* segments = blocks.segments;
  const Chunk* chunks = blocks.chunks;
  const ChunkGradient* known = blocks.chunk_gradients;
  const double* gradient_scale = blocks.gradient_scale;
  const T momentum = static_cast<T>(settings.momentum);
  const double weight_decay = settings.weight_decay;
  const bool nesterov = settings.nesterov;
  for_uneven_rows(
      device, "encore::sgd", blocks.chunk_count, KOKKOS_LAMBDA(const Row& row) {
        const Chunk chunk = chunks[row.index];
        const Segment segment = segments[chunk.segment];
        const Rule<T> rule{static_cast<T>(learning_rate * static_cast<double>(segment.learning_rate)),
                           static_cast<T>(weight_decay * static_cast<double>(segment.decay)),
                           gradient_scale == nullptr ? T(1) : static_cast<T>(*gradient_scale), momentum,
                           nesterov};
        const ChunkGradient gradient = known == nullptr ? ChunkGradient::present : known[row.index];
        if (gradient == ChunkGradient::never && rule.rests()) return;
        T* x = values + chunk.begin;
        const T* g = gradients + chunk.begin;
        T* m = moments + chunk.begin;
        if (gradient == ChunkGradient::present)
          row.each(chunk.size, [&](std::int64_t i) { rule(g[i], x[i], m[i]); });
        else
          row.each(chunk.size, [&](std::int64_t i) { rule(T(0), x[i], m[i]); });
      });
}

class Sgd final : public Optimizer, public SlicedUpdate {
 public:
  static constexpr const char* summary =
      "stochastic gradient descent with momentum (Polyak 1964) or with Nesterov's momentum, as in PyTorch";
  static Schema options() {
    return Schema()
        .number("learning_rate", 0.01,
                {.help = "step size, which the schedule multiplies by its factor",
                 .min = 0.0,
                 .exclusive_min = true})
        .number("momentum", 0.9,
                {.help = "decay of the running sum of the gradients",
                 .min = 0.0,
                 .max = 1.0,
                 .exclusive_max = true})
        .boolean(
            "nesterov", false,
            {.help =
                 "use Nesterov's momentum: the step is the gradient plus momentum times the new running sum"})
        .number("weight_decay", 0.0,
                {.help = "L2 penalty: weight_decay * weight is added to the gradient", .min = 0.0});
  }

  Sgd(const Options& options, const OptimizerContext&)
      : learning_rate_(options.number("learning_rate")),
        settings_{options.number("momentum"), options.number("weight_decay"), options.flag("nesterov")} {
    if (settings_.nesterov && settings_.momentum == 0.0)
      throw OptionError("nesterov",
                        "nesterov = true needs a momentum above 0: set momentum = 0.9 or nesterov = false");
  }

  double learning_rate() const override { return learning_rate_; }
  std::vector<std::string> states() const override { return {"momentum"}; }
  UpdateReach reach() const override { return UpdateReach::element; }

  void update(const Device& device, const Blocks& blocks, double learning_rate, std::int64_t) override {
    dispatch_parameters(blocks.values.dtype, [&](auto type) {
      encore_sgd::update<decltype(type)>(device, blocks, settings_, learning_rate);
    });
  }

 private:
  double learning_rate_;
  Settings settings_;
};

}  // namespace encore_sgd

ENCORE_PLUGIN("sgd", "1.0.0") {
  plugin.add<encore::Kind::optimizer, encore_sgd::Sgd>("sgd");
}
