// Adapters: low-rank changes of matrices that stay as they are (LoRA, Hu et al. 2022). Of a matrix W (out,
// in) passes see W + s B A with A (r, in) and B (out, r); only A and B are trained. No layer knows of it: its
// backward gives dW, from which dA = s B^T dW and dB = s dW A^T follow once per batch.
// What this saves are the optimizer's states and what a checkpoint has to hold of them; the gradient of W is
// computed as ever. Place in the flow: ParameterBlock calls it where values change and a gradient is
// complete.
#pragma once

#include <cstddef>
#include <string>

#include <encore/device.hpp>
#include <encore/tensor.hpp>

namespace encore {

/// Of a matrix, when parameters are laid out.
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

/// adapted (out, in) = W + s B A. `scratch` has room for r * max(out, in) elements of their type.
void adapt(const Device& device, const AdapterTensors& values, double scale, Tensor scratch, Tensor adapted);

/// dA += s B^T dW, dB += s dW A^T. `scratch` as in adapt.
void project_gradient(const Device& device, const AdapterTensors& values, const AdapterTensors& gradients,
                      double scale, Tensor scratch);

}  // namespace encore
