// SPDX-License-Identifier: BSD-3-Clause
// Computes products by tiles of AMX, for kernels::gemm: products of bfloat16 matrices, and products with
// weights of 8-bit integers. gemm.cpp chooses this library if permission() of amx_tiles.hpp allows it; read
// amx_product.hpp next. No sum is ever cut, so the cut into tasks decides no bit. The bits of bfloat16
// products are not those of AVX512_BF16 (arithmetic in amx_tiles.hpp); integers have the same ones
// everywhere.
//
// b is copied into the panels of bfloat16_tile.hpp (32 columns, two tiles) or is already in those of
// int8_tile.hpp (48 columns, three tiles). a is read in place, except for weight gradients, for which it is
// transposed into tiles. A task is a block of rows of c times one panel; it configures the tiles and releases
// them, because oneDNN uses them in the same threads.
#include <encore/device.hpp>
#include <encore/view.hpp>

#include "kernels/products/amx_product.hpp"
#include "kernels/products/bfloat16_packing.hpp"
#include "kernels/products/gemm.hpp"
#include "kernels/products/host_tiles.hpp"
#include "kernels/products/int8_tile.hpp"

namespace encore::kernels {

#if ENCORE_HAVE_BFLOAT16_PAIRS

namespace {

using amx::block_rows;
using amx::PackedTiles;
using amx::PanelRows;
using amx::PlainRows;
using pairs::FirstSums;
using pairs::Panels;

constexpr std::int64_t panel_width = 2 * pairs::lane_count;

/// Stores rows of c from their sums, `width` to a row.
template <class C>
void end_rows(const float* sums, std::int64_t width, std::int64_t rows, const pairs::TileEnd<C>& end) {
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t column = 0; column < width; column += pairs::lane_count) {
      const __mmask16 here = pairs::first_lanes(end.columns - column);
      C* const to = end.c + i * end.row + column;
      __m512 value = _mm512_load_ps(sums + i * width + column);
      if (end.bias != nullptr) value = _mm512_add_ps(value, _mm512_maskz_loadu_ps(here, end.bias + column));
      if (end.relu)
        value = _mm512_max_ps(_mm512_setzero_ps(), value);  // the second operand where one is a NaN
      if (end.accumulate) value = _mm512_add_ps(value, pairs::load_sums(to, here));
      if (end.positive != nullptr) {
        const __m512 saved = pairs::load_sums(end.positive + i * end.row + column, here);
        value = _mm512_maskz_mov_ps(_mm512_cmp_ps_mask(saved, _mm512_setzero_ps(), _CMP_GT_OQ), value);
      }
      pairs::store_sums(to, here, value);
    }
}

template <class Unit>
class AmxGemm final : public GemmLibrary {
 public:
  explicit AmxGemm(std::unique_ptr<GemmLibrary> other) : other_(std::move(other)) {}

  std::string name() const override { return other_->name() + ", bfloat16 by tiles (" + Unit::name + ")"; }
  bool multiplies(DType type) const override { return type == DType::bfloat16 || other_->multiplies(type); }
  std::int64_t prepared() const override { return other_->prepared(); }
  std::size_t layout_bytes(const Tensor& weight) const override {
    return weight.dtype == DType::bfloat16 ? panels_of(weight, nullptr).bytes()
                                           : other_->layout_bytes(weight);
  }
  void lay_out(const Device& device, const Tensor& weight, void* to) override {
    if (weight.dtype != DType::bfloat16) return other_->lay_out(device, weight, to);
    const Panels panels = panels_of(weight, to);
    parallel_tasks(device, "encore::gemm_lay_out", pairs::pack_tasks(panels, true),
                   [=](std::int64_t task) { pairs::pack(panels, task, weight, true); });
  }

  void multiply(const Device& device, const Product& p) override {
    if (p.a.dtype != DType::bfloat16) return other_->multiply(device, p);
    const std::int64_t steps = (p.inner() + pairs::step_rows - 1) / pairs::step_rows;
    Panels b{.data = nullptr, .outer = p.columns(), .inner = p.inner(), .width = panel_width};
    PackedTiles a{.data = nullptr, .rows = p.transpose_a ? p.rows() : 0, .steps = steps};
    const std::int64_t tasks_of_b = p.layout != nullptr ? 0 : pairs::pack_tasks(b, p.transpose_b);
    const std::int64_t tasks_of_a = p.transpose_a ? pairs::transpose_tasks(p.inner()) : 0;
    FirstSums sums{
        .data = nullptr, .count = p.sums ? tasks_of_a : 0, .columns = pairs::padded_columns(p.rows())};
    const std::size_t packed_b = p.layout != nullptr ? 0 : b.bytes();
    auto* const workspace = static_cast<std::byte*>(device.workspace(a.bytes() + packed_b + sums.bytes()));
    a.data = workspace;
    // The const_cast is safe because a layout is only read.
    b.data = p.layout != nullptr ? static_cast<bfloat16*>(const_cast<void*>(p.layout))
                                 : reinterpret_cast<bfloat16*>(workspace + a.bytes());
    sums.data = reinterpret_cast<float*>(workspace + a.bytes() + packed_b);
    if (tasks_of_b + tasks_of_a > 0)
      parallel_tasks(device, "encore::gemm_pack", tasks_of_b + tasks_of_a, [=](std::int64_t task) {
        if (task < tasks_of_b)
          pairs::pack(b, task, p.b, p.transpose_b);
        else if (p.sums)
          pairs::transpose<true>(a, task - tasks_of_b, p.a, sums.of(task - tasks_of_b));
        else
          pairs::transpose<false>(a, task - tasks_of_b, p.a, nullptr);
      });
    if (p.c.dtype == DType::float32)
      multiply_blocks<float>(device, p, a, b, sums);
    else
      multiply_blocks<bfloat16>(device, p, a, b, sums);
  }

