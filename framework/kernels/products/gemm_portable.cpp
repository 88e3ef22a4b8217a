// SPDX-License-Identifier: BSD-3-Clause
// The portable library of products, for kernels::gemm (gemm.cpp), of any type. It is used for double on the
// host, where the faster library is missing, and where products are to be batch-invariant: an element is the
// same sums over k in the same order, in any tile. On the host: tiles of C by panel_product.hpp, each tile
// one task of one thread, K cut into blocks that are added in order. For HIP: Kokkos Kernels.
#include "kernels/products/gemm.hpp"
#include "kernels/products/panel_product.hpp"
#include "kernels/transpose_square.hpp"

#include <encore/view.hpp>

#if ENCORE_HOST_BACKEND
#include "kernels/products/host_tiles.hpp"
#else
#include <KokkosBlas3_gemm.hpp>

#include "kernels/products/gemm_epilogue.hpp"
#endif

namespace encore::kernels {
namespace {

#if ENCORE_HOST_BACKEND

/// T: type of a and b; C: type of c; sums are in Sum<T>. `Rows` and `columns` fit the first-level cache with
/// a block of K. A weight that is laid out lies in panels of tile_columns columns, (K, tile_columns) each.
template <class T, class C>
struct HostProduct {
  using S = Sum<T>;
  static constexpr std::int64_t tile_rows = 48;
  static constexpr std::int64_t tile_columns = panel_packs * lanes<S>;
  static constexpr std::int64_t tile_inner = 128;

  const T* a;
  const T* b;
  const S* layout;  ///< of b, or null
  C* c;
  const S* bias;
  std::int64_t rows, columns, inner;
  bool transpose_a, transpose_b, relu, accumulate, batch_invariant;
  Product whole;

  void operator()(std::int64_t tile) const {
    const std::int64_t column_tiles = (columns + tile_columns - 1) / tile_columns;
    const std::int64_t row0 = tile / column_tiles * tile_rows;
    const std::int64_t column0 = tile % column_tiles * tile_columns;
    const std::int64_t height = std::min(tile_rows, rows - row0);
    const std::int64_t width = std::min(tile_columns, columns - column0);
    // A tile of a single row may have other bits than a row among others (row_product), so it gets two.
    const bool twice = batch_invariant && height == 1;
    alignas(64) S packed_a[tile_rows * tile_inner];
    alignas(64) S packed_b[tile_inner * tile_columns];
    alignas(64) S sums[tile_rows * tile_columns];
    std::fill_n(sums, (twice ? 2 : height) * tile_columns, S(0));
    for (std::int64_t k0 = 0; k0 < inner; k0 += tile_inner) {
      const std::int64_t depth = std::min(tile_inner, inner - k0);
      const S* block = packed_b;
      if (layout != nullptr)
        block = layout + column0 * inner + k0 * tile_columns;
      else if (transpose_b)
        pack_transposed(b + column0 * inner + k0, width, depth, packed_b);
      else
        pack(b + k0 * columns + column0, width, depth, packed_b);
      Strided<S> from = rows_from(row0, height, k0, depth, packed_a);
      if (twice) from.row = 0;
      // If another block of the panel follows, it is prefetched.
      const bool follows = layout != nullptr && k0 + 2 * tile_inner <= inner;
      panel_product<S>(twice ? 2 : height, depth, from, block,
                       follows ? block + tile_inner * tile_columns : nullptr, sums);
    }
    for (std::int64_t i = 0; i < height; ++i)
      for (std::int64_t j = 0; j < width; ++j) {
        C& to = c[(row0 + i) * columns + column0 + j];
        S value = sums[i * tile_columns + j];
        if (bias != nullptr) value += bias[column0 + j];
        if (accumulate) value += static_cast<S>(to);
        if (relu && value < S(0)) value = S(0);
        to = static_cast<C>(value);
      }
    apply_derivative<C>(whole, {row0, height, column0, width});
    if (whole.sums && column0 == 0) add_column_sums<T>(whole, row0, height);
  }

