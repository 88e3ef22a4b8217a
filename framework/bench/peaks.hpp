// SPDX-License-Identifier: BSD-3-Clause
// The highest speed of a host's cores, independent of any library: products and sums in registers by the
// widest instructions of the CPU, and reads from each level of memory. machine.cpp measures them once in
// each round. The share of the machine's limit that `exp bench` shows for a kernel is relative to these, so
// another loop changes all shares.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <encore/device.hpp>

namespace encore::bench {

/// A loop of independent multiply-adds that touches no memory.
struct RegisterLoop {
  std::string precision;     ///< of the factors: "float32", "float64", "bfloat16", "int8"
  std::string instructions;  ///< "AVX-512 FMA"
  double operations = 0.0;   ///< operations of one turn in one thread; a multiply-add counts as two
  void (*run)(std::int64_t turns, float* sink) = nullptr;  ///< writes to `sink`, so the loop stays
};

/// Returns the fastest loop of each precision for which this CPU has an instruction. Empty on a GPU, and on a
/// host that is not x86-64.
std::vector<RegisterLoop> register_loops();

/// A level of the memory hierarchy of a host.
struct MemoryLevel {
  std::string name;       ///< "L1", "L2", "L3"
  std::size_t bytes = 0;  ///< what one thread reads again and again: half of what the level holds for it
};

/// Returns the levels whose sizes the system reports. Empty on a GPU.
std::vector<MemoryLevel> memory_levels(int threads);

/// Returns the seconds of `turns` in every thread of the device at once.
double seconds_of_loop(const Device& device, const RegisterLoop& loop, std::int64_t turns);

/// Returns the seconds in which every thread reads `passes` times through `bytes` of its own, a multiple of
/// 512. `data` is aligned to 64 bytes and has room for the bytes of all threads.
double seconds_of_reads(const Device& device, const double* data, std::size_t bytes, std::int64_t passes);

}  // namespace encore::bench
