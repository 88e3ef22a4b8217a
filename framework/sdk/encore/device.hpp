// SPDX-License-Identifier: BSD-3-Clause
// Device: the GPU or the processor on which kernels run. A worker has one Device. It holds an execution space
// instance, a workspace that grows only for a shape that is larger than all earlier ones, and the prepared
// matrix products of the gemm library. Host memory is always there; every Tensor of a Step lies in device
// memory. This header does not include Kokkos: code that only calls kernels compiles without it. Code with
// kernels includes view.hpp or rows.hpp, which bring space.hpp. It is part of the ABI of plugins: a change
// needs a new ENCORE_SDK_VERSION (plugin.hpp).
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

namespace encore::kernels {
class GemmLibrary;  // framework/kernels/products/gemm.hpp: oneDNN, cuBLASLt or the portable one
}

namespace encore {

class SpaceInstance;  // space.hpp: Kokkos' execution space instance

/// Holds Kokkos open for this process; does nothing if Kokkos is already open.
class KokkosSession {
 public:
  /// threads: of the host; 0: the number that the environment sets.
  explicit KokkosSession(int threads = 0);
  ~KokkosSession();
  KokkosSession(const KokkosSession&) = delete;
  KokkosSession& operator=(const KokkosSession&) = delete;

 private:
  bool opened_;
};

/// Returns the version of Kokkos, such as "4.7.0".
std::string kokkos_version();
/// Returns the number of threads on which host kernels run. Kokkos must be open.
int host_threads();
/// Calls `work` once on each of these threads and waits for all of them. Kokkos must be open.
void on_host_threads(const std::function<void()>& work);

class Device {
 public:
  /// Kokkos must be open and outlive the device.
  Device();
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  const SpaceInstance& space() const { return *space_; }
  /// Returns the name of the GPU; empty if kernels run on the host.
  std::string gpu() const;
  /// Waits until every kernel launched so far has ended.
  void fence() const;
  /// Returns at least `bytes` of device memory, aligned to 64 bytes, for the kernel that asks. The memory is
  /// valid until the next call, which may return the same address.
  void* workspace(std::size_t bytes) const;
  kernels::GemmLibrary& gemm() const { return *gemm_; }

 private:
  struct Workspace;
  std::unique_ptr<SpaceInstance> space_;
  std::unique_ptr<Workspace> workspace_;
  std::unique_ptr<kernels::GemmLibrary> gemm_;
};

}  // namespace encore
