// SPDX-License-Identifier: BSD-3-Clause
// Implements permission() and request_tiles() of amx_tiles.hpp: finds out once whether this process may
// multiply by the tiles of AMX: it asks the CPU and Linux, then compares a small product with the emulation.
// gemm.cpp chooses its library by the answer. Read amx_tiles.hpp first.
#include "kernels/products/amx_tiles.hpp"

#include <cerrno>
#include <cstdint>

#if ENCORE_HAVE_TILE_INSTRUCTIONS && defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif
#ifdef ENCORE_HAVE_ONEDNN
#include <oneapi/dnnl/dnnl.hpp>
#endif

namespace encore::kernels::amx {

#if ENCORE_HAVE_TILE_INSTRUCTIONS && defined(__linux__)

bool request_tiles() {
  constexpr long request_permission = 0x1023, tile_data = 18;
  return ::syscall(SYS_arch_prctl, request_permission, tile_data) == 0;
}

#else

bool request_tiles() {
  return false;
}

#endif

// The products are built where AVX512_BF16 is (bfloat16_tile.hpp).
#if ENCORE_HAVE_TILE_INSTRUCTIONS && defined(__linux__) && defined(__AVX512BF16__)

namespace {

/// Returns whether ONEDNN_MAX_CPU_ISA leaves AMX to the process, so that one variable disables it everywhere.
bool allowed_by_onednn() {
#ifdef ENCORE_HAVE_ONEDNN
  const auto allowed = static_cast<unsigned>(dnnl::get_effective_cpu_isa());
  constexpr auto tiles = static_cast<unsigned>(dnnl::cpu_isa::avx512_core_amx);
  return (allowed & tiles) == tiles;
#else
  return true;
#endif
}

using TileBytes = std::array<std::byte, tile_bytes>;

/// Computes sums += a b with a unit.
template <class Unit>
TileBytes multiplied(const TileBytes& a, const TileBytes& b, TileBytes sums, bool pairs) {
  Unit unit;
  unit.configure();
  unit.template load<0>(sums.data(), row_bytes);
  unit.template load<4>(a.data(), row_bytes);
  unit.template load<6>(b.data(), row_bytes);
  if (pairs)
    unit.template multiply_pairs<0, 4, 6>();
  else
    unit.template multiply_bytes<0, 4, 6>();
  unit.template store<0>(sums.data(), row_bytes);
  unit.release();
  return sums;
}

/// Checks a unit with small integers, whose sums are exact in any order: a correct unit gives these bits even
/// if the order within an instruction is not the documented one.
template <class Factor>
bool computes_rightly(bool pairs) {
  std::array<Factor, tile_bytes / sizeof(Factor)> a, b;
  const auto small = [](std::size_t i, std::size_t salt) { return (i * 7 + i / 31 + salt) % 11; };
  for (std::size_t i = 0; i < a.size(); ++i) {
    if constexpr (sizeof(Factor) == 1) {
      a[i] = static_cast<Factor>(small(i, 1) * 20);
      b[i] = static_cast<Factor>(small(i, 5) - 5);
    } else {
      const auto bits = [](std::size_t n) {
        return static_cast<Factor>(__builtin_bit_cast(std::uint32_t, static_cast<float>(n) - 5.0F) >> 16);
      };
      a[i] = bits(small(i, 1));
      b[i] = bits(small(i, 5));
    }
  }
  const auto bytes = [](const auto& values) { return __builtin_bit_cast(TileBytes, values); };
  return multiplied<HardwareTiles>(bytes(a), bytes(b), TileBytes{}, pairs) ==
         multiplied<EmulatedTiles>(bytes(a), bytes(b), TileBytes{}, pairs);
}

Permission find_out() {
  __builtin_cpu_init();
  if (!__builtin_cpu_supports("amx-tile")) return {};
  if (!allowed_by_onednn()) return {.reason = "ONEDNN_MAX_CPU_ISA forbids AMX"};
  if (!request_tiles())
    return {.reason =
                "the system gives no tile registers (arch_prctl: " + std::string(std::strerror(errno)) + ")"};
  Permission found;
  found.bfloat16 = __builtin_cpu_supports("amx-bf16") && computes_rightly<std::uint16_t>(true);
  found.bytes = __builtin_cpu_supports("amx-int8") && computes_rightly<std::uint8_t>(false);
  if (__builtin_cpu_supports("amx-bf16") && !found.bfloat16)
    found.reason = "a product of bfloat16 tiles was wrong";
  else if (__builtin_cpu_supports("amx-int8") && !found.bytes)
    found.reason = "a product of byte tiles was wrong";
  return found;
}

}  // namespace

#else

namespace {

Permission find_out() {
  return {};
}

}  // namespace

#endif

const Permission& permission() {
  static const Permission found = find_out();
  return found;
}

}  // namespace encore::kernels::amx
