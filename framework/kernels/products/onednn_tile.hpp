// SPDX-License-Identifier: BSD-3-Clause
// make_tile_product(): a tile of a matrix product c = a b as a oneDNN primitive that one thread runs.
// gemm_onednn.cpp cuts products into tiles by shapes only; the first comment of that file says why. Only
// onednn_tile.cpp and gemm_onednn.cpp know the types of oneDNN. A field may be added to OnednnTileShape, but
// never a number of threads, because the bits of a product must not depend on it.
#pragma once

#ifdef ENCORE_HAVE_ONEDNN

#include <compare>
#include <cstdint>
#include <vector>

#include <oneapi/dnnl/dnnl.hpp>

#include <encore/tensor.hpp>

namespace encore::kernels {

/// Everything on which a tile's primitive depends. Tiles of equal shape share one primitive.
struct OnednnTileShape {
  std::int64_t rows, columns, inner;  // of the tile: c is rows x columns, the sums have `inner` terms
  std::int64_t a_row, b_row, c_row;   // elements between the stored rows of the operands
  bool transpose_a, transpose_b, bias, relu, accumulate;
  /// b is stored in the order that oneDNN chooses for tiles of this shape. At most one of `packed` and
  /// `laid_out` is true; if neither is, b is stored row by row.
  bool packed;
  /// b is stored in the order that oneDNN chose for full tiles. This tile may have fewer rows than a full
  /// one.
  bool laid_out;
  DType in, out;
  auto operator<=>(const OnednnTileShape&) const = default;
};

/// Copies some columns of a tile's b to their places in the packed b of the tile.
struct Pack {
  dnnl::reorder primitive;
  dnnl::memory::desc from, to, scratch;
  std::int64_t column;  // the first of these columns, counted within the tile
};

/// The primitive of a tile, with the descriptions of its operands.
struct TileProduct {
  dnnl::matmul primitive;
  dnnl::memory::desc a, b, c, bias, scratch;
  std::vector<Pack> packs;  // empty unless OnednnTileShape::packed
  /// Whether oneDNN computes the tile by blocks of b. Each sum then runs along the inner extent from its
  /// beginning to its end, so its bits do not depend on the order in which b is stored.
  bool by_blocks;
};

/// Makes the primitive of a tile. `order` is read only if the shape is `laid_out`: the order in which b is
/// stored. Throws dnnl::error if oneDNN has no such product.
TileProduct make_tile_product(const dnnl::engine& cpu, const OnednnTileShape& shape,
                              const dnnl::memory::desc& order = {});

/// Returns whether oneDNN has bfloat16 products here: it has them only for CPUs with AVX-512 (emulated before
/// AVX512_BF16).
bool can_make_bfloat16(const dnnl::engine& cpu);

}  // namespace encore::kernels

#endif
