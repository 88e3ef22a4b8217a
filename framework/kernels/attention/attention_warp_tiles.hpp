// SPDX-License-Identifier: BSD-3-Clause
// Tiles of attention by tensor cores, as a warp handles them: rows in shared memory, rows in registers as
// factors, sums in registers. attention_warp.hpp and attention_warp_backward.hpp compute with them. The
// places of elements in a lane are those of tensor_core.hpp and must stay. Read next: tensor_core.hpp.
#pragma once

#include <encore/rows.hpp>

#include "kernels/attention/attention_problem.hpp"
#include "kernels/attention/tensor_core.hpp"

namespace encore::kernels {

inline constexpr int tile_rows = 16;          // of queries, and of keys
inline constexpr int pieces = tile_rows / 8;  // results C side by side of two such tiles

/// SliceRows in 32 bits: rows of a head, row i at data + i * row, where i counts within a sequence.
template <class T>
struct HeadRows {
  T* data;
  std::uint32_t row;

  KOKKOS_FORCEINLINE_FUNCTION T* at(int i, int column) const {
    return data + (std::uint64_t{static_cast<std::uint32_t>(i)} * row + static_cast<std::uint32_t>(column));
  }
  KOKKOS_FORCEINLINE_FUNCTION HeadRows from(int i) const { return {at(i, 0), row}; }
};

/// Holds rows of tile_rows x D as factors A.
template <int D>
struct RowFactors {
  std::uint32_t a[D / 16][4];

  RowFactors() = default;
  /// Reads straight from memory, with zeros after the first `rows` rows.
  KOKKOS_INLINE_FUNCTION RowFactors(int lane, const HeadRows<const bfloat16>& from, int rows) {
    const int g = lane >> 2, t = lane & 3;
    const bfloat16* const upper = from.at(g, 2 * t);
    const bfloat16* const lower = from.at(g + 8, 2 * t);
    const bool has_upper = g < rows, has_lower = g + 8 < rows;
    unroll<D / 16>([&](const int k) {
      a[k][0] = has_upper ? word_at(upper + 16 * k) : 0;
      a[k][1] = has_lower ? word_at(lower + 16 * k) : 0;
      a[k][2] = has_upper ? word_at(upper + 16 * k + 8) : 0;
      a[k][3] = has_lower ? word_at(lower + 16 * k + 8) : 0;
    });
  }
};

/// A value for each pair of two tiles: of rows g and g + 8, as in C.
struct PairValues {
  float c[pieces][4];
};

/// The values of a PairValues, rounded, as a factor A of the next product.
struct PairFactors {
  std::uint32_t a[4];

  KOKKOS_FORCEINLINE_FUNCTION static PairFactors zeros() { return {{0, 0, 0, 0}}; }
  KOKKOS_FORCEINLINE_FUNCTION static PairFactors of(const PairValues& values) {
    const auto& c = values.c;
    return {{pack_pair(c[0][0], c[0][1]), pack_pair(c[0][2], c[0][3]), pack_pair(c[1][0], c[1][1]),
             pack_pair(c[1][2], c[1][3])}};
  }
  template <class Warp>
  KOKKOS_FORCEINLINE_FUNCTION PairFactors transposed(const Warp& warp) const {
    return {{warp.transpose(a[0]), warp.transpose(a[2]), warp.transpose(a[1]), warp.transpose(a[3])}};
  }
};

/// A tile_rows x D in the warp's part of shared memory.
template <int D>
struct TileRows {
  static constexpr int row = D + 8;  // rows begin in different banks
  static constexpr int size = tile_rows * row;
  static constexpr int across = D / 8, chunks = tile_rows * across / warp_lanes;  // chunks that a lane copies
  bfloat16* data;

  /// Begins to copy, with zeros after the first `rows` rows.
  template <class Warp>
  KOKKOS_INLINE_FUNCTION void load(const Warp& warp, const HeadRows<const bfloat16>& from, int rows) const {
    const int i = chunk_row(warp.lane), d = chunk_column(warp.lane);
    bfloat16* const to = data + i * row + d;
    const bfloat16* const source = from.at(i, d);
    unroll<chunks>([&](const int n) {
      warp.copy_chunk(to + n * step * row, source + n * step * from.row, i + n * step < rows);
    });
  }
  /// The chunks of a lane are in rows `step` apart.
  static constexpr int step = warp_lanes / across;
  KOKKOS_FORCEINLINE_FUNCTION static int chunk_row(int lane) {
    return static_cast<int>(static_cast<std::uint32_t>(lane) / across);
  }
  KOKKOS_FORCEINLINE_FUNCTION static int chunk_column(int lane) {
    return static_cast<int>(static_cast<std::uint32_t>(lane) % across * 8);
  }

  template <class Warp>
  KOKKOS_INLINE_FUNCTION RowFactors<D> factors(const Warp& warp) const {
    RowFactors<D> result;
    unroll<D / 16>([&](const int k) { warp.load_rows(data + 16 * k, row, result.a[k]); });
    return result;
  }

