// SPDX-License-Identifier: BSD-3-Clause
// Implements product_label.hpp: writes the shape of a product into the label of its region, and reads it
// back. gemm.cpp writes labels, bench/ reads them, so both functions change together. Stored benches hold
// such labels.
#include "kernels/products/product_label.hpp"

#include <sstream>

#include "kernels/products/gemm.hpp"

namespace encore::kernels {
namespace {

constexpr std::string_view prefix = "encore::gemm ";

std::optional<DType> type_named(std::string_view name) {
  for (const DType type : {DType::float32, DType::float64, DType::bfloat16, DType::float16})
    if (name == name_of(type)) return type;
  return std::nullopt;
}

}  // namespace

double ProductShape::flops() const {
  return 2.0 * static_cast<double>(rows) * static_cast<double>(columns) * static_cast<double>(inner);
}

double ProductShape::bytes() const {
  const auto size = [](std::int64_t a, std::int64_t b, DType type) {
    return static_cast<double>(a) * static_cast<double>(b) * static_cast<double>(size_of(type));
  };
  return size(rows, inner, in) + size(inner, columns, in) + size(rows, columns, out);
}

std::string product_label(const Product& p) {
  std::string label(prefix);
  label += std::to_string(p.rows()) + "x" + std::to_string(p.columns()) + "x" + std::to_string(p.inner());
  label += std::string(" ") + (p.transpose_a ? "t" : "n") + (p.transpose_b ? "t" : "n");
  return label + " " + name_of(p.a.dtype) + " " + name_of(p.c.dtype);
}

std::optional<ProductShape> parse_product_label(std::string_view label) {
  if (!label.starts_with(prefix)) return std::nullopt;
  std::istringstream in{std::string(label.substr(prefix.size()))};
  ProductShape shape;
  char cross = 0;
  std::string order, from, to;
  if (!(in >> shape.rows >> cross >> shape.columns >> cross >> shape.inner >> order >> from >> to) ||
      order.size() != 2)
    return std::nullopt;
  shape.transpose_a = order[0] == 't';
  shape.transpose_b = order[1] == 't';
  const auto type_in = type_named(from), type_out = type_named(to);
  if (!type_in || !type_out) return std::nullopt;
  shape.in = *type_in;
  shape.out = *type_out;
  return shape;
}

}  // namespace encore::kernels