  /// Returns the columns of all panels of a weight that is laid out.
  static std::int64_t padded_columns(std::int64_t columns) {
    return (columns + tile_columns - 1) / tile_columns * tile_columns;
  }
  /// Lays out the panel of b's columns from column0 on. pack_transposed rounds the depth up to whole vectors,
  /// so the last ones go through a block of their own.
  void lay_out_panel(std::int64_t column0, S* to) const {
    const std::int64_t width = std::min(tile_columns, columns - column0);
    alignas(64) S block[tile_inner * tile_columns];
    for (std::int64_t k0 = 0; k0 < inner; k0 += tile_inner) {
      const std::int64_t depth = std::min(tile_inner, inner - k0);
      pack_transposed(b + column0 * inner + k0, width, depth, block);
      std::copy_n(block, depth * tile_columns, to + k0 * tile_columns);
    }
  }

 private:
  /// Returns `height` rows of a from row0 on, `depth` elements of each from k0 on: where they lie, or packed.
  Strided<S> rows_from(std::int64_t row0, std::int64_t height, std::int64_t k0, std::int64_t depth,
                       S* packed) const {
    if constexpr (std::is_same_v<T, S>) {
      if (!transpose_a) return {a + row0 * inner + k0, inner, 1};
    }
    for (std::int64_t i = 0; i < height; ++i)
      for (std::int64_t k = 0; k < depth; ++k)
        packed[i * tile_inner + k] =
            static_cast<S>(transpose_a ? a[(k0 + k) * rows + row0 + i] : a[(row0 + i) * inner + k0 + k]);
    return {packed, tile_inner, 1};
  }

  /// Sets to (depth, tile_columns) = from (depth, width), stored with rows of `columns`; the other columns
  /// are zero.
  void pack(const T* from, std::int64_t width, std::int64_t depth, S* to) const {
    for (std::int64_t k = 0; k < depth; ++k)
      for (std::int64_t j = 0; j < tile_columns; ++j)
        to[k * tile_columns + j] = j >= width ? S(0) : static_cast<S>(from[k * columns + j]);
  }

  /// Packs a tile that is stored transposed, (width, depth) with rows of `inner`.
  void pack_transposed(const T* from, std::int64_t width, std::int64_t depth, S* to) const {
    for (std::int64_t j0 = 0; j0 < tile_columns; j0 += lanes<S>)
      for (std::int64_t k0 = 0; k0 < depth; k0 += lanes<S>)
        transpose_block<S>(
            width - j0, depth - k0,
            [&](std::int64_t j) __attribute__((always_inline)) {
              return load_part(from + (j0 + j) * inner + k0, depth - k0);
            },
            [&](std::int64_t k, const Pack<S>& column)
                __attribute__((always_inline)) { store<S>(to + (k0 + k) * tile_columns + j0, column); });
  }

