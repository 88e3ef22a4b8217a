// SPDX-License-Identifier: BSD-3-Clause
// Loops of multiply-adds and of reads that show the highest speed of the cores; machine.cpp times them.
// RegisterLoop::operations must count exactly what a loop computes. The CPU that runs them decides which
// instructions are used, not the one that compiled them. Twelve independent sums hide the latency of a
// multiply-add (4 to 6 cycles, two units). Read peaks.hpp first.
#include "bench/peaks.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>

#include "bench/clock.hpp"
#include "kernels/products/amx_tiles.hpp"

#if defined(ENCORE_DEVICE_IS_HOST) && defined(__x86_64__)
#define ENCORE_HAVE_REGISTER_LOOPS
#include <immintrin.h>
#endif

namespace encore::bench {

#if defined(ENCORE_HAVE_REGISTER_LOOPS)
namespace {

// The number of sums of a loop, by the number of registers. Each loop adds products of a small constant to
// its sums, so that they stay finite in float32.
constexpr int sums_wide = 16;    // of 32 registers
constexpr int sums_narrow = 12;  // of 16
constexpr std::size_t page = 4096;

__attribute__((target("avx512f"))) void run_float32_avx512(std::int64_t turns, float* sink) {
  __m512 sums[sums_wide];
  for (int k = 0; k < sums_wide; ++k) sums[k] = _mm512_set1_ps(static_cast<float>(k));
  const __m512 a = _mm512_set1_ps(1e-3F + *sink), b = _mm512_set1_ps(1e-3F);
  for (std::int64_t turn = 0; turn < turns; ++turn) {
#pragma GCC unroll 16
    for (int k = 0; k < sums_wide; ++k) sums[k] = _mm512_fmadd_ps(a, b, sums[k]);
  }
  for (int k = 1; k < sums_wide; ++k) sums[0] = _mm512_add_ps(sums[0], sums[k]);
  *sink += 1e-30F * _mm512_cvtss_f32(sums[0]);
}

__attribute__((target("avx512f"))) void run_float64_avx512(std::int64_t turns, float* sink) {
  __m512d sums[sums_wide];
  for (int k = 0; k < sums_wide; ++k) sums[k] = _mm512_set1_pd(static_cast<double>(k));
  const __m512d a = _mm512_set1_pd(1e-3 + static_cast<double>(*sink)), b = _mm512_set1_pd(1e-3);
  for (std::int64_t turn = 0; turn < turns; ++turn) {
#pragma GCC unroll 16
    for (int k = 0; k < sums_wide; ++k) sums[k] = _mm512_fmadd_pd(a, b, sums[k]);
  }
  for (int k = 1; k < sums_wide; ++k) sums[0] = _mm512_add_pd(sums[0], sums[k]);
  *sink += 1e-30F * static_cast<float>(_mm512_cvtsd_f64(sums[0]));
}

__attribute__((target("avx2,fma"))) void run_float32_avx2(std::int64_t turns, float* sink) {
  __m256 sums[sums_narrow];
  for (int k = 0; k < sums_narrow; ++k) sums[k] = _mm256_set1_ps(static_cast<float>(k));
  const __m256 a = _mm256_set1_ps(1e-3F + *sink), b = _mm256_set1_ps(1e-3F);
  for (std::int64_t turn = 0; turn < turns; ++turn) {
#pragma GCC unroll 12
    for (int k = 0; k < sums_narrow; ++k) sums[k] = _mm256_fmadd_ps(a, b, sums[k]);
  }
  for (int k = 1; k < sums_narrow; ++k) sums[0] = _mm256_add_ps(sums[0], sums[k]);
  *sink += 1e-30F * _mm256_cvtss_f32(sums[0]);
}

__attribute__((target("avx2,fma"))) void run_float64_avx2(std::int64_t turns, float* sink) {
  __m256d sums[sums_narrow];
  for (int k = 0; k < sums_narrow; ++k) sums[k] = _mm256_set1_pd(static_cast<double>(k));
  const __m256d a = _mm256_set1_pd(1e-3 + static_cast<double>(*sink)), b = _mm256_set1_pd(1e-3);
  for (std::int64_t turn = 0; turn < turns; ++turn) {
#pragma GCC unroll 12
    for (int k = 0; k < sums_narrow; ++k) sums[k] = _mm256_fmadd_pd(a, b, sums[k]);
  }
  for (int k = 1; k < sums_narrow; ++k) sums[0] = _mm256_add_pd(sums[0], sums[k]);
  *sink += 1e-30F * static_cast<float>(_mm256_cvtsd_f64(sums[0]));
}

__attribute__((target("avx512f,avx512bf16"))) void run_bfloat16_avx512(std::int64_t turns, float* sink) {
  __m512 sums[sums_wide];
  for (int k = 0; k < sums_wide; ++k) sums[k] = _mm512_set1_ps(static_cast<float>(k));
  const __m512 factor = _mm512_set1_ps(1e-3F + *sink);
  const __m512bh a = _mm512_cvtne2ps_pbh(factor, factor), b = a;
  for (std::int64_t turn = 0; turn < turns; ++turn) {
#pragma GCC unroll 16
    for (int k = 0; k < sums_wide; ++k) sums[k] = _mm512_dpbf16_ps(sums[k], a, b);
  }
  for (int k = 1; k < sums_wide; ++k) sums[0] = _mm512_add_ps(sums[0], sums[k]);
  *sink += 1e-30F * _mm512_cvtss_f32(sums[0]);
}

__attribute__((target("avx512f,avx512vnni"))) void run_int8_avx512(std::int64_t turns, float* sink) {
  __m512i sums[sums_wide];
  for (int k = 0; k < sums_wide; ++k) sums[k] = _mm512_set1_epi32(k);
  const __m512i a = _mm512_set1_epi8(static_cast<char>(1 + static_cast<int>(*sink))), b = _mm512_set1_epi8(1);
  for (std::int64_t turn = 0; turn < turns; ++turn) {
#pragma GCC unroll 16
    for (int k = 0; k < sums_wide; ++k) sums[k] = _mm512_dpbusd_epi32(sums[k], a, b);
  }
  for (int k = 1; k < sums_wide; ++k) sums[0] = _mm512_add_epi32(sums[0], sums[k]);
  alignas(64) std::int32_t result[16];
  _mm512_store_si512(result, sums[0]);
  *sink += 1e-30F * static_cast<float>(result[0]);
}

__attribute__((target("avx512f"))) double sum_avx512(const double* data, std::size_t count) {
  __m512d sums[8] = {};
  for (std::size_t i = 0; i + 64 <= count; i += 64) {
#pragma GCC unroll 8
    for (std::size_t k = 0; k < 8; ++k) sums[k] = _mm512_add_pd(sums[k], _mm512_load_pd(data + i + 8 * k));
  }
  for (std::size_t k = 1; k < 8; ++k) sums[0] = _mm512_add_pd(sums[0], sums[k]);
  return _mm512_cvtsd_f64(sums[0]);
}

__attribute__((target("avx2"))) double sum_avx2(const double* data, std::size_t count) {
  __m256d sums[8] = {};
  for (std::size_t i = 0; i + 32 <= count; i += 32) {
#pragma GCC unroll 8
    for (std::size_t k = 0; k < 8; ++k) sums[k] = _mm256_add_pd(sums[k], _mm256_load_pd(data + i + 4 * k));
  }
  for (std::size_t k = 1; k < 8; ++k) sums[0] = _mm256_add_pd(sums[0], sums[k]);
  return _mm256_cvtsd_f64(sums[0]);
}

/// Computes four sums from two factors on each side, as a product of matrices in blocks does. `one` is the
/// number 1 in the type of a factor.
template <class Factor, void (*Multiply)()>
float run_tiles(std::int64_t turns, Factor one) {
  using Tiles = kernels::amx::HardwareTiles;
  alignas(64) std::array<Factor, kernels::amx::tile_bytes / sizeof(Factor)> ones;
  ones.fill(one);
  Tiles::configure();
  Tiles::zero<0>();
  Tiles::zero<1>();
  Tiles::zero<2>();
  Tiles::zero<3>();
  Tiles::load<4>(ones.data(), kernels::amx::row_bytes);
  Tiles::load<5>(ones.data(), kernels::amx::row_bytes);
  Tiles::load<6>(ones.data(), kernels::amx::row_bytes);
  Tiles::load<7>(ones.data(), kernels::amx::row_bytes);
  for (std::int64_t turn = 0; turn < turns; ++turn) Multiply();
  alignas(64) std::array<std::int32_t, 16 * 16> result;
  Tiles::store<0>(result.data(), kernels::amx::row_bytes);
  Tiles::release();
  return 1e-30F * static_cast<float>(result[0]);
}

void multiply_pairs() {
  kernels::amx::HardwareTiles::multiply_pairs<0, 4, 6>();
  kernels::amx::HardwareTiles::multiply_pairs<1, 4, 7>();
  kernels::amx::HardwareTiles::multiply_pairs<2, 5, 6>();
  kernels::amx::HardwareTiles::multiply_pairs<3, 5, 7>();
}

void multiply_bytes() {
  kernels::amx::HardwareTiles::multiply_bytes<0, 4, 6>();
  kernels::amx::HardwareTiles::multiply_bytes<1, 4, 7>();
  kernels::amx::HardwareTiles::multiply_bytes<2, 5, 6>();
  kernels::amx::HardwareTiles::multiply_bytes<3, 5, 7>();
}

void run_bfloat16_amx(std::int64_t turns, float* sink) {
  constexpr std::uint16_t one = 0x3F80;
  *sink += run_tiles<std::uint16_t, multiply_pairs>(turns, one);
}

void run_int8_amx(std::int64_t turns, float* sink) {
  *sink += run_tiles<std::uint8_t, multiply_bytes>(turns, 1);
}

}  // namespace

std::vector<RegisterLoop> register_loops() {
  constexpr double wide = 2.0 * sums_wide, narrow = 2.0 * sums_narrow;
  constexpr double tile = 4.0 * 2.0 * 16.0 * 16.0;  // times the factors in 64 bytes of a row
  __builtin_cpu_init();
  std::vector<RegisterLoop> loops;
  if (__builtin_cpu_supports("avx512f")) {
    loops.push_back({.precision = "float64",
                     .instructions = "AVX-512 FMA",
                     .operations = 8 * wide,
                     .run = run_float64_avx512});
    loops.push_back({.precision = "float32",
                     .instructions = "AVX-512 FMA",
                     .operations = 16 * wide,
                     .run = run_float32_avx512});
  } else if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    loops.push_back({.precision = "float64",
                     .instructions = "AVX2 FMA",
                     .operations = 4 * narrow,
                     .run = run_float64_avx2});
    loops.push_back({.precision = "float32",
                     .instructions = "AVX2 FMA",
                     .operations = 8 * narrow,
                     .run = run_float32_avx2});
  }
  const bool tiles = __builtin_cpu_supports("amx-tile") && kernels::amx::request_tiles();
  if (tiles && __builtin_cpu_supports("amx-bf16")) {
    loops.push_back({.precision = "bfloat16",
                     .instructions = "AMX-BF16",
                     .operations = 32 * tile,
                     .run = run_bfloat16_amx});
  } else if (__builtin_cpu_supports("avx512bf16")) {
    loops.push_back({.precision = "bfloat16",
                     .instructions = "AVX512-BF16",
                     .operations = 32 * wide,
                     .run = run_bfloat16_avx512});
  }
  if (tiles && __builtin_cpu_supports("amx-int8")) {
    loops.push_back(
        {.precision = "int8", .instructions = "AMX-INT8", .operations = 64 * tile, .run = run_int8_amx});
  } else if (__builtin_cpu_supports("avx512vnni")) {
    loops.push_back({.precision = "int8",
                     .instructions = "AVX512-VNNI",
                     .operations = 64 * wide,
                     .run = run_int8_avx512});
  }
  return loops;
}