 private:
  static Panels panels_of(const Tensor& weight, void* data) {
    return {.data = static_cast<bfloat16*>(data),
            .outer = weight.extent(0),
            .inner = weight.extent(1),
            .width = panel_width};
  }

  template <class C>
  static void multiply_blocks(const Device& device, const Product& p, const PackedTiles& a, const Panels& b,
                              const FirstSums& sums) {
    const std::int64_t blocks = (p.rows() + block_rows - 1) / block_rows;
    parallel_tasks(device, "encore::gemm", blocks * b.count(), [=](std::int64_t task) {
      const std::int64_t begin = task / b.count() * block_rows, panel = task % b.count();
      const std::int64_t end = std::min(p.rows(), begin + block_rows);
      if (b.registers(panel) == 2)
        multiply_rows<2, C>(p, begin, end, a, b, panel);
      else
        multiply_rows<1, C>(p, begin, end, a, b, panel);
      if (p.derivative != kernels::Activation::relu)
        apply_derivative<C>(p, {begin, end - begin, panel * panel_width, b.extent(panel)});
      if (panel == 0 && p.sums) sums.add_to(begin, end, elements<float>(p.sums));
    });
  }

  template <int Registers, class C>
  static void multiply_rows(const Product& p, std::int64_t begin, std::int64_t end, const PackedTiles& a,
                            const Panels& b, std::int64_t panel) {
    const std::int64_t column = panel * panel_width, row = p.columns();
    const C* const positive = p.derivative == kernels::Activation::relu ? elements<C>(p.saved) : nullptr;
    const auto finish = [&](std::int64_t first, std::int64_t rows, const float* sums) {
      const std::int64_t at = first * row + column;
      end_rows<C>(sums, Registers * pairs::lane_count, rows,
                  {.c = elements<C>(p.c) + at,
                   .row = row,
                   .columns = b.extent(panel),
                   .scale = 1.0F,
                   .bias = p.bias ? elements<float>(p.bias) + column : nullptr,
                   .relu = p.relu,
                   .accumulate = p.accumulate,
                   .positive = positive != nullptr ? positive + at : nullptr,
                   .read_next = nullptr});
    };
    const PanelRows<Registers> columns{reinterpret_cast<const std::byte*>(b.at(panel)), b.pair_count()};
    const std::int64_t bytes = p.inner() * static_cast<std::int64_t>(sizeof(bfloat16));
    Unit unit;
    unit.configure();
    if (a.rows > 0)
      amx::multiply_panel<amx::Pairs>(unit, begin, end, bytes, a, columns, finish);
    else
      amx::multiply_panel<amx::Pairs>(
          unit, begin, end, bytes,
          PlainRows{reinterpret_cast<const std::byte*>(elements<bfloat16>(p.a)), bytes}, columns, finish);
    unit.release();
  }

  std::unique_ptr<GemmLibrary> other_;
};

/// Computes products with 8-bit weights like IntegerGemm of gemm_integers.cpp, from the same layout of
/// weights.
template <class Unit>
class AmxIntegerGemm final : public GemmLibrary {
 public:
  std::string name() const override { return int8::Panels::name(); }
  bool multiplies(DType type) const override { return type == DType::float32 || type == DType::bfloat16; }
  std::size_t layout_bytes(const Tensor& weight) const override { return plain_->layout_bytes(weight); }
  void lay_out(const Device& device, const Tensor& weight, void* to) override {
    plain_->lay_out(device, weight, to);
  }
  void multiply(const Device& device, const Product& p) override {
    if (p.a.dtype == DType::float32)
      multiply_as<float>(device, p);
    else
      multiply_as<bfloat16>(device, p);
  }

