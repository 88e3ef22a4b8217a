// SPDX-License-Identifier: BSD-3-Clause
// Tile units: the eight tile registers of AMX (Intel SDM volume 1, chapter 18) and their multiplication, as
// an object. HardwareTiles are those of the thread; EmulatedTiles compute the same in plain C++, bit for bit,
// for the tests and for the check by permission() (amx_permission.cpp), which gemm.cpp calls to choose its
// library. Read next: amx_product.hpp, which computes products with either.
//
// Every tile has 16 rows of 64 bytes. Tiles are numbered by template arguments, because instructions hold
// their numbers. The instructions are written as assembly: g++ 12's intrinsics take only literals and do not
// declare which memory they read.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__CUDACC__) && !defined(__HIPCC__)
#define ENCORE_HAVE_TILE_INSTRUCTIONS 1
#else
#define ENCORE_HAVE_TILE_INSTRUCTIONS 0
#endif

namespace encore::kernels::amx {

inline constexpr int tile_rows = 16;
inline constexpr int row_bytes = 64;
inline constexpr int tile_bytes = tile_rows * row_bytes;
inline constexpr int tile_count = 8;

/// Says whether this process may use AMX; found out once. `reason` says why not; empty if the CPU has no AMX.
struct Permission {
  bool bfloat16 = false, bytes = false;
  std::string reason;
};
/// Asks, on a host backend, the CPU, ONEDNN_MAX_CPU_ISA (which may forbid it), and the system, which saves
/// these registers only for processes that ask for them (Linux 5.16: arch_prctl, ARCH_REQ_XCOMP_PERM). Then
/// it computes a small product of each kind and compares it with the emulation.
const Permission& permission();
/// Asks only the operating system for the tile registers.
bool request_tiles();

#if ENCORE_HAVE_TILE_INSTRUCTIONS

/// The operand of LDTILECFG, with all tiles whole.
struct alignas(64) TileShapes {
  std::uint8_t palette = 1, start_row = 0;
  std::array<std::uint8_t, 14> reserved = {};
  std::array<std::uint16_t, 16> bytes = {64, 64, 64, 64, 64, 64, 64, 64};
  std::array<std::uint8_t, 16> rows = {16, 16, 16, 16, 16, 16, 16, 16};
};
static_assert(sizeof(TileShapes) == 64);

struct HardwareTiles {
  static constexpr const char* name = "amx_bf16";

  /// Call it in the thread that uses the tiles, and release() in the same one before it does anything else:
  /// oneDNN configures tiles of its own, and the system need not save unused tiles.
  static void configure() {
    static constexpr TileShapes shapes;
    __asm__ volatile("ldtilecfg %0" ::"m"(shapes));
  }
  static void release() { __asm__ volatile("tilerelease" ::: "memory"); }

