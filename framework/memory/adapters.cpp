// SPDX-License-Identifier: BSD-3-Clause
// Implements adapt() and project_gradient() of adapters.hpp: W + s B A, and its gradients dA = s B^T dW and
// dB = s dW A^T. ParameterBlock calls them. Each scales B or A, which are smaller than the matrix, to save a
// pass over it. The order of the products and the place of the scaling decide the bits of runs and must stay.
// Read adapters.hpp first.
#include "memory/adapters.hpp"

#include <encore/error.hpp>
#include <encore/kernels.hpp>

namespace encore::memory {
namespace {

using kernels::Transpose;

/// Returns scale * x in the first elements of `scratch`, in the shape of x.
Tensor scaled(const Device& device, double scale, Tensor x, Tensor scratch) {
  const Tensor y(scratch.data, x.dtype, {x.extent(0), x.extent(1)});
  ENCORE_REQUIRE(y.size() <= scratch.size(), "the scratch of an adapter is too small");
  kernels::scale(device, scale, x, y);
  return y;
}

}  // namespace

void adapt(const Device& device, const AdapterTensors& values, double scale, Tensor scratch, Tensor adapted) {
  kernels::copy(device, values.matrix, adapted);
  kernels::gemm(device, scaled(device, scale, values.b, scratch), Transpose::no, values.a, Transpose::no,
                adapted, true);
}

void project_gradient(const Device& device, const AdapterTensors& values, const AdapterTensors& gradients,
                      double scale, Tensor scratch) {
  kernels::gemm(device, scaled(device, scale, values.b, scratch), Transpose::yes, gradients.matrix,
                Transpose::no, gradients.a, true);
  kernels::gemm(device, gradients.matrix, Transpose::no, scaled(device, scale, values.a, scratch),
                Transpose::yes, gradients.b, true);
}

}  // namespace encore::memory
