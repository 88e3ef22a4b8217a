// SPDX-License-Identifier: BSD-3-Clause
// Measures the machine for `exp bench` (MachineBench, called by worker/bench_verb.cpp). Quantities are stored
// names: analysis/bench_summary.cpp finds samples by them, also those of earlier versions. Bandwidth is
// counted as in STREAM (McCalpin 1995): copy moves two arrays, triad three; what a cache fetches before it
// writes is not counted. Read machine.hpp first.
#include "bench/machine.hpp"

#include <unistd.h>

#include <algorithm>

#include <encore/kernels.hpp>
#include <encore/view.hpp>
#include <nlohmann/json.hpp>

#include "bench/clock.hpp"

namespace encore::bench {
namespace {

constexpr int launches = 1000;
constexpr std::int64_t calibration_items = 512;
constexpr std::int64_t calibration_loops = 20000;
constexpr std::int64_t peak_turns = 2'000'000;            // turns of a loop; they take some milliseconds
constexpr std::size_t bytes_read = std::size_t{1} << 28;  // bytes that each thread reads from a cache

template <class T>
void fill_elements(const Device& device, T* data, std::int64_t count) {
  Kokkos::parallel_for(
      "encore::bench_fill",
      Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::int64_t>>(device.space(), 0, count),
      KOKKOS_LAMBDA(const std::int64_t i) {
        const std::uint32_t bits = static_cast<std::uint32_t>(i) * 1664525U + 1013904223U;
        data[i] = static_cast<T>((static_cast<float>(bits >> 20) - 2048.0F) / 65536.0F);
      });
}

void copy_array(const Device& device, const double* from, double* to, std::int64_t count) {
  Kokkos::parallel_for(
      "encore::bench_copy",
      Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::int64_t>>(device.space(), 0, count),
      KOKKOS_LAMBDA(const std::int64_t i) { to[i] = from[i]; });
}

void triad(const Device& device, const double* b, const double* c, double* to, std::int64_t count) {
  Kokkos::parallel_for(
      "encore::bench_triad",
      Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::int64_t>>(device.space(), 0, count),
      KOKKOS_LAMBDA(const std::int64_t i) { to[i] = b[i] + 3.0 * c[i]; });
}

void launch_nothing(const Device& device) {
  Kokkos::parallel_for("encore::bench_nothing",
                       Kokkos::RangePolicy<ExecutionSpace>(device.space(), 0, device.space().concurrency()),
                       KOKKOS_LAMBDA(int){});
}

/// Runs a chain of products and sums that stays in registers, and is the same for every build of one
/// compiler. Its time shows how fast the cores are at this moment. Measurements of different days are
/// compared in units of it, so it must not change.
void calibrate(const Device& device, double* results) {
  Kokkos::parallel_for(
      "encore::bench_calibration",
      Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::int64_t>>(device.space(), 0,
                                                                           calibration_items),
      KOKKOS_LAMBDA(const std::int64_t item) {
        double x = 1.0 + 1e-9 * static_cast<double>(item), y = 1.0, z = 0.5, w = 0.25;
        for (std::int64_t i = 0; i < calibration_loops; ++i) {
          x = x * 0.999999 + 1e-6;
          y = y * 0.999998 + 2e-6;
          z = z * 0.999997 + 3e-6;
          w = w * 0.999996 + 4e-6;
        }
        results[item] = x + y + z + w;
      });
}

/// Returns the bytes of each of the three arrays: four times the largest cache, but 64 to 256 MiB on a host,
/// and at most a sixteenth of its memory.
std::size_t bytes_of_arrays() {
#if defined(KOKKOS_ENABLE_CUDA) || defined(KOKKOS_ENABLE_HIP)
  return std::size_t{512} << 20;
#else
  const long cache = std::max(0L, sysconf(_SC_LEVEL3_CACHE_SIZE));
  const std::size_t memory =
      static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t wanted =
      std::clamp(4 * static_cast<std::size_t>(cache), std::size_t{64} << 20, std::size_t{256} << 20);
  return std::min(wanted, memory / 16);
#endif
}

std::int64_t passes_of(const MemoryLevel& level) {
  return static_cast<std::int64_t>(std::max<std::size_t>(1, bytes_read / level.bytes));
}

}  // namespace

DType type_of_precision(const std::string& precision) {
  for (const DType type : {DType::float32, DType::bfloat16, DType::float16, DType::float64})
    if (precision == name_of(type)) return type;
  throw Error("unknown precision \"" + precision + "\"; there are float32, bfloat16, float16 and float64");
}

void fill_varied(const Device& device, DType type, void* data, std::int64_t count) {
  dispatch(type, [&](auto element) { fill_elements(device, static_cast<decltype(element)*>(data), count); });
}

MachineBench::MachineBench(const Device& device, const std::vector<std::string>& precisions,
                           const std::vector<std::int64_t>& sizes)
    : device_(device),
      loops_(register_loops()),
      levels_(memory_levels(host_threads())),
      array_bytes_(bytes_of_arrays() / 4096 * 4096),
      arrays_("encore::bench_arrays", 3 * array_bytes_) {
  std::size_t largest = 0;
  for (const std::string& precision : precisions)
    for (const std::int64_t size : sizes) {
      const DType type = type_of_precision(precision);
      products_.push_back({"gemm " + std::to_string(size) + " " + precision, precision, type, size});
      largest = std::max(largest, static_cast<std::size_t>(size * size) * size_of(type));
    }
  matrices_ = memory::DeviceBuffer("encore::bench_matrices", 3 * memory::aligned(largest));
  fill_varied(device_, DType::float64, arrays_.data(), static_cast<std::int64_t>(3 * array_bytes_ / 8));
}

record::Samples MachineBench::measure() {
  record::Samples samples;
  auto* first = reinterpret_cast<double*>(arrays_.data());
  const auto count = static_cast<std::int64_t>(array_bytes_ / sizeof(double));
  samples["calibration"] = seconds_of(device_, [&] { calibrate(device_, first); });
  samples["copy"] = seconds_of(device_, [&] { copy_array(device_, first, first + count, count); });
  samples["triad"] =
      seconds_of(device_, [&] { triad(device_, first, first + count, first + 2 * count, count); });
  samples["launch"] = seconds_of(device_,
                                 [&] {
                                   for (int i = 0; i < launches; ++i) launch_nothing(device_);
                                 }) /
                      launches;
  samples["launch_and_wait"] = seconds_of(device_,
                                          [&] {
                                            for (int i = 0; i < launches / 10; ++i) {
                                              launch_nothing(device_);
                                              device_.fence();
                                            }
                                          }) /
                               (launches / 10);
  for (const SquareProduct& product : products_) samples[product.quantity] = square_product(product);
  measure_peaks(samples);
  return samples;
}

void MachineBench::measure_peaks(record::Samples& samples) {
  for (const RegisterLoop& loop : loops_)
    samples["peak " + loop.precision] = seconds_of_loop(device_, loop, peak_turns);
  if (levels_.empty()) return;
  const auto* data = reinterpret_cast<const double*>(arrays_.data());
  for (const MemoryLevel& level : levels_) {
    seconds_of_reads(device_, data, level.bytes, 1);  // loads the data into this level
    samples["read " + level.name] = seconds_of_reads(device_, data, level.bytes, passes_of(level));
  }
  samples["read memory"] = seconds_of_reads(device_, data, bytes_of_thread(), 1);
}

std::size_t MachineBench::bytes_of_thread() const {
  return 3 * array_bytes_ / static_cast<std::size_t>(host_threads()) / 4096 * 4096;
}

double MachineBench::square_product(const SquareProduct& product) {
  const std::int64_t n = product.size;
  const std::size_t bytes = matrices_.bytes() / 3 / memory::tensor_alignment * memory::tensor_alignment;
  const auto matrix = [&](std::size_t i) {
    return Tensor(matrices_.data() + i * bytes, product.type, {n, n});
  };
  for (std::size_t i : {0, 1}) fill_varied(device_, product.type, matrix(i).data, n * n);
  // Small products are repeated, so that the clock measures them precisely enough.
  const int repetitions = static_cast<int>(std::max<std::int64_t>(1, 200'000'000 / (2 * n * n * n)));
  const auto multiply = [&] {
    kernels::gemm(device_, matrix(0), kernels::Transpose::no, matrix(1), kernels::Transpose::no, matrix(2));
  };
  multiply();  // warms up the caches
  return seconds_of(device_,
                    [&] {
                      for (int i = 0; i < repetitions; ++i) multiply();
                    }) /
         repetitions;
}

nlohmann::json MachineBench::facts() const {
  nlohmann::json facts = {{"copy", {{"bytes", 2 * array_bytes_}}}, {"triad", {{"bytes", 3 * array_bytes_}}}};
  for (const SquareProduct& p : products_) {
    const auto n = static_cast<double>(p.size);
    facts[p.quantity] = {{"flops", 2.0 * n * n * n},
                         {"bytes", 3.0 * n * n * static_cast<double>(size_of(p.type))},
                         {"precision", p.precision}};
  }
  const auto threads = static_cast<std::size_t>(host_threads());
  for (const RegisterLoop& loop : loops_)
    facts["peak " + loop.precision] = {
        {"flops", loop.operations * static_cast<double>(peak_turns) * static_cast<double>(threads)},
        {"precision", loop.precision},
        {"instructions", loop.instructions}};
  for (const MemoryLevel& level : levels_)
    facts["read " + level.name] = {
        {"bytes", level.bytes * static_cast<std::size_t>(passes_of(level)) * threads},
        {"holds", 2 * level.bytes * threads}};
  if (!levels_.empty()) facts["read memory"] = {{"bytes", bytes_of_thread() * threads}};
  return facts;
}

}  // namespace encore::bench
