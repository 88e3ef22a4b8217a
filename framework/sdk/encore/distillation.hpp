// SPDX-License-Identifier: BSD-3-Clause
// Distillation: how a head learns from the class scores of another model, its teacher (Hinton, Vinyals and
// Dean 2015). The host sets it in HeadContext if the experiment has a teacher, and the head passes it to
// kernels::distillation_loss. Read next: head.hpp. The header is part of the ABI of plugins: a change needs a
// new ENCORE_SDK_VERSION (plugin.hpp).
#pragma once

namespace encore {

/// The loss of a row is hard_weight * L + (1 - hard_weight) * T^2 * KL(softmax(t / T) || softmax(z / T)),
/// with L the loss that the head has without a teacher, t the teacher's scores and z its own.
struct Distillation {
  double temperature = 1.0;  ///< T, above 0; the factor T^2 keeps gradients of one size for every T
  double hard_weight = 0.5;  ///< from 0 to 1
};

}  // namespace encore
