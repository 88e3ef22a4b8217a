// SPDX-License-Identifier: BSD-3-Clause
// Tests the checks at large sizes (framework/contract/layer_checks.cpp, contract/onnx_check.cpp) with layers
// that are right at the small size of most checks and wrong at a large one; the contract suite must name the
// size. Also an ONNX form that computes something else than the layer.
#include <gtest/gtest.h>

#include <cstdlib>

#include <encore/onnx_form.hpp>
#include <encore/plugin.hpp>
#include <encore/rows.hpp>
#include <encore/view.hpp>

#include "contract/findings.hpp"

namespace encore::testing {
namespace {

enum class Fault {
  none,
  backward_from_width_128,
  backward_from_position_100,
  neighbours_from_row_100,
  rounds_from_width_128,
  onnx_without_gain,
};

/// y = gain x or, backward, dx = gain dy; the mistakes are `skip_from_channel`, `skip_from_position`
/// (left at zero), `mix_from_row` (the previous row of the batch is added) and `round_from_channel` (rounded
/// to multiples of 1/4, unless sums are computed in double). Each mistake begins at the channel, position or
/// row whose number it has; the defaults lie beyond all sizes and make no mistake.
struct Wrong {
  std::int64_t skip_from_channel = 1 << 30, skip_from_position = 1 << 30, mix_from_row = 1 << 30,
               round_from_channel = 1 << 30;
};

template <class T>
void scale_rows(const Step& step, Tensor from, Tensor gains, const Wrong& wrong, Tensor to) {
  using S = Sum<T>;
  const auto x = matrix_view<T>(from), y = matrix_view<T>(to);
  const auto positions = vector_view<std::int32_t>(step.rows().positions);
  const S* gain = elements<S>(gains);
  for_rows(
      step.device(), "large::scale_rows", from.extent(0), KOKKOS_LAMBDA(const Row& row) {
        const std::int64_t n = row.index;
        row.each(x.columns(), [&](std::int64_t c) {
          S value = gain[c] * static_cast<S>(x(n, c));
          if (c >= wrong.skip_from_channel || positions(n) >= wrong.skip_from_position) value = S(0);
          if (n >= wrong.mix_from_row) value += gain[c] * static_cast<S>(x(n - 1, c));
          if (sizeof(S) < 8 && c >= wrong.round_from_channel) value = Kokkos::round(value * S(4)) / S(4);
          y(n, c) = static_cast<T>(value);
        });
      });
}

/// Adds to dgain the sum over rows of x dy, in the order of rows.
template <class T>
void sum_rows(const Step& step, Tensor from, Tensor gradient, const Wrong& wrong, Tensor to) {
  using S = Sum<T>;
  const auto x = matrix_view<T>(from), dy = matrix_view<T>(gradient);
  S* dgain = elements<S>(to);
  for_rows(
      step.device(), "large::sum_rows", x.columns(), KOKKOS_LAMBDA(const Row& row) {
        const std::int64_t c = row.index;
        S sum = S(0);
        for (std::int64_t n = 0; n < x.rows(); ++n) {
          S value = static_cast<S>(x(n, c));
          if (n >= wrong.mix_from_row) value += static_cast<S>(x(n - 1, c));
          sum += value * static_cast<S>(dy(n, c));
        }
        row.once([&] { dgain[c] += sum; });
      });
}

template <Fault F>
class Gain : public Layer, public HasOnnxForm {
 public:
  static Schema options() { return {}; }
  Gain(const Options&, const LayerContext&) {}

