// SPDX-License-Identifier: BSD-3-Clause
// Computes products with weights of 8-bit or 4-bit integers, by tiles of our own (int8_tile.hpp,
// int4_tile.hpp), for linear layers of quantized models (QuantizedProducts in gemm.hpp). Rows of activations
// are rounded first. Then each task computes a block of rows of c by one panel of the weights, which were
// laid out before. The products must be batch-invariant: neither the cut into tasks nor the other rows of a
// batch decide a bit.
#include <encore/device.hpp>
#include <encore/view.hpp>

#include "kernels/products/gemm.hpp"
#include "kernels/products/host_tiles.hpp"
#include "kernels/products/int4_tile.hpp"
#include "kernels/products/int8_tile.hpp"
#include "kernels/products/small_product.hpp"

namespace encore::kernels {
namespace {

using int8::panel_width;
using int8::rounded_up;
using int8::RowScale;

/// Panels: how weights are read.
template <class Panels>
class IntegerGemm final : public GemmLibrary {
 public:
  std::string name() const override { return Panels::name(); }
  bool multiplies(DType type) const override { return type == DType::float32 || type == DType::bfloat16; }
  std::size_t layout_bytes(const Tensor& weight) const override {
    const bool fits = weight.dtype == DType::float32 && weight.extent(1) <= Panels::most_inner;
    return fits ? panels_of(weight, nullptr).bytes() : 0;
  }

  void lay_out(const Device& device, const Tensor& weight, void* to) override {
    const Panels panels = panels_of(weight, to);
    const float* values = elements<float>(weight);
    parallel_tasks(device, "encore::lay_out_integers", panels.count(),
                   [=](std::int64_t panel) { lay_out_panel(panels, panel, values); });
  }

  void multiply(const Device& device, const Product& p) override {
    if (p.a.dtype == DType::float32)
      multiply_as<float>(device, p);
    else
      multiply_as<bfloat16>(device, p);
  }

 private:
  static constexpr std::int64_t tile_rows = Panels::tile_rows;
  /// The rows of c in a task: the panel stays in the first cache.
  static constexpr std::int64_t block_rows = 6 * tile_rows;

  static Panels panels_of(const Tensor& weight, void* data) {
    return {static_cast<std::byte*>(data), weight.extent(0), weight.extent(1)};
  }

  template <class T>
  static void multiply_as(const Device& device, const Product& p) {
    const Panels b{static_cast<std::byte*>(const_cast<void*>(p.layout)), p.columns(),
                   p.inner()};  // only read
    const std::int64_t rows = p.rows(), inner = p.inner(), row = rounded_up(inner, 64);
    const std::size_t scale_bytes = static_cast<std::size_t>(rounded_up(rows, 8)) * sizeof(RowScale);
    auto* const scales =
        static_cast<RowScale*>(device.workspace(scale_bytes + static_cast<std::size_t>(rows * row)));
    auto* const rounded = reinterpret_cast<std::uint8_t*>(scales) + scale_bytes;
    const T* a = elements<T>(p.a);
    const std::int64_t blocks = (rows + block_rows - 1) / block_rows;
    parallel_tasks(device, "encore::round_rows", (rows + tile_rows - 1) / tile_rows, [=](std::int64_t task) {
      const std::int64_t end = std::min(rows, (task + 1) * tile_rows);
      for (std::int64_t i = task * tile_rows; i < end; ++i) {
        scales[i] = int8::round_row(a + i * inner, inner, rounded + i * row);
        std::fill(rounded + i * row + inner, rounded + i * row + b.row_bytes(), std::uint8_t{0});
      }
    });
    T* c = elements<T>(p.c);
    const float* bias = p.bias ? elements<float>(p.bias) : nullptr;
    const bool relu = p.relu;
    parallel_tasks(device, "encore::gemm_integers", blocks * b.count(), [=](std::int64_t task) {
      const std::int64_t panel = task % b.count(), column = panel * panel_width;
      const std::int64_t end = std::min(rows, (task / b.count() + 1) * block_rows);
      std::int64_t height = 0;
      for (std::int64_t i = task / b.count() * block_rows; i < end; i += height) {
        height = next_rows(end - i, tile_rows);
        const int8::TileEnd<T> tile{c + i * b.columns + column,
                                    b.columns,
                                    b.extent(panel),
                                    b.scales_at(column),
                                    b.sums() + column,
                                    bias != nullptr ? bias + column : nullptr,
                                    relu};
        const int8::Rows from{rounded + i * row, row, scales + i};
        if (b.registers(panel) == 3)
          multiply_rows<3>(height, b, panel, from, tile);
        else if (b.registers(panel) == 2)
          multiply_rows<2>(height, b, panel, from, tile);
        else
          multiply_rows<1>(height, b, panel, from, tile);
      }
    });
  }
};

}  // namespace

std::unique_ptr<GemmLibrary> make_integer_gemm(int bits) {
  if (bits == 4) return std::make_unique<IntegerGemm<int4::Panels>>();
  return std::make_unique<IntegerGemm<int8::Panels>>();
}

}  // namespace encore::kernels
