// SPDX-License-Identifier: BSD-3-Clause
// Adapters are low-rank changes of matrices that stay as they are (LoRA, Hu et al. 2022). For a matrix W
// (out, in) passes see W + s B A with A (r, in) and B (out, r); only A and B are trained. Place in the flow:
// TrainedParameters (model/) decides which matrices have one (train.lora); ParameterBlock calls adapt() when
// values change, and project_gradient() when a gradient is complete.
//
// Layers do not know of adapters: their backward gives dW, from which dA = s B^T dW and dB = s dW A^T follow
// once per batch. This saves the optimizer's states and their part of a checkpoint; the gradient of W is
// computed as usual.
#pragma once

#include <cstddef>
#include <string>

#include <encore/device.hpp>
#include <encore/tensor.hpp>

namespace encore::memory {

/// Says which adapter a matrix has.
struct AdapterRule {
  std::string a, b;    ///< full paths of A (r, in) and B (out, r)
  double scale = 1.0;  ///< s, alpha / r
};

/// The parts of one adapter in a block, values or gradients.
struct AdapterTensors {
  Tensor matrix;  ///< W (out, in)
  Tensor a;       ///< A (r, in)
  Tensor b;       ///< B (out, r)
};

/// Computes adapted (out, in) = W + s B A. `scratch` has room for r * max(out, in) elements of their type.
void adapt(const Device& device, const AdapterTensors& values, double scale, Tensor scratch, Tensor adapted);

/// Computes dA += s B^T dW, dB += s dW A^T. `scratch` is as in adapt().
void project_gradient(const Device& device, const AdapterTensors& values, const AdapterTensors& gradients,
                      double scale, Tensor scratch);

}  // namespace encore::memory
