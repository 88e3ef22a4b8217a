// SPDX-License-Identifier: BSD-3-Clause
// MachineBench measures the speed of the machine without a model: matrix products by shape and precision
// through Encore's gemm interface, memory bandwidth, the cost of launching a kernel, and a calibration (a
// fixed computation that a change of Encore's kernels does not change). `encore-worker bench` calls measure()
// once in each round, so that every sample of a step has samples of the machine from the same seconds. The
// names of quantities are stored and never change.
#pragma once

#include <string>
#include <vector>

#include <encore/device.hpp>
#include <encore/tensor.hpp>
#include <nlohmann/json_fwd.hpp>

#include "bench/peaks.hpp"
#include "memory/device_memory.hpp"
#include "record/events.hpp"

namespace encore::bench {

/// Measures the machine in rounds; each returns seconds by quantity.
class MachineBench {
 public:
  /// `precisions` of the measured products, as in type_of_precision(). `sizes`: sizes of square matrices.
  MachineBench(const Device& device, const std::vector<std::string>& precisions,
               const std::vector<std::int64_t>& sizes);

  /// Returns the quantities "copy", "triad" (seconds of one pass over arrays that no cache holds), "launch"
  /// (seconds of an empty kernel in a queue of many), "launch_and_wait", "calibration", and "gemm 1024
  /// float32" ...; for a host also "peak float32" ... and "read L1" ... (peaks.hpp).
  record::Samples measure();
  /// Returns the meaning of each quantity, as an object keyed by quantity. The object is stored with the
  /// samples, so its names never change:
  ///
  ///     {"copy": {"bytes": ...},
  ///      "gemm 1024 float32": {"flops": ..., "precision": ...},
  ///      "peak float32": {"flops": ..., "precision": ..., "instructions": ...},
  ///      "read L1": {"bytes": ..., "holds": ...}}
  ///
  /// `holds` is the number of bytes that a cache level holds for all threads; main memory has no such member.
  nlohmann::json facts() const;

 private:
  struct SquareProduct {
    std::string quantity, precision;
    DType type;
    std::int64_t size;
  };
  double square_product(const SquareProduct& product);
  void measure_peaks(record::Samples& samples);
  std::size_t bytes_of_thread() const;  ///< the part of the arrays that one thread reads from memory

  const Device& device_;
  std::vector<SquareProduct> products_;
  std::vector<RegisterLoop> loops_;
  std::vector<MemoryLevel> levels_;
  std::size_t array_bytes_;
  memory::DeviceBuffer arrays_;    ///< three, for copy and triad
  memory::DeviceBuffer matrices_;  ///< three of the largest size
};

/// Returns the type for "float32", "bfloat16", "float16" or "float64". Throws Error that lists these for any
/// other text.
DType type_of_precision(const std::string& precision);

/// Sets `count` elements of any floating-point type to small varied values. Untouched memory of a host would
/// be one page of zeros, which is always cached.
void fill_varied(const Device& device, DType type, void* data, std::int64_t count);

}  // namespace encore::bench
