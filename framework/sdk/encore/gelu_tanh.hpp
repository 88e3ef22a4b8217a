// SPDX-License-Identifier: BSD-3-Clause
// GeluTanh: gelu with tanh in place of erf, the activation with which GPT-2 and T5 1.1 were trained. Kernels
// call it: the gates of the kernel library, and the layer feed_forward. Trained models and digests depend on
// its bits, so the formula must not change.
#pragma once

#include <encore/math.hpp>

namespace encore {

/// x (1 + tanh u) / 2 = x s(2u) with u = sqrt(2 / pi) (x + 0.044715 x^3) and s(t) = 1 / (1 + e^-t)
/// (Hendrycks and Gimpel 2016).
template <class S>
struct GeluTanh {
  static constexpr double slope = 1.5957691216057308;  // 2 sqrt(2 / pi)
  static constexpr double cubic = 0.044715;

  KOKKOS_INLINE_FUNCTION static S share(S x) {
    return S(1) / (S(1) + math::exp(-S(slope) * (x + S(cubic) * x * x * x)));
  }
  KOKKOS_INLINE_FUNCTION static S value(S x) { return x * share(x); }
  KOKKOS_INLINE_FUNCTION static S derivative(S x) {
    const S s = share(x);
    return s + x * s * (S(1) - s) * S(slope) * (S(1) + S(3 * cubic) * x * x);
  }
};

}  // namespace encore
