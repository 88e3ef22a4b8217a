// SPDX-License-Identifier: BSD-3-Clause
// The name of a matrix product for Kokkos Tools: a region around it that says its shape, because the kernels
// of a library have no names of their own. gemm.cpp opens the region while a tool listens (a connector of
// $KOKKOS_TOOLS_LIBS, or exp bench, which reads the shape back). Stored benches hold such labels, so their
// form must stay.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <encore/tensor.hpp>

namespace encore::kernels {

struct Product;

/// The content of a label: c (M, N) (+)= op(a) (M, K) op(b) (K, N).
struct ProductShape {
  std::int64_t rows = 0, columns = 0, inner = 0;
  bool transpose_a = false, transpose_b = false;
  DType in = DType::float32, out = DType::float32;

  double flops() const;
  /// Counts each operand as read or written once, without what an accumulating product reads of c.
  double bytes() const;
  friend auto operator<=>(const ProductShape&, const ProductShape&) = default;
};

/// Returns "encore::gemm 896x1152x384 nt float32 float32".
std::string product_label(const Product& product);
/// Returns the shape that a label holds; nothing for the label of any other region.
std::optional<ProductShape> parse_product_label(std::string_view label);

}  // namespace encore::kernels
