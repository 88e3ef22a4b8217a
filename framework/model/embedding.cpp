// SPDX-License-Identifier: BSD-3-Clause
// Implements embedding.hpp: the embedding layer with its tables, the separate dropout after a norm, and the
// projection of a factorized embedding. network.cpp makes them as the first nodes of a stack. Parameter names
// here are those of checkpoints and must stay. Read embedding.hpp first, which has the formula;
// kernels/embedding.cpp computes it.
#include "model/embedding.hpp"

#include <cmath>
#include <cstring>
#include <vector>

#include <encore/kernels.hpp>
#include <encore/onnx_form.hpp>

#include "config/error.hpp"
#include "memory/device_memory.hpp"
#include "model/floats.hpp"

namespace encore::model {
namespace {

/// The deviation of tables that are not scaled (Devlin et al. 2019; `initializer_range` of BERT).
constexpr double unscaled_deviation = 0.02;

double scale_of(std::int64_t width, config::EmbeddingScale scale) {
  return scale == config::EmbeddingScale::none ? 1.0 : std::sqrt(static_cast<double>(width));
}

/// Moves channels 0, 2, 4, ... of a table (T, C) in front of channels 1, 3, 5, ...
void part_halves(const Device& device, Tensor table) {
  const auto rows = static_cast<std::size_t>(table.extent(0)),
             width = static_cast<std::size_t>(table.extent(1));
  const std::size_t size = size_of(table.dtype);
  std::vector<std::byte> pairs(table.bytes()), halves(table.bytes());
  memory::copy_to_host(device, table, pairs.data());
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t c = 0; c < width; ++c)
      std::memcpy(&halves[(row * width + c % 2 * (width / 2) + c / 2) * size],
                  &pairs[(row * width + c) * size], size);
  memory::copy_from_host(device, halves.data(), table);
}

class Embedding final : public Layer, public HasOnnxForm {
 public:
  Embedding(const Device& device, std::int64_t width, const EmbeddingOptions& options)
      : device_(device), width_(width), scale_(scale_of(width, options.scale)), options_(options) {
    if (learned()) return;
    const auto bytes =
        static_cast<std::size_t>(options.max_positions * width) * size_of(sum_type(options.precision));
    fixed_ = memory::DeviceBuffer("encore::fixed_positions", bytes);
    if (options.positions == config::Positions::none) return;  // the buffer is zero-initialized
    if (width % 2 != 0)
      throw config::ConfigError(options.width_key,
                                "must be even with sinusoidal positions (a sine and a cosine each), is " +
                                    std::to_string(width) + "; or set positions = \"learned\"");
    kernels::sinusoidal_positions(device, fixed_positions());
    if (options.layout == config::PositionLayout::halves) part_halves(device, fixed_positions());
  }

  void declare(LayerPlan& plan) override {
    const double deviation =
        options_.scale == config::EmbeddingScale::none ? unscaled_deviation : 1.0 / scale_;
    tokens_ = plan.parameter({.name = "tokens",
                              .shape = {options_.vocabulary, width_},
                              .initializer = Initializer::normal,
                              .deviation = deviation,
                              .token_rows = true,
                              .alias = options_.tied_to});
    if (learned())
      positions_ = plan.parameter(
          {"positions", {options_.max_positions, width_}, Initializer::normal, deviation, true});
    if (options_.segments > 0)
      segments_ =
          plan.parameter({"segments", {options_.segments, width_}, Initializer::normal, deviation, true});
    stream_ = plan.random("dropout");
    if (options_.dropout > 0.0) dy_ = plan.buffer("dropped_gradient", {tokens, width_}, Lifetime::backward);
    plan.backward_reads(false, false);
    plan.row_wise();
  }

  void forward(const Step& step, std::span<const Tensor>, Tensor output) override {
    const Tensor positions = learned() ? step.parameter(positions_) : fixed_positions();
    if (options_.segments > 0)
      kernels::embedding(step.device(), step.rows(), step.parameter(tokens_), scale_, positions,
                         step.parameter(segments_), output);
    else
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
    if (options_.segments > 0)
      kernels::segments_backward(step.device(), step.rows(), dy, step.gradient(segments_));
  }