  void declare(LayerPlan& plan) override { gain_ = plan.gain("gain", plan.width()); }
  void forward(const Step& step, std::span<const Tensor> inputs, Tensor output) override {
    Wrong wrong;
    if (F == Fault::neighbours_from_row_100) wrong.mix_from_row = 100;
    if (F == Fault::rounds_from_width_128) wrong.round_from_channel = 128;
    dispatch(output.dtype, [&](auto type) {
      scale_rows<decltype(type)>(step, inputs[0], step.parameter(gain_), wrong, output);
    });
  }
  void backward(const Step& step, std::span<const Tensor> inputs, Tensor, Tensor output_gradient,
                std::span<const Tensor> input_gradients) override {
    Wrong wrong;
    if (F == Fault::backward_from_width_128) wrong.skip_from_channel = 128;
    if (F == Fault::backward_from_position_100) wrong.skip_from_position = 100;
    dispatch(output_gradient.dtype, [&](auto type) {
      scale_rows<decltype(type)>(step, output_gradient, step.parameter(gain_), wrong, input_gradients[0]);
      sum_rows<decltype(type)>(step, inputs[0], output_gradient, wrong, step.gradient(gain_));
    });
  }
  OnnxValue onnx_form(OnnxGraph& graph, std::span<const OnnxValue> inputs) const override {
    if (F == Fault::onnx_without_gain) return graph.node("Identity", {inputs[0]});
    return graph.multiply(inputs[0], graph.parameter(gain_));
  }

 private:
  Parameter gain_;
};

template <Fault F>
std::vector<contract::Finding> findings_with(
    const std::vector<contract::LargeSize>& sizes = contract::default_sizes) {
  Registrar registrar;
  registrar.add<Kind::layer, Gain<F>>("gain");
  return findings_of(registrar.offers().front(), {}, sizes);
}

TEST(LargeSizes, PassARightLayer) {
  EXPECT_EQ(failures(findings_with<Fault::none>()), "");
}

TEST(LargeSizes, FindABackwardPassThatForgetsChannelsOrPositions) {
  const std::string wide = failures(findings_with<Fault::backward_from_width_128>()),
                    far = failures(findings_with<Fault::backward_from_position_100>());
  expect_said(wide,
              "large sizes: the gradients are wrong at width 136 with sequences of up to 150 rows:\n"
              "input along a random direction: analytic ");
  expect_said(far, "large sizes: the gradients are wrong at width 136 with sequences of up to 150 rows:\n");
  for (const std::string& said : {wide, far})
    EXPECT_FALSE(said.starts_with("gradients")) << "the small size does not show it";
}

TEST(LargeSizes, FindAPrecisionThatIsLostInWideRows) {
  expect_said(failures(findings_with<Fault::rounds_from_width_128>()),
              " is allowed at width 136 with sequences of up to 150 rows");
}

TEST(LargeSizes, AreThoseThatTheUserNames) {
  const auto found = [](const contract::LargeSize& size) {
    return failures(findings_with<Fault::backward_from_width_128>({size}));
  };
  EXPECT_EQ(found({.width = 120, .length = 10, .exact = true}), "");
  expect_said(found({.width = 129, .length = 10, .exact = true}),
              "large sizes: the gradients are wrong at width 129 with sequences of up to 10 rows");
}

bool has_onnxruntime() {
  return std::system("python3 -c 'import numpy, onnxruntime' >/dev/null 2>&1") == 0;
}

const contract::Finding& onnx_finding(const std::vector<contract::Finding>& findings) {
  return *std::ranges::find(findings, "ONNX form", &contract::Finding::check);
}

TEST(OnnxForm, IsComparedWithForward) {
  if (!has_onnxruntime()) GTEST_SKIP() << "python3 has no onnxruntime here";
  const std::vector<contract::Finding> right = findings_with<Fault::none>();
  EXPECT_TRUE(onnx_finding(right).passed && !onnx_finding(right).unchecked) << onnx_finding(right).detail;
  EXPECT_TRUE(onnx_finding(right).detail.starts_with("onnxruntime computes the same from "));
  expect_said(failures(findings_with<Fault::onnx_without_gain>()),
              "ONNX form: onnxruntime gets other results from the ONNX form with defaults at width 8 and "
              "19 rows: output \"output\" is off by ");
}

/// A PATH without python3 stands for a machine without it.
TEST(OnnxForm, IsSaidNotToBeCheckedWithoutPython) {
  const std::string path = std::getenv("PATH");
  ::setenv("PATH", "/nowhere", 1);
  const std::vector<contract::Finding> findings = findings_with<Fault::onnx_without_gain>();
  ::setenv("PATH", path.c_str(), 1);
  EXPECT_TRUE(onnx_finding(findings).unchecked);
  EXPECT_EQ(onnx_finding(findings).detail, "python3 cannot be started: No such file or directory");
  EXPECT_EQ(failures(findings), "");
}

}  // namespace
}  // namespace encore::testing
