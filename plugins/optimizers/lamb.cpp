// SPDX-License-Identifier: BSD-3-Clause
// Optimizer "lamb" (You et al. 2020, algorithm 2): Adam's step with decoupled decay, rescaled per tensor:
//   m = beta1 m + (1 - beta1) g,  v = beta2 v + (1 - beta2) g^2,  x -= rate ratio u,  ratio = |x| / |u|
//   u = (m / (1 - beta1^step)) / (sqrt(v / (1 - beta2^step)) + epsilon) + decay x
// The ratio is 1 if either length is zero, and for tensors without decay (biases, norm gains), as in the
// authors' code; max_trust_ratio limits all ratios, also these. Three passes: moments and norms of chunks;
// ratios of segments; the update.
// train/training_step.cpp calls update() at each step. Checkpoints contain the names of the moments, so these
// never change.
#include <cmath>

#include <encore/plugin.hpp>
#include <encore/rows.hpp>
#include <encore/sliced_update.hpp>
#include <encore/view.hpp>

#include "above_zero.hpp"

namespace encore_lamb {

using namespace encore;

struct Settings {
  double beta1, beta2, epsilon, weight_decay, max_ratio;
};

/// Computes the step u of one element. m and v are the moments before the correction of their bias.
template <class T>
struct Direction {
  T inverse1, inverse2, epsilon;  ///< 1 / (1 - beta^step) for each moment
  KOKKOS_FORCEINLINE_FUNCTION T operator()(T x, T m, T v, T decay) const {
    return m * inverse1 / (Kokkos::sqrt(v * inverse2) + epsilon) + (decay == T(0) ? T(0) : decay * x);
  }
  /// Returns whether moments of zero give a step of zero, so that only the decay changes a value.
  KOKKOS_FORCEINLINE_FUNCTION bool rests() const { return (*this)(T(0), T(0), T(0), T(0)) == T(0); }
};

/// Returns whether a chunk has no gradient and moments that are zero and stay so.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION bool stays_zero(ChunkGradient gradient, T scale) {
  return gradient == ChunkGradient::never && scale * T(0) == T(0);
}

template <class T>
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
  const std::int64_t segment_count = blocks.segment_count;
  const std::int64_t chunk_count = blocks.chunk_count;
  const T rest1 = static_cast<T>(1.0 - settings.beta1);
  const T beta2 = static_cast<T>(settings.beta2);
  const T rest2 = static_cast<T>(1.0 - settings.beta2);
  const double count = static_cast<double>(step);
  const Direction<T> direction{static_cast<T>(1.0 / (1.0 - std::pow(settings.beta1, count))),
                               static_cast<T>(1.0 / (1.0 - std::pow(settings.beta2, count))),
                               above_zero<T>(settings.epsilon)};
  const double weight_decay = settings.weight_decay;
  const double max_ratio = settings.max_ratio;
  double* value_squares =
      static_cast<double*>(  // (chunks), then the squares of updates, then the ratios (segments)
          device.workspace(static_cast<std::size_t>(2 * chunk_count + segment_count) * sizeof(double)));
  double* update_squares = value_squares + chunk_count;
  double* ratios = update_squares + chunk_count;
  for_uneven_rows(
      device, "encore::lamb_moments", chunk_count, KOKKOS_LAMBDA(const Row& row) {
        const Chunk chunk = chunks[row.index];
        const T decay = static_cast<T>(weight_decay * static_cast<double>(segments[chunk.segment].decay));
        const T scale = gradient_scale == nullptr ? T(1) : static_cast<T>(*gradient_scale);
        const T* x = values + chunk.begin;
        const T* g = gradients + chunk.begin;
        T* m = first + chunk.begin;
        T* v = second + chunk.begin;
        const auto moments = [&](T element, std::int64_t i) {
          const T scaled = scale * element;
          m[i] += rest1 * (scaled - m[i]);
          v[i] = beta2 * v[i] + rest2 * scaled * scaled;
        };
        const ChunkGradient gradient = known == nullptr ? ChunkGradient::present : known[row.index];
        const bool zero = stays_zero(gradient, scale);
        if (gradient == ChunkGradient::present)
          row.each(chunk.size, [&](std::int64_t i) { moments(g[i], i); });
        else if (!zero)
          row.each(chunk.size, [&](std::int64_t i) { moments(T(0), i); });
        const double of_values = row.sum<double>(chunk.size, [&](std::int64_t i) {
          return static_cast<double>(x[i]) * static_cast<double>(x[i]);
        });
        const bool rests = zero && decay == T(0) && direction.rests();
        const double of_updates = row.sum<double>(rests ? 0 : chunk.size, [&](std::int64_t i) {
          const double u = static_cast<double>(direction(x[i], m[i], v[i], decay));
          return u * u;
        });
        row.once([&] {
          value_squares[row.index] = of_values;
          update_squares[row.index] = of_updates;
        });
      });
  for_rows(
      device, "encore::lamb_ratios", segment_count, KOKKOS_LAMBDA(const Row& row) {
        const Segment segment = segments[row.index];
        const std::int64_t end =
            row.index + 1 < segment_count ? segments[row.index + 1].first_chunk : chunk_count;
        const std::int64_t size = end - segment.first_chunk;
        const double of_values =
            row.sum<double>(size, [&](std::int64_t c) { return value_squares[segment.first_chunk + c]; });
        const double of_updates =
            row.sum<double>(size, [&](std::int64_t c) { return update_squares[segment.first_chunk + c]; });
        row.once([&] {
          const bool adapted = segment.decay > 0.0F && of_values > 0.0 && of_updates > 0.0;
          const double ratio = adapted ? Kokkos::sqrt(of_values) / Kokkos::sqrt(of_updates) : 1.0;
          ratios[row.index] = max_ratio > 0.0 && ratio > max_ratio ? max_ratio : ratio;
        });
      });
  for_uneven_rows(
      device, "encore::lamb_update", chunk_count, KOKKOS_LAMBDA(const Row& row) {
        const Chunk chunk = chunks[row.index];
        const Segment segment = segments[chunk.segment];
        const T decay = static_cast<T>(weight_decay * static_cast<double>(segment.decay));
        const T rate = static_cast<T>(learning_rate * static_cast<double>(segment.learning_rate) *
                                      ratios[chunk.segment]);
        const ChunkGradient gradient = known == nullptr ? ChunkGradient::present : known[row.index];
        const T scale = gradient_scale == nullptr ? T(1) : static_cast<T>(*gradient_scale);
        T* x = values + chunk.begin;
        const T* m = first + chunk.begin;
        const T* v = second + chunk.begin;
        if (!stays_zero(gradient, scale))
          row.each(chunk.size, [&](std::int64_t i) { x[i] -= rate * direction(x[i], m[i], v[i], decay); });
        else if (decay != T(0) || !direction.rests() ||
                 !(rate >= T(0) && rate * T(0) == T(0)))  // a rate that is negative, infinite or NaN
          row.each(chunk.size, [&](std::int64_t i) { x[i] -= rate * direction(x[i], T(0), T(0), decay); });
      });
}