  OnnxValue onnx_form(OnnxGraph& graph, std::span<const OnnxValue>) const override {
    OnnxValue sum = graph.node("Gather", {graph.parameter(tokens_), graph.ids()});
    if (scale_ != 1.0) sum = graph.multiply(sum, graph.number(scale_));
    if (options_.positions != config::Positions::none) {
      const OnnxValue table =
          learned() ? graph.parameter(positions_)
                    : graph.floats({options_.max_positions, width_}, floats_of(device_, fixed_positions()));
      sum = graph.add(sum, graph.node("Gather", {table, graph.positions()}));
    }
    if (options_.segments == 1)  // one segment: that of every row
      sum = graph.add(sum, graph.node("Gather", {graph.parameter(segments_), graph.integer(0)}));
    if (options_.segments > 1)
      sum = graph.add(sum, graph.node("Gather", {graph.parameter(segments_), graph.segments()}));
    return sum;
  }

 private:
  bool learned() const { return options_.positions == config::Positions::learned; }
  Tensor fixed_positions() const {
    return Tensor(fixed_.data(), sum_type(options_.precision), {options_.max_positions, width_});
  }

  const Device& device_;
  std::int64_t width_;
  double scale_;
  EmbeddingOptions options_;
  memory::DeviceBuffer fixed_;  ///< the table of positions, if it is not a parameter
  Parameter tokens_, positions_, segments_;
  Buffer dy_;
  RandomStream stream_;
};

class Projection final : public Layer, public HasOnnxForm {
 public:
  explicit Projection(std::int64_t input_width) : input_width_(input_width) {}

  void declare(LayerPlan& plan) override {
    weight_ = plan.matrix("weight", plan.width(), input_width_);
    bias_ = plan.bias("bias", plan.width());
    plan.row_wise();
  }

  void forward(const Step& step, std::span<const Tensor> inputs, Tensor output) override {
    kernels::linear(step.device(), inputs[0], step.parameter(weight_), step.parameter(bias_),
                    kernels::Activation::none, output);
  }

  void backward(const Step& step, std::span<const Tensor> inputs, Tensor, Tensor output_gradient,
                std::span<const Tensor> input_gradients) override {
    kernels::linear_backward_parameters(step.device(), output_gradient, inputs[0], step.gradient(weight_),
                                        step.gradient(bias_));
    kernels::linear_backward_input(step.device(), output_gradient, step.parameter(weight_),
                                   input_gradients[0]);
  }

  OnnxValue onnx_form(OnnxGraph& graph, std::span<const OnnxValue> inputs) const override {
    return graph.linear(inputs[0], weight_, bias_);
  }

 private:
  std::int64_t input_width_;  ///< E
  Parameter weight_, bias_;
};

class EmbeddingDropout final : public Layer, public HasOnnxForm {
 public:
  explicit EmbeddingDropout(double probability) : probability_(probability) {}

  void declare(LayerPlan& plan) override {
    stream_ = plan.random("dropout");
    plan.backward_reads(false, false);
    plan.row_wise();
  }

  void forward(const Step& step, std::span<const Tensor> inputs, Tensor output) override {
    if (step.training())
      kernels::dropout(step.device(), step.rows(), step.random(stream_), probability_, inputs[0], output);
    else if (inputs[0].data != output.data)
      kernels::copy(step.device(), inputs[0], output);
  }

  void backward(const Step& step, std::span<const Tensor>, Tensor, Tensor output_gradient,
                std::span<const Tensor> input_gradients) override {
    kernels::dropout(step.device(), step.rows(), step.random(stream_), probability_, output_gradient,
                     input_gradients[0]);
  }

  OnnxValue onnx_form(OnnxGraph&, std::span<const OnnxValue> inputs) const override { return inputs[0]; }

 private:
  double probability_;
  RandomStream stream_;
};

}  // namespace

std::unique_ptr<Layer> make_embedding(const Device& device, std::int64_t width,
                                      const EmbeddingOptions& options) {
  return std::make_unique<Embedding>(device, width, options);
}

std::unique_ptr<Layer> make_projection(std::int64_t input_width) {
  return std::make_unique<Projection>(input_width);
}

std::unique_ptr<Layer> make_dropout(double probability) {
  return std::make_unique<EmbeddingDropout>(probability);
}

}  // namespace encore::model