  template <int Tile>
  static void zero() {
    __asm__ volatile("tilezero %%tmm%c0" ::"i"(Tile));
  }
  /// Rows lie `stride` bytes apart.
  template <int Tile>
  static void load(const void* from, std::int64_t stride) {
    __asm__ volatile("tileloadd (%0,%1,1), %%tmm%c2" ::"r"(from), "r"(stride), "i"(Tile) : "memory");
  }
  template <int Tile>
  static void store(void* to, std::int64_t stride) {
    __asm__ volatile("tilestored %%tmm%c2, (%0,%1,1)" ::"r"(to), "r"(stride), "i"(Tile) : "memory");
  }
  /// Computes sums (16, 16) of float32 += a (16, 32) b (16, 16, 2) of bfloat16.
  template <int Sums, int A, int B>
  static void multiply_pairs() {
    __asm__ volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(Sums), "i"(A), "i"(B));
  }
  /// Computes sums (16, 16) of int32 += a (16, 64) of unsigned bytes times b (16, 16, 4) of signed ones.
  template <int Sums, int A, int B>
  static void multiply_bytes() {
    __asm__ volatile("tdpbusd %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(Sums), "i"(A), "i"(B));
  }
};

#endif

/// Arithmetic of TDPBF16PS as the SDM (volume 2, "TDPBF16PS", operation) has it: for each element of the sums
/// two sums over the row of a, of its even and of its odd elements, each by fma from 0; then these are added
/// to each other, and that to the element. Rounded to nearest, ties to even; denormal operands count as zero,
/// and denormal results become zero, whatever the state of the thread is.
namespace arithmetic {

inline constexpr float least_normal = 0x1p-126F;

inline float flushed(float x) {
  return std::fabs(x) < least_normal ? std::copysign(0.0F, x) : x;
}
/// a * b + sum. Whether a result is denormal is decided after rounding to 24 bits, as elsewhere with SSE:
/// only one that has been rounded up to the smallest normal number needs to be looked at.
inline float multiply_add(float a, float b, float sum) {
  const float result = std::fma(a, b, sum);
  if (std::fabs(result) == least_normal && std::fabs(static_cast<double>(a) * static_cast<double>(b) +
                                                     static_cast<double>(sum)) < 0x1p-126 - 0x1p-151)
    return std::copysign(0.0F, result);
  return flushed(result);
}
inline float add(float x, float y) {
  return flushed(flushed(x) + flushed(y));
}
inline float from_bfloat16(std::uint16_t bits) {
  const std::uint32_t wide = static_cast<std::uint32_t>(bits) << 16;
  float value;
  std::memcpy(&value, &wide, sizeof(value));
  return flushed(value);
}

inline void multiply_pairs(std::byte* sums, const std::byte* a, const std::byte* b) {
  std::array<std::array<float, 16>, tile_rows> c;
  std::array<std::array<std::uint16_t, 32>, tile_rows> rows, pairs;
  std::memcpy(c.data(), sums, tile_bytes);
  std::memcpy(rows.data(), a, tile_bytes);
  std::memcpy(pairs.data(), b, tile_bytes);
  for (std::size_t m = 0; m < 16; ++m) {
    std::array<float, 16> even = {}, odd = {};
    for (std::size_t k = 0; k < 16; ++k)
      for (std::size_t n = 0; n < 16; ++n) {
        even[n] = multiply_add(from_bfloat16(rows[m][2 * k]), from_bfloat16(pairs[k][2 * n]), even[n]);
        odd[n] = multiply_add(from_bfloat16(rows[m][2 * k + 1]), from_bfloat16(pairs[k][2 * n + 1]), odd[n]);
      }
    for (std::size_t n = 0; n < 16; ++n) c[m][n] = add(c[m][n], add(even[n], odd[n]));
  }
  std::memcpy(sums, c.data(), tile_bytes);
}

/// Computes TDPBUSD, which is exact modulo 2^32.
inline void multiply_bytes(std::byte* sums, const std::byte* a, const std::byte* b) {
  std::array<std::array<std::uint32_t, 16>, tile_rows> c;
  std::memcpy(c.data(), sums, tile_bytes);
  for (std::size_t m = 0; m < 16; ++m)
    for (std::size_t k = 0; k < 64; ++k)
      for (std::size_t n = 0; n < 16; ++n)
        c[m][n] += static_cast<std::uint32_t>(static_cast<std::int32_t>(a[64 * m + k]) *
                                              static_cast<std::int8_t>(b[64 * (k / 4) + 4 * n + k % 4]));
  std::memcpy(sums, c.data(), tile_bytes);
}

}  // namespace arithmetic

class EmulatedTiles {
 public:
  static constexpr const char* name = "emulated";

  void configure() { tiles_ = {}; }
  void release() {}
  template <int Tile>
  void zero() {
    tiles_[Tile] = {};
  }
  template <int Tile>
  void load(const void* from, std::int64_t stride) {
    for (int i = 0; i < tile_rows; ++i)
      std::memcpy(at(Tile) + i * row_bytes, static_cast<const std::byte*>(from) + i * stride, row_bytes);
  }
  template <int Tile>
  void store(void* to, std::int64_t stride) const {
    for (int i = 0; i < tile_rows; ++i)
      std::memcpy(static_cast<std::byte*>(to) + i * stride, tiles_[Tile].data() + i * row_bytes, row_bytes);
  }
  template <int Sums, int A, int B>
  void multiply_pairs() {
    arithmetic::multiply_pairs(at(Sums), at(A), at(B));
  }
  template <int Sums, int A, int B>
  void multiply_bytes() {
    arithmetic::multiply_bytes(at(Sums), at(A), at(B));
  }

 private:
  std::byte* at(int tile) { return tiles_[static_cast<std::size_t>(tile)].data(); }

  std::array<std::array<std::byte, tile_bytes>, tile_count> tiles_ = {};
};

}  // namespace encore::kernels::amx