class Lamb final : public Optimizer, public SlicedUpdate {
 public:
  static constexpr const char* summary =
      "Adam with bias correction, whose step is scaled, for each weight tensor, by the norm of the tensor "
      "divided by the norm of the step (You et al. 2020); biases, parameters of norms, the transitions of "
      "the head `crf`, and tensors or steps with a norm of 0 are not scaled";
  static Schema options() {
    return Schema()
        .number(
            "learning_rate", 1e-3,
            {.help =
                 "factor on the scaled step: a scaled tensor changes by this share of its own norm in each "
                 "training step, unless max_trust_ratio limits the scale; the schedule multiplies "
                 "learning_rate by its factor",
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
        .number("epsilon", 1e-6,
                {.help = "added to the square root of the running mean of the squared gradient, after the "
                         "bias correction of this mean",
                 .min = 0.0,
                 .exclusive_min = true})
        .number("weight_decay", 0.01,
                {.help = "weight_decay * weight is added to the step of a weight before the step is scaled; "
                         "biases, parameters of norms and the transitions of the head `crf` do not decay",
                 .min = 0.0})
        .number("max_trust_ratio", 0.0,
                {.help = "upper limit of the factor by which a step is scaled (norm of the tensor divided by "
                         "norm of the step). Tensors that are not scaled have the factor 1, so a limit below "
                         "1 makes their steps smaller too; 0: no limit",
                 .min = 0.0});
  }

  Lamb(const Options& options, const OptimizerContext&)
      : learning_rate_(options.number("learning_rate")),
        settings_{options.number("beta1"), options.number("beta2"), options.number("epsilon"),
                  options.number("weight_decay"), options.number("max_trust_ratio")} {}

  double learning_rate() const override { return learning_rate_; }
  std::vector<std::string> states() const override { return {"first_moment", "second_moment"}; }
  UpdateReach reach() const override { return UpdateReach::segment; }

  void update(const Device& device, const Blocks& blocks, double learning_rate, std::int64_t step) override {
    dispatch_parameters(blocks.values.dtype, [&](auto type) {
      encore_lamb::update<decltype(type)>(device, blocks, settings_, learning_rate, step);
    });
  }

 private:
  double learning_rate_;
  Settings settings_;
};

}  // namespace encore_lamb

ENCORE_PLUGIN("lamb", "1.0.0") {
  plugin.add<encore::Kind::optimizer, encore_lamb::Lamb>("lamb");
}