std::vector<MemoryLevel> memory_levels(int threads) {
  __builtin_cpu_init();
  if (!__builtin_cpu_supports("avx2")) return {};
  std::vector<MemoryLevel> levels;
  const auto add = [&](const char* name, long bytes, int sharing) {
    const auto size = static_cast<std::size_t>(std::max(0L, bytes)) / static_cast<std::size_t>(2 * sharing);
    const std::size_t whole = size / page * page;
    if (whole > (levels.empty() ? 0 : levels.back().bytes)) levels.push_back({.name = name, .bytes = whole});
  };
  add("L1", ::sysconf(_SC_LEVEL1_DCACHE_SIZE), 1);
  add("L2", ::sysconf(_SC_LEVEL2_CACHE_SIZE), 1);
  add("L3", ::sysconf(_SC_LEVEL3_CACHE_SIZE), threads);
  return levels;
}

double seconds_of_loop(const Device& device, const RegisterLoop& loop, std::int64_t turns) {
  return seconds_of(device, [&] {
    on_host_threads([&] {
      volatile float kept = 0.0F;
      float sink = kept;
      loop.run(turns, &sink);
      kept = sink;
    });
  });
}

double seconds_of_reads(const Device& device, const double* data, std::size_t bytes, std::int64_t passes) {
  const auto sum = __builtin_cpu_supports("avx512f") ? sum_avx512 : sum_avx2;
  const std::size_t count = bytes / sizeof(double);
  std::atomic<std::size_t> next{0};
  return seconds_of(device, [&] {
    on_host_threads([&] {
      const double* mine = data + next.fetch_add(1) * count;
      for (std::int64_t pass = 0; pass < passes; ++pass) {
        volatile double kept = sum(mine, count);
        static_cast<void>(kept);
      }
    });
  });
}
#else
std::vector<RegisterLoop> register_loops() {
  return {};
}

std::vector<MemoryLevel> memory_levels(int /*threads*/) {
  return {};
}

double seconds_of_loop(const Device& /*device*/, const RegisterLoop& /*loop*/, std::int64_t /*turns*/) {
  return 0.0;
}

double seconds_of_reads(const Device& /*device*/, const double* /*data*/, std::size_t /*bytes*/,
                        std::int64_t /*passes*/) {
  return 0.0;
}
#endif

}  // namespace encore::bench
