// Forward and backward of the embedding.
#include "model/embedding.hpp"

#include <cmath>

#include <encore/kernels.hpp>

#include "config/error.hpp"
#include "memory/device_memory.hpp"

namespace encore {
namespace {

class Embedding final : public Layer {
 public:
  Embedding(const Device& device, std::int64_t width, const EmbeddingOptions& options)
      : width_(width), scale_(std::sqrt(static_cast<double>(width))), options_(options) {
    if (options.positions == Positions::learned) return;
    if (width % 2 != 0)
      throw ConfigError("model.width",
                        "must be even with sinusoidal positions (a sine and a cosine each), is " +
                            std::to_string(width) + "; or set positions = \"learned\"");
    const auto bytes =
        static_cast<std::size_t>(options.max_length * width) * size_of(sum_type(options.precision));
    sinusoids_ = DeviceBuffer("encore::sinusoidal_positions", bytes);
    kernels::sinusoidal_positions(device, sinusoids());
  }

  void declare(LayerPlan& plan) override {
    const double deviation = 1.0 / scale_;
    tokens_ = plan.parameter({.name = "tokens",
                              .shape = {options_.vocabulary, width_},
                              .initializer = Initializer::normal,
                              .deviation = deviation,
                              .token_rows = true,
                              .alias = options_.tied_to});
    if (learned())
      positions_ =
          plan.parameter({"positions", {options_.max_length, width_}, Initializer::normal, deviation, true});
    stream_ = plan.random("dropout");
    if (options_.dropout > 0.0) dy_ = plan.buffer("dropped_gradient", {tokens, width_}, Lifetime::backward);
    plan.backward_reads(false, false);
    plan.row_wise();
  }

  void forward(const Step& step, std::span<const Tensor>, Tensor output) override {
    const Tensor positions = learned() ? step.parameter(positions_) : sinusoids();
    kernels::embedding(step.device(), step.rows(), step.parameter(tokens_), scale_, positions, output);
    if (step.training() && options_.dropout > 0.0)
      kernels::dropout(step.device(), step.rows(), step.random(stream_), options_.dropout, output, output);
  }

  void backward(const Step& step, std::span<const Tensor>, Tensor, Tensor output_gradient,
                std::span<const Tensor>) override {
    Tensor dy = output_gradient;  // (N, C)
    if (options_.dropout > 0.0) {
      dy = step.buffer(dy_);
      kernels::dropout(step.device(), step.rows(), step.random(stream_), options_.dropout, output_gradient,
                       dy);
    }
    kernels::embedding_backward(step.device(), step.rows(), dy, scale_, step.gradient(tokens_));
    if (learned()) kernels::positions_backward(step.device(), step.rows(), dy, step.gradient(positions_));
  }

 private:
  bool learned() const { return options_.positions == Positions::learned; }
  Tensor sinusoids() const {
    return Tensor(sinusoids_.data(), sum_type(options_.precision), {options_.max_length, width_});
  }

  std::int64_t width_;
  double scale_;
  EmbeddingOptions options_;
  DeviceBuffer sinusoids_;
  Parameter tokens_, positions_;
  Buffer dy_;
  RandomStream stream_;
};

}  // namespace

std::unique_ptr<Layer> make_embedding(const Device& device, std::int64_t width,
                                      const EmbeddingOptions& options) {
  return std::make_unique<Embedding>(device, width, options);
}

}  // namespace encore
