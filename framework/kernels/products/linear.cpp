// SPDX-License-Identifier: BSD-3-Clause
// The kernels linear, y (R, out) = activation(x (R, in) W^T (out, in) + b), and its gradients: dx = dy W, dW
// += dy^T x and db += column sums of dy (encore/kernels.hpp). Layers call them. Each is one product of
// gemm.hpp, whose epilogue adds the bias, applies relu or the derivative of relu or gelu, and sums the
// columns of dy, with the bits of separate passes, which must stay. Other activations are a pass of their
// own. Backward reads x, and y or the input of the activation.
#include <encore/device.hpp>

#include "kernels/check.hpp"
#include "kernels/products/gemm.hpp"

namespace encore::kernels {

void linear(const Device& device, Tensor x, Tensor weight, Tensor bias, Activation function, Tensor y) {
  check_rank("x", x, 2);
  check_rank("weight", weight, 2);
  const std::int64_t rows = x.extent(0);
  const std::int64_t in = x.extent(1);
  const std::int64_t out = weight.extent(0);
  check("weight", weight, x.dtype, {out, in});
  if (bias) check("bias", bias, sum_type(x.dtype), {out});
  check("y", y, x.dtype, {rows, out});
  if (rows == 0) return;
  device.gemm().multiply(device, {x, weight, y, false, true, bias, function == Activation::relu, false});
  if (function != Activation::none && function != Activation::relu) activation(device, function, y, y);
}

void linear_backward_input(const Device& device, Tensor dy, Tensor weight, Tensor dx) {
  gemm(device, dy, Transpose::no, weight, Transpose::no, dx);
}

void linear_backward_input(const Device& device, Tensor dy, Tensor weight, Tensor dx, Activation function,
                           Tensor saved) {
  if (function == Activation::none) return linear_backward_input(device, dy, weight, dx);
  check_rank("dy", dy, 2);
  check_rank("weight", weight, 2);
  const std::int64_t rows = dy.extent(0);
  const std::int64_t in = weight.extent(1);
  check("weight", weight, dy.dtype, {dy.extent(1), in});
  check("dx", dx, dy.dtype, {rows, in});
  check("saved", saved, dy.dtype, {rows, in});
  ENCORE_REQUIRE(
      dx.size() == 0 || saved.data != dx.data,
      "saved is dx, which is overwritten before the derivative is taken; give dx memory of its own");
  if (dx.size() == 0) return;
  ENCORE_REQUIRE(dy.extent(1) > 0, "dy is " + describe(dy) + ", expected a column at least");
  if (function != Activation::relu && function != Activation::gelu) {  // a pass of its own
    linear_backward_input(device, dy, weight, dx);
    return activation_backward(device, function, saved, dx, dx);
  }
  device.gemm().multiply(device, {.a = dy, .b = weight, .c = dx, .derivative = function, .saved = saved});
}

void linear_backward_parameters(const Device& device, Tensor dy, Tensor x, Tensor dweight, Tensor dbias) {
  check_rank("dy", dy, 2);
  check_rank("x", x, 2);
  const std::int64_t rows = dy.extent(0);
  check("x", x, dy.dtype, {rows, x.extent(1)});
  check("dweight", dweight, sum_type(x.dtype), {dy.extent(1), x.extent(1)});
  if (dbias) {
    check("dbias", dbias, sum_type(x.dtype), {dy.extent(1)});
    ENCORE_REQUIRE(x.extent(1) > 0, "x is " + describe(x) + ", expected a column at least");
  }
  if (rows == 0 || dweight.size() == 0) return;
  device.gemm().multiply(
      device, {.a = dy, .b = x, .c = dweight, .transpose_a = true, .accumulate = true, .sums = dbias});
}

}  // namespace encore::kernels