 private:
  template <class T>
  static void multiply_as(const Device& device, const Product& p) {
    const int8::Panels b{static_cast<std::byte*>(const_cast<void*>(p.layout)), p.columns(),
                         p.inner()};  // only read
    const std::int64_t rows = p.rows(), inner = p.inner(), row = int8::rounded_up(inner, amx::row_bytes);
    const std::size_t scale_bytes =
        static_cast<std::size_t>(int8::rounded_up(rows, 8)) * sizeof(int8::RowScale);
    auto* const scales =
        static_cast<int8::RowScale*>(device.workspace(scale_bytes + static_cast<std::size_t>(rows * row)));
    auto* const rounded = reinterpret_cast<std::uint8_t*>(scales) + scale_bytes;
    const T* a = elements<T>(p.a);
    parallel_tasks(device, "encore::round_rows", (rows + int8::tile_rows - 1) / int8::tile_rows,
                   [=](std::int64_t task) {
                     const std::int64_t end = std::min(rows, (task + 1) * int8::tile_rows);
                     for (std::int64_t i = task * int8::tile_rows; i < end; ++i) {
                       scales[i] = int8::round_row(a + i * inner, inner, rounded + i * row);
                       std::fill(rounded + i * row + inner, rounded + (i + 1) * row, std::uint8_t{0});
                     }
                   });
    const PlainRows from{reinterpret_cast<const std::byte*>(rounded), row};
    const std::int64_t blocks = (rows + block_rows - 1) / block_rows;
    parallel_tasks(device, "encore::gemm_integers", blocks * b.count(), [=](std::int64_t task) {
      const std::int64_t panel = task % b.count(), begin = task / b.count() * block_rows;
      const std::int64_t end = std::min(rows, begin + block_rows);
      if (b.registers(panel) == 3)
        multiply_rows<3, T>(p, begin, end, from, scales, b, panel);
      else if (b.registers(panel) == 2)
        multiply_rows<2, T>(p, begin, end, from, scales, b, panel);
      else
        multiply_rows<1, T>(p, begin, end, from, scales, b, panel);
    });
  }

  template <int Registers, class T>
  static void multiply_rows(const Product& p, std::int64_t begin, std::int64_t end, const PlainRows& a,
                            const int8::RowScale* scales, const int8::Panels& b, std::int64_t panel) {
    const std::int64_t column = panel * int8::panel_width;
    const auto finish = [&](std::int64_t first, std::int64_t count, const std::int32_t* sums) {
      std::int64_t height = 0;
      for (std::int64_t i = 0; i < count; i += height) {
        const int8::TileEnd<T> tile{elements<T>(p.c) + (first + i) * b.columns + column,
                                    b.columns,
                                    b.extent(panel),
                                    b.scales_at(column),
                                    b.sums() + column,
                                    p.bias ? elements<float>(p.bias) + column : nullptr,
                                    p.relu};
        const auto* from = reinterpret_cast<const int8::Integers*>(sums + i * Registers * int8::lane_count);
        height = count - i >= int8::tile_rows ? int8::tile_rows : 1;
        if (height == 1)
          int8::end_tile<1, Registers>(from, scales + first + i, tile);
        else
          int8::end_tile<int8::tile_rows, Registers>(from, scales + first + i, tile);
      }
    };
    const PanelRows<Registers> columns{reinterpret_cast<const std::byte*>(b.at(panel)), b.quads()};
    Unit unit;
    unit.configure();
    amx::multiply_panel<amx::Bytes>(unit, begin, end, p.inner(), a, columns, finish);
    unit.release();
  }

  std::unique_ptr<GemmLibrary> plain_ = make_integer_gemm(8);
};

}  // namespace

std::unique_ptr<GemmLibrary> make_emulated_amx_gemm(std::unique_ptr<GemmLibrary> other) {
  return std::make_unique<AmxGemm<amx::EmulatedTiles>>(std::move(other));
}
std::unique_ptr<GemmLibrary> make_emulated_amx_integer_gemm() {
  return std::make_unique<AmxIntegerGemm<amx::EmulatedTiles>>();
}
std::unique_ptr<GemmLibrary> make_amx_gemm(std::unique_ptr<GemmLibrary> other) {
  return std::make_unique<AmxGemm<amx::HardwareTiles>>(std::move(other));
}
std::unique_ptr<GemmLibrary> make_amx_integer_gemm() {
  return std::make_unique<AmxIntegerGemm<amx::HardwareTiles>>();
}

#else

std::unique_ptr<GemmLibrary> make_emulated_amx_gemm(std::unique_ptr<GemmLibrary> other) {
  return other;
}
std::unique_ptr<GemmLibrary> make_emulated_amx_integer_gemm() {
  return nullptr;
}
std::unique_ptr<GemmLibrary> make_amx_gemm(std::unique_ptr<GemmLibrary> other) {
  return other;
}
std::unique_ptr<GemmLibrary> make_amx_integer_gemm() {
  return nullptr;
}

#endif

}  // namespace encore::kernels
