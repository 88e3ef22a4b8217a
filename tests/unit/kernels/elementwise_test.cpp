// SPDX-License-Identifier: BSD-3-Clause
// Tests the kernels that work element by element: activations and gates with their derivatives
// (framework/kernels/activation.cpp), add, copy, fill, scale_rows and append_rows, which fills the cache of a
// decoder (framework/kernels/elementwise.cpp). Layers of plugins/layers and the model call them. Expected
// values come from the formulas in double.
#include "unit/kernels/kernel_test.hpp"

namespace encore::test {
namespace {

using kernels::Activation;

class Elementwise : public ::testing::TestWithParam<Precision> {};

double normal_distribution(double x) {
  return 0.5 * (1.0 + std::erf(x / std::sqrt(2.0)));
}

TEST_P(Elementwise, ActivationsAndTheirDerivatives) {
  const auto [type, tolerance] = GetParam();
  for (const std::int64_t count : {0, 1, 33, 5000}) {
    const contract::OwnedTensor x = random_tensor(type, {count}, 1, 2.0),
                                dy = random_tensor(type, {count}, 2);
    const Values in = x.values(), gradient = dy.values();
    Values relu = in, relu_gradient = gradient, gelu = in, gelu_gradient = gradient, tanh = in;
    for (std::size_t i = 0; i < in.size(); ++i) {
      const double density = std::exp(-0.5 * in[i] * in[i]) / std::sqrt(2.0 * M_PI);
      relu[i] = std::max(0.0, in[i]);
      if (in[i] <= 0.0) relu_gradient[i] = 0.0;
      tanh[i] = std::tanh(in[i]);
      gelu[i] *= normal_distribution(in[i]);
      gelu_gradient[i] *= normal_distribution(in[i]) + in[i] * density;
    }
    contract::OwnedTensor y(type, {count}), dx(type, {count});
    kernels::activation(device(), Activation::relu, x, y);
    expect_close(y, relu, 0.0, "relu");
    kernels::activation_backward(device(), Activation::relu, y, dy, dx);
    expect_close(dx, relu_gradient, 0.0, "relu_backward");
    kernels::activation(device(), Activation::gelu, x, y);
    expect_close(y, gelu, tolerance, "gelu");
    dx.set(gradient);
    kernels::activation_backward(device(), Activation::gelu, x, dx, dx);
    expect_close(dx, gelu_gradient, tolerance, "gelu_backward in place");
    kernels::activation(device(), Activation::tanh, x, y);
    expect_close(y, tanh, tolerance, "tanh");
    const Values saved = y.values();
    Values tanh_gradient = gradient;
    for (std::size_t i = 0; i < saved.size(); ++i) tanh_gradient[i] *= 1.0 - saved[i] * saved[i];
    kernels::activation_backward(device(), Activation::tanh, y, dy, dx);
    expect_close(dx, tanh_gradient, tolerance, "tanh_backward");
    kernels::activation(device(), Activation::none, x, y);
    expect_close(y, in, 0.0, "none");
  }
}

double sigmoid(double x) {
  return 1.0 / (1.0 + std::exp(-x));
}

/// Returns value and derivative of the function that opens a gate.
std::pair<double, double> opening(kernels::Gate function, double x) {
  const double share = sigmoid(x), curve = std::tanh(x);
  switch (function) {
    case kernels::Gate::geglu:
      return {x * normal_distribution(x),
              normal_distribution(x) + x * std::exp(-0.5 * x * x) / std::sqrt(2.0 * M_PI)};
    case kernels::Gate::swiglu:
      return {x * share, share + x * share * (1.0 - share)};
    case kernels::Gate::glu:
      return {share, share * (1.0 - share)};
    case kernels::Gate::reglu:
      return {std::max(0.0, x), x > 0.0 ? 1.0 : 0.0};
    case kernels::Gate::geglu_tanh: {
      const double root = std::sqrt(8.0 / M_PI), most = sigmoid(root * (x + 0.044715 * x * x * x));
      return {x * most, most + x * most * (1.0 - most) * root * (1.0 + 0.134145 * x * x)};
    }
    case kernels::Gate::tanh_glu:
      break;
  }
  return {curve, 1.0 - curve * curve};
}

TEST_P(Elementwise, SiluAndSigmoidAndTheirDerivatives) {
  const auto [type, tolerance] = GetParam();
  for (const std::int64_t count : {0, 1, 33, 5000}) {
    contract::OwnedTensor x = random_tensor(type, {count}, 1, 3.0), y(type, {count}), dx(type, {count});
    const contract::OwnedTensor dy = random_tensor(type, {count}, 2);
    if (count > 1) {  // where e^-x overflows, and where it is 0
      Values far = x.values();
      far[0] = -1000.0;
      far[1] = 1000.0;
      x.set(far);
    }
    const Values in = x.values(), gradient = dy.values();
    Values silu = in, shares = in, silu_gradient = gradient, share_gradient = gradient;
    for (std::size_t i = 0; i < in.size(); ++i) {
      const auto [value, slope] = opening(kernels::Gate::swiglu, in[i]);
      silu[i] = value;
      silu_gradient[i] *= slope;
      shares[i] = sigmoid(in[i]);
    }
    kernels::activation(device(), Activation::silu, x, y);
    expect_close(y, silu, tolerance, "silu");
    kernels::activation_backward(device(), Activation::silu, x, dy, dx);
    expect_close(dx, silu_gradient, tolerance, "silu_backward");
    kernels::activation(device(), Activation::sigmoid, x, y);
    expect_close(y, shares, tolerance, "sigmoid");
    const Values saved = y.values();
    for (std::size_t i = 0; i < saved.size(); ++i) share_gradient[i] *= saved[i] * (1.0 - saved[i]);
    kernels::activation_backward(device(), Activation::sigmoid, y, dy, dx);
    expect_close(dx, share_gradient, tolerance, "sigmoid_backward");
  }
}

TEST_P(Elementwise, GatesAndTheirDerivatives) {
  const auto [type, tolerance] = GetParam();
  for (const std::int64_t rows : {0, 1, 7})
    for (const std::int64_t hidden : {1, 3, 33, 500}) {
      contract::OwnedTensor x = random_tensor(type, {rows, 2 * hidden}, 1, 3.0);
      const contract::OwnedTensor dy = random_tensor(type, {rows, hidden}, 2);
      if (rows > 0) {  // where e^-x overflows the gate is shut
        Values far = x.values();
        far[0] = -1000.0;
        x.set(far);
      }
      const Values in = x.values(), gradient = dy.values();
      using kernels::Gate;
      for (const Gate function :
           {Gate::geglu, Gate::swiglu, Gate::glu, Gate::reglu, Gate::tanh_glu, Gate::geglu_tanh}) {
        Values expected(gradient.size()), expected_dx(in.size());
        for (std::size_t i = 0; i < gradient.size(); ++i) {
          const std::size_t width = static_cast<std::size_t>(hidden);
          const std::size_t at = i / width * 2 * width + i % width;
          const double a = in[at], b = in[at + width];
          const auto [open, slope] = opening(function, a);
          expected[i] = open * b;
          expected_dx[at] = gradient[i] * b * slope;
          expected_dx[at + width] = gradient[i] * open;
        }
        contract::OwnedTensor y(type, {rows, hidden}), dx(type, {rows, 2 * hidden});
        y.fill(NAN);
        dx.fill(NAN);
        kernels::gate(device(), function, x, y);
        kernels::gate_backward(device(), function, x, dy, dx);
        const std::string what = std::to_string(rows) + " x " + std::to_string(hidden);
        expect_close(y, expected, tolerance, "gate " + what);
        // The slope of geglu_tanh is a sum of numbers that may nearly cancel, so it is allowed a larger
        // error.
        const double of_slope = function == Gate::geglu_tanh ? 4 * tolerance : tolerance;
        expect_close(dx, expected_dx, of_slope, "gate_backward " + what);
      }
    }
}

TEST_P(Elementwise, ReluLetsANanThrough) {
  contract::OwnedTensor x(GetParam().type, {1});
  x.fill(NAN);
  kernels::activation(device(), Activation::relu, x, x);
  device().fence();
  EXPECT_TRUE(std::isnan(x.values()[0]));
}

TEST_P(Elementwise, AddAndFill) {
  const auto [type, tolerance] = GetParam();
  const contract::OwnedTensor x = random_tensor(type, {7, 5000}, 1);
  contract::OwnedTensor y = random_tensor(type, {7, 5000}, 2);
  const Values expected = plus(x.values(), y.values());
  kernels::add(device(), x, y);
  expect_close(y, expected, tolerance, "add");
  kernels::fill(device(), 2.5, y);
  expect_close(y, Values(35000, 2.5), 0.0, "fill");
}

TEST_P(Elementwise, RowsAreScaledByAFactorEach) {
  const auto [type, tolerance] = GetParam();
  for (const std::int64_t rows : {0, 1, 7})
    for (const std::int64_t width : {1, 3, 33, 500}) {
      contract::OwnedTensor x = random_tensor(type, {rows, width}, 1),
                            factors = random_tensor(DType::float32, {rows}, 2);
      Values expected = x.values();
      const Values by = factors.values();
      for (std::size_t i = 0; i < expected.size(); ++i)
        expected[i] *= by[i / static_cast<std::size_t>(width)];
      kernels::scale_rows(device(), factors, x);
      expect_close(x, expected, tolerance, "scale_rows");
    }
  contract::OwnedTensor line = random_tensor(type, {5}, 1), factors(DType::float32, {5});
  factors.fill(0.0);
  kernels::scale_rows(device(), factors, line);
  expect_close(line, Values(5, 0.0), 0.0, "scale_rows of a vector");
  EXPECT_REFUSED(kernels::scale_rows(device(), contract::OwnedTensor(DType::float32, {4}), line),
                 "factors is float32 (4), expected float32 (5)");
}

INSTANTIATE_TEST_SUITE_P(Precisions, Elementwise, ::testing::ValuesIn(precisions(1e-6, 1e-14, 1e-2)),
                         precision_name);

TEST(Copy, ConvertsBetweenAllFloatingPointTypes) {
  std::vector<DType> types{DType::float32, DType::float64, DType::bfloat16};
  if (is_activation(DType::float16)) types.push_back(DType::float16);
  for (const DType from : types)
    for (const DType to : types) {
      contract::OwnedTensor x(from, {3}), y(to, {3});
      x.set({1.5, -2.0, 0.0});
      kernels::copy(device(), x, y);
      expect_close(y, {1.5, -2.0, 0.0}, 0.0, std::string(name_of(from)) + " to " + name_of(to));
    }
}

TEST(Copy, FillsIntegers) {
  contract::OwnedTensor y(DType::int32, {4});
  kernels::fill(device(), -1.0, y);
  expect_close(y, Values(4, -1.0), 0.0, "fill");
}

TEST(AppendRows, PutsRowsAtTheirPositionsAndLeavesTheOthers) {
  const contract::OwnedBatch rows({1, 0, 2}, contract::OwnedBatch::default_vocabulary, {}, {3, 2, 0}),
      cache({5, 5, 5});
  const contract::OwnedTensor x = random_tensor(DType::float32, {3, 5}, 1);
  contract::OwnedTensor y(DType::float32, {15, 2});
  y.fill(7.0);
  kernels::append_rows(device(), rows, {x, 2, 2}, cache, y);
  device().fence();
  Values expected(30, 7.0);
  const Values from = x.values();
  const std::pair<std::size_t, std::size_t> moves[] = {{0, 3}, {1, 10}, {2, 11}};  // row of x, row of y
  for (const auto& [n, to] : moves)
    for (std::size_t c = 0; c < 2; ++c) expected[2 * to + c] = from[5 * n + 2 + c];
  EXPECT_EQ(y.values(), expected);
}
TEST(AppendRows, RefusesWhatHasNoRoom) {
  const contract::OwnedTensor x(DType::float32, {2, 2}), y(DType::float32, {4, 2}),
      narrow(DType::float32, {4, 1});
  const contract::OwnedBatch two({2}, contract::OwnedBatch::default_vocabulary, {}, {3}), cache({4});
  EXPECT_REFUSED(kernels::append_rows(device(), two, x, cache, y),
                 "a sequence of 5 rows, and the cache has room for 4");
  EXPECT_REFUSED(kernels::append_rows(device(), contract::OwnedBatch({1, 1}), x, cache, y),
                 "rows of 2 sequences and a cache of 1");
  EXPECT_REFUSED(kernels::append_rows(device(), contract::OwnedBatch({2}), x, cache, narrow),
                 "y is float32 (4, 1)");
}

TEST(ElementwiseRefuses, OtherSizesAndTypes) {
  const contract::OwnedTensor x(DType::float32, {3}), longer(DType::float32, {4}), wide(DType::float64, {3}),
      whole(DType::int32, {3});
  EXPECT_REFUSED(kernels::add(device(), x, longer), "x is float32 (3), y is float32 (4)");
  EXPECT_REFUSED(kernels::add(device(), x, wide), "y is float64 (3)");
  EXPECT_REFUSED(kernels::add(device(), whole, whole), "no kernel computes on elements of type int32");
  EXPECT_REFUSED(kernels::copy(device(), x, longer), "y is float32 (4)");
  EXPECT_REFUSED(kernels::activation(device(), Activation::relu, x, wide), "y is float64 (3)");
  const contract::OwnedTensor row(DType::float32, {1, 3}), pair(DType::float32, {1, 6});
  EXPECT_REFUSED(kernels::gate(device(), kernels::Gate::geglu, row, row),
                 "x is float32 (1, 3), expected float32 (1, 6)");
  EXPECT_REFUSED(kernels::gate_backward(device(), kernels::Gate::swiglu, pair, row, row),
                 "dx is float32 (1, 3), expected float32 (1, 6)");
}

}  // namespace
}  // namespace encore::test
