// Bias and relu as a pass of their own, for libraries and types without an epilogue.
#pragma once

#include <encore/rows.hpp>
#include <encore/view.hpp>

#include "kernels/gemm.hpp"

namespace encore {

/// c = max(0, c + bias), or without either, as the product says. C: type of c.
template <class C>
void bias_and_relu(const Device& device, const Product& p) {
  using S = Sum<C>;
  if (!p.bias && !p.relu) return;
  C* out = elements<C>(p.c);
  const S* bias = p.bias ? elements<S>(p.bias) : nullptr;
  const std::int64_t columns = p.columns();
  const bool relu = p.relu;
  for_rows(
      device, "encore::bias_and_relu", p.rows(), KOKKOS_LAMBDA(const Row& row) {
        C* to = out + row.index * columns;
        row.each(columns, [&](std::int64_t c) {
          const S value = static_cast<S>(to[c]) + (bias != nullptr ? bias[c] : S(0));
          to[c] = static_cast<C>(relu && value < S(0) ? S(0) : value);
        });
      });
}

}  // namespace encore
