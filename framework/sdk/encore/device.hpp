// Device: where kernels run. One per worker: an execution space instance, a workspace that grows only when a
// larger shape comes than any before, and the prepared matrix products of the gemm library. Host memory is
// always there; every Tensor of a Step lies in `DeviceMemory`.
#pragma once

#include <cstddef>
#include <memory>

#include <Kokkos_Core.hpp>

namespace encore {

using ExecutionSpace = Kokkos::DefaultExecutionSpace;
using DeviceMemory = ExecutionSpace::memory_space;

class GemmLibrary;  // framework/kernels/gemm.hpp: oneDNN, cuBLASLt or the portable one

class Device {
 public:
  /// Kokkos must be initialised and outlive the device.
  Device();
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  const ExecutionSpace& space() const { return space_; }
  /// Waits until every kernel launched so far has ended.
  void fence() const { space_.fence("encore::device_fence"); }
  /// At least `bytes` of device memory, aligned to 64 bytes, for the kernel that asks: the next call may
  /// return the same.
  void* workspace(std::size_t bytes) const;
  GemmLibrary& gemm() const { return *gemm_; }

 private:
  struct Workspace;
  ExecutionSpace space_;
  std::unique_ptr<Workspace> workspace_;
  std::unique_ptr<GemmLibrary> gemm_;
};

}  // namespace encore
