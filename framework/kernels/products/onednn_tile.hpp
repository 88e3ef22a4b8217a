// SPDX-License-Identifier: BSD-3-Clause
// A tile of a matrix product as a oneDNN primitive that one thread runs. gemm_onednn.cpp cuts products into
// these, by shapes only; its head says why. Only onednn_tile.cpp and gemm_onednn.cpp know the types of
// oneDNN.
#pragma once

#ifdef ENCORE_HAVE_ONEDNN

#include <compare>
#include <cstdint>
#include <vector>

#include <oneapi/dnnl/dnnl.hpp>

#include <encore/tensor.hpp>

namespace encore::kernels {

/// Everything on which a tile's primitive depends.
struct OnednnTileShape {
  std::int64_t rows, columns, inner;
  std::int64_t a_row, b_row, c_row;  // elements between the stored rows of the operands
  bool transpose_a, transpose_b, bias, relu, accumulate;
  bool packed;    // b comes in the order that oneDNN chooses for tiles of this shape
  bool laid_out;  // or in the one that it chose for others; not both
  DType in, out;
  auto operator<=>(const OnednnTileShape&) const = default;
};

/// Packs some columns of a tile's b into the order of the whole.
struct Pack {
  dnnl::reorder primitive;
  dnnl::memory::desc from, to, scratch;
  std::int64_t column;  // the first, within the tile
};

struct TileProduct {
  dnnl::matmul primitive;
  dnnl::memory::desc a, b, c, bias, scratch;
  std::vector<Pack> packs;  // only where packed
  /// Whether it is computed by blocks of b, each sum along the inner extent from its beginning to its end.
  bool by_blocks;
};

/// `order`: that of b, if it is laid out. Throws dnnl::error if oneDNN has no such product.
TileProduct make_tile_product(const dnnl::engine& cpu, const OnednnTileShape& shape,
                              const dnnl::memory::desc& order = {});

/// Returns whether oneDNN has bfloat16 products here: it has them only for CPUs with AVX-512 (emulated before
/// AVX512_BF16).
bool can_make_bfloat16(const dnnl::engine& cpu);

}  // namespace encore::kernels

#endif
