// MachineBench: what the machine can do, apart from any model: matrix products by shape and precision through
// our own gemm interface, memory bandwidth, what launching a kernel costs, and a calibration that no change
// of Encore's kernels can move. Place in the flow: `encore-worker bench` calls measure() once a round, so
// that every sample of a step has samples of its machine from the same seconds.
#pragma once

#include <string>
#include <vector>

#include <encore/device.hpp>
#include <encore/tensor.hpp>
#include <nlohmann/json_fwd.hpp>

#include "bench/peaks.hpp"
#include "memory/device_memory.hpp"
#include "record/events.hpp"

namespace encore {

/// What one round has measured: seconds by quantity.
class MachineBench {
 public:
  /// `precisions`: "float32", "bfloat16" or "float64"; of those the products are measured. `sizes`: of square
  /// matrices.
  MachineBench(const Device& device, const std::vector<std::string>& precisions,
               const std::vector<std::int64_t>& sizes);

  /// Quantities: "copy", "triad" (seconds of one pass over arrays that no cache holds), "launch" (seconds of
  /// an empty kernel in a queue of many), "launch_and_wait", "calibration", and "gemm 1024 float32" ...; of a
  /// host also "peak float32" ... and "read L1" ... (peaks.hpp).
  Samples measure();
  /// What the quantities are: {"copy": {"bytes": ...}, "gemm 1024 float32": {"flops": ..., "precision":
  /// ...}, "peak float32": {"flops": ..., "precision": ..., "instructions": ...}, "read L1": {"bytes": ...,
  /// "holds": ...}}; a level `holds` so many bytes of all threads together, none for memory.
  nlohmann::json facts() const;

 private:
  struct SquareProduct {
    std::string quantity, precision;
    DType type;
    std::int64_t size;
  };
  double square_product(const SquareProduct& product);
  void measure_peaks(Samples& samples);
  std::size_t bytes_of_thread() const;  ///< of the arrays, that it reads from memory

  const Device& device_;
  std::vector<SquareProduct> products_;
  std::vector<RegisterLoop> loops_;
  std::vector<MemoryLevel> levels_;
  std::size_t array_bytes_;
  DeviceBuffer arrays_;    ///< three, for copy and triad
  DeviceBuffer matrices_;  ///< three of the largest size
};

/// "float32" ... to the type. Throws Error that lists the three for any other.
DType type_of_precision(const std::string& precision);

/// Sets `count` elements of any floating-point type to small varied values: untouched pages of a host would
/// all be the one page of zeros, and cached.
void fill_varied(const Device& device, DType type, void* data, std::int64_t count);

}  // namespace encore