  /// Returns a vector of S with its last elements zero if `count` is less.
  static Pack<S> load_part(const T* from, std::int64_t count) {
    S part[lanes<S>] = {};
    if (count >= lanes<S>)
      for (std::int64_t l = 0; l < lanes<S>; ++l) part[l] = static_cast<S>(from[l]);
    else
      for (std::int64_t l = 0; l < count; ++l) part[l] = static_cast<S>(from[l]);
    return load(part);
  }
};

template <class T>
std::size_t layout_bytes_typed(const Tensor& weight) {
  return static_cast<std::size_t>(HostProduct<T, T>::padded_columns(weight.extent(0)) * weight.extent(1)) *
         sizeof(Sum<T>);
}

template <class T>
void lay_out_typed(const Device& device, const Tensor& weight, void* to) {
  using Kernel = HostProduct<T, T>;
  Kernel kernel{};
  kernel.b = elements<T>(weight);
  kernel.columns = weight.extent(0);
  kernel.inner = weight.extent(1);
  auto* const panels = static_cast<Sum<T>*>(to);
  Kokkos::parallel_for("encore::gemm_lay_out",
                       Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::int64_t>>(
                           device.space(), 0, Kernel::padded_columns(kernel.columns) / Kernel::tile_columns),
                       [=](std::int64_t panel) {
                         const std::int64_t column0 = panel * Kernel::tile_columns;
                         kernel.lay_out_panel(column0, panels + column0 * kernel.inner);
                       });
}

template <class T, class C>
void multiply_typed(const Device& device, const Product& p) {
  using Kernel = HostProduct<T, C>;
  const Kernel kernel{elements<T>(p.a),
                      elements<T>(p.b),
                      static_cast<const Sum<T>*>(p.layout),
                      elements<C>(p.c),
                      p.bias ? elements<Sum<T>>(p.bias) : nullptr,
                      p.rows(),
                      p.columns(),
                      p.inner(),
                      p.transpose_a,
                      p.transpose_b,
                      p.relu,
                      p.accumulate,
                      device.gemm().batch_invariant(),
                      p};
  const std::int64_t tiles = (p.rows() + Kernel::tile_rows - 1) / Kernel::tile_rows *
                             ((p.columns() + Kernel::tile_columns - 1) / Kernel::tile_columns);
  Kokkos::parallel_for(
      "encore::gemm",
      Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::int64_t>, Kokkos::Schedule<Kokkos::Dynamic>>(
          device.space(), 0, tiles, Kokkos::ChunkSize(1)),
      kernel);
}

#else

template <class T>
auto kokkos_matrix(const Tensor& tensor) {
  return Kokkos::View<T**, Kokkos::LayoutRight, DeviceMemory, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(
      elements<T>(tensor), tensor.extent(0), tensor.extent(1));
}

template <class T, class C>
void multiply_typed(const Device& device, const Product& p) {
  if constexpr (sizeof(T) == 2) {
    throw Error(std::string("Kokkos Kernels has no products of ") + name_of(p.a.dtype) +
                " matrices; set precision = \"float32\"");
  } else {
    const ExecutionSpace& space = device.space();
    KokkosBlas::gemm(space, p.transpose_a ? "T" : "N", p.transpose_b ? "T" : "N", T(1), kokkos_matrix<T>(p.a),
                     kokkos_matrix<T>(p.b), p.accumulate ? T(1) : T(0), kokkos_matrix<C>(p.c));
    finish_product(device, p, true);  // Kokkos Kernels has no epilogue
  }
}

#endif

class PortableGemm final : public GemmLibrary {
 public:
  std::string name() const override {
    return ENCORE_HOST_BACKEND ? "Encore's portable gemm" : "Kokkos Kernels";
  }

  bool multiplies(DType type) const override {
    return is_activation(type) && (ENCORE_HOST_BACKEND || size_of(type) > 2);
  }

#if ENCORE_HOST_BACKEND
  std::size_t layout_bytes(const Tensor& weight) const override {
    std::size_t bytes = 0;
    dispatch(weight.dtype, [&](auto type) { bytes = layout_bytes_typed<decltype(type)>(weight); });
    return bytes;
  }
  void lay_out(const Device& device, const Tensor& weight, void* to) override {
    dispatch(weight.dtype, [&](auto type) { lay_out_typed<decltype(type)>(device, weight, to); });
  }
#endif

  void multiply(const Device& device, const Product& p) override {
    dispatch(p.a.dtype, [&](auto type) {
      using T = decltype(type);
      if (p.c.dtype == p.a.dtype)
        multiply_typed<T, T>(device, p);
      else
        multiply_typed<T, Sum<T>>(device, p);
    });
  }
};

}  // namespace

std::unique_ptr<GemmLibrary> make_portable_gemm() {
  return std::make_unique<PortableGemm>();
}

}  // namespace encore::kernels