  /// Computes products of other rows with these.
  template <class Warp>
  KOKKOS_INLINE_FUNCTION PairValues multiply(const Warp& warp, const RowFactors<D>& others) const {
    PairValues results;
    unroll<pieces>([&](const int n) { unroll<4>([&](const int e) { results.c[n][e] = 0.0F; }); });
    unroll<D / 16>([&](const int k) {
      std::uint32_t b[4];
      warp.load_transposed(data + 16 * k, row, b);
      warp.multiply(others.a[k], b[0], b[1], results.c[0]);
      warp.multiply(others.a[k], b[2], b[3], results.c[1]);
    });
    return results;
  }
};

/// The sums of tile_rows x D.
template <int D>
struct RowSums {
  float c[D / 8][4];

  KOKKOS_INLINE_FUNCTION RowSums() {
    unroll<D / 8>([&](const int n) { unroll<4>([&](const int e) { c[n][e] = 0.0F; }); });
  }

  /// Multiplies element e of every C by the factor of its row.
  KOKKOS_INLINE_FUNCTION void scale(float upper, float lower) {
    unroll<D / 8>([&](const int n) { unroll<4>([&](const int e) { c[n][e] *= e < 2 ? upper : lower; }); });
  }

  /// Adds weights times rows.
  template <class Warp>
  KOKKOS_INLINE_FUNCTION void add(const Warp& warp, const PairFactors& weights, const TileRows<D>& rows) {
    unroll<D / 16>([&](const int n) {
      std::uint32_t b[4];
      warp.load_columns(rows.data + 16 * n, TileRows<D>::row, b);
      warp.multiply(weights.a, b[0], b[1], c[2 * n]);
      warp.multiply(weights.a, b[2], b[3], c[2 * n + 1]);
    });
  }

  /// Writes through shared memory, whose rows the other lanes may still read before: a warp then writes whole
  /// rows, 16 bytes a lane.
  template <class Warp>
  KOKKOS_INLINE_FUNCTION void store(const Warp& warp, const TileRows<D>& by, int rows,
                                    const HeadRows<bfloat16>& to) const {
    using Tile = TileRows<D>;
    struct alignas(16) Chunk {
      std::uint32_t words[4];
    };
    warp.wait();
    bfloat16* const upper = by.data + (warp.lane >> 2) * Tile::row + (warp.lane & 3) * 2;
    unroll<D / 8>([&](const int n) {
      *reinterpret_cast<std::uint32_t*>(upper + 8 * n) = pack_pair(c[n][0], c[n][1]);
      *reinterpret_cast<std::uint32_t*>(upper + 8 * Tile::row + 8 * n) = pack_pair(c[n][2], c[n][3]);
    });
    warp.wait();
    const int i = Tile::chunk_row(warp.lane), d = Tile::chunk_column(warp.lane);
    const bfloat16* const source = by.data + i * Tile::row + d;
    bfloat16* const target = to.at(i, d);
    unroll<Tile::chunks>([&](const int n) {
      if (i + n * Tile::step < rows)
        *reinterpret_cast<Chunk*>(target + n * Tile::step * to.row) =
            *reinterpret_cast<const Chunk*>(source + n * Tile::step * Tile::row);
    });
  }
};

/// Tiles of two matrices' rows that a warp visits: keys and values, or queries and gradients of results. It
/// takes as many at a time as leave memory for other warps: one wait for two tiles is shorter than two.
template <int D>
struct VisitedTiles {
  static constexpr int tiles = D <= 64 ? 2 : 1, rows = tiles * tile_rows;
  static constexpr int size = 2 * tiles * TileRows<D>::size;
  bfloat16* data;

  KOKKOS_INLINE_FUNCTION TileRows<D> first(int tile) const { return {data + 2 * tile * TileRows<D>::size}; }
  KOKKOS_INLINE_FUNCTION TileRows<D> second(int tile) const {
    return {data + (2 * tile + 1) * TileRows<D>::size};
  }

  /// Visits the tiles from `begin` to `end`, at least one, in ascending order: visit(first, second, from).
  /// meanwhile(from) runs before, if there is a copy in progress.
  template <class Warp, class Meanwhile, class Visit>
  KOKKOS_FORCEINLINE_FUNCTION void each(const Warp& warp, const HeadRows<const bfloat16>& of_first,
                                        const HeadRows<const bfloat16>& of_second, int begin, int end,
                                        const Meanwhile& meanwhile, const Visit& visit) const {
    int tile = 0, from = begin;
    do {
      if (tile == 0) {
        warp.wait();
        unroll<tiles>([&](const int next) {
          const int row = from + next * tile_rows;
          if (next > 0 && row >= end) return;
          first(next).load(warp, of_first.from(row), end - row);
          second(next).load(warp, of_second.from(row), end - row);
        });
      }
      meanwhile(from);
      if (tile == 0) warp.wait_for_copies();
      visit(first(tile), second(tile), from);
      tile = tile + 1 == tiles ? 0 : tile + 1;
      from += tile_rows;
    } while (from < end);
  }
};

}  // namespace encore::kernels
