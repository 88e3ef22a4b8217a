// Optimizer "my_plugin": a value moves by the sign of a running mean of its gradients, so all values move by
// the same amount (Lion, Chen et al. 2023):
//   u = sign(beta1 m + (1 - beta1) g),  x -= rate (u + decay x),  m = beta2 m + (1 - beta2) g
// The trainer calls it through Optimizer (encore/optimizer.hpp). You may change everything here; README.md
// lists the rules.
#include <encore/plugin.hpp>
#include <encore/rows.hpp>
#include <encore/view.hpp>

namespace my_plugin_optimizer {

using namespace encore;

struct Settings {
  double beta1, beta2, weight_decay;
};

/// Updates all parameters in one pass over their blocks. A block is cut into chunks; each chunk lies within
/// one segment, which is a parameter.
template <class T>
void update(const Device& device, const Blocks& blocks, const Settings& settings, double learning_rate) {
  T* values = elements<T>(blocks.values);
  const T* gradients = elements<T>(blocks.gradients);
  T* means = elements<T>(blocks.states[0]);
  const Segment* segments = blocks.segments;
  const Chunk* chunks = blocks.chunks;
  const double* gradient_scale = blocks.gradient_scale;
  const T beta1 = static_cast<T>(settings.beta1), beta2 = static_cast<T>(settings.beta2);
  const double weight_decay = settings.weight_decay;
  for_uneven_rows(  // chunks differ in length
      device, "my_plugin::update", blocks.chunk_count, KOKKOS_LAMBDA(const Row& row) {
        const Chunk chunk = chunks[row.index];
        const Segment segment = segments[chunk.segment];
        const T rate = static_cast<T>(learning_rate * static_cast<double>(segment.learning_rate));
        const T decay = static_cast<T>(weight_decay * static_cast<double>(segment.decay));
        const T scale = gradient_scale == nullptr ? T(1) : static_cast<T>(*gradient_scale);
        row.each(chunk.size, [&](std::int64_t i) {
          const std::int64_t at = chunk.begin + i;
          const T gradient = scale * gradients[at];
          const T mixed = beta1 * means[at] + (T(1) - beta1) * gradient;
          const T sign = mixed > T(0) ? T(1) : mixed < T(0) ? T(-1) : T(0);
          values[at] -= rate * (sign + decay * values[at]);
          means[at] = beta2 * means[at] + (T(1) - beta2) * gradient;
        });
      });
}

class MyPluginOptimizer final : public Optimizer {
 public:
  static Schema options() {
    return Schema()
        .number("learning_rate", 1e-4,
                {.help = "step size, which the schedule multiplies by its factor",
                 .min = 0.0,
                 .exclusive_min = true})
        .number("beta1", 0.9,
                {.help = "weight of the past in the step", .min = 0.0, .max = 1.0, .exclusive_max = true})
        .number("beta2", 0.99,
                {.help = "weight of the past in the mean", .min = 0.0, .max = 1.0, .exclusive_max = true})
        .number("weight_decay", 0.0,
                {.help = "shrinks every value, independent of the gradient", .min = 0.0});
  }

  MyPluginOptimizer(const Options& options, const OptimizerContext&)
      : learning_rate_(options.number("learning_rate")),
        settings_{options.number("beta1"), options.number("beta2"), options.number("weight_decay")} {
    if (settings_.beta1 == 0.0 && settings_.beta2 == 0.0)
      throw OptionError("beta2",
                        "beta1 = beta2 = 0 keeps no past gradients: use optimizer sgd, or beta2 = 0.99");
  }

  double learning_rate() const override { return learning_rate_; }
  std::vector<std::string> states() const override { return {"mean"}; }

  void update(const Device& device, const Blocks& blocks, double learning_rate, std::int64_t) override {
    dispatch_parameters(blocks.values.dtype, [&](auto type) {
      my_plugin_optimizer::update<decltype(type)>(device, blocks, settings_, learning_rate);
    });
  }

 private:
  double learning_rate_;
  Settings settings_;
};

}  // namespace my_plugin_optimizer

ENCORE_PLUGIN("my_plugin", "1.0.0") {
  plugin.add<encore::Kind::optimizer, my_plugin_optimizer::MyPluginOptimizer>("my_plugin");
}
