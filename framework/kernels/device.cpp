// SPDX-License-Identifier: BSD-3-Clause
// Implements Device (encore/device.hpp): opens and closes Kokkos, and holds the execution space, the
// workspace that kernels share, and the library of matrix products (products/gemm.hpp). The worker and the C
// library make one. Kokkos can be opened only once in a process.
#include <encore/rows.hpp>

#include "kernels/aligned_bytes.hpp"
#include "kernels/products/gemm.hpp"

namespace encore {

KokkosSession::KokkosSession(int threads) : opened_(!Kokkos::is_initialized()) {
  if (!opened_) return;
  Kokkos::InitializationSettings settings;
  settings.set_disable_warnings(true);
  if (threads > 0) settings.set_num_threads(threads);
  Kokkos::initialize(settings);
}

KokkosSession::~KokkosSession() {
  if (opened_) Kokkos::finalize();
}

std::string kokkos_version() {
  return std::to_string(KOKKOS_VERSION / 10000) + "." + std::to_string(KOKKOS_VERSION / 100 % 100) + "." +
         std::to_string(KOKKOS_VERSION % 100);
}

int host_threads() {
  return Kokkos::num_threads();
}

void on_host_threads(const std::function<void()>& work) {
#ifdef KOKKOS_ENABLE_OPENMP
#pragma omp parallel num_threads(host_threads())
#endif
  work();
}

struct Device::Workspace {
  kernels::AlignedBytes memory;
};

namespace {

/// Kokkos asks for scratch memory of its teams at every launch while it has none, even if a kernel needs
/// none. So it gets a small amount once.
void take_team_scratch([[maybe_unused]] const SpaceInstance& space) {
#if !ENCORE_HOST_BACKEND
  Kokkos::TeamPolicy<ExecutionSpace> policy(space, 1, 1);
  policy.set_scratch_size(1, Kokkos::PerTeam(8));
  Kokkos::parallel_for("encore::team_scratch", policy,
                       KOKKOS_LAMBDA(const Kokkos::TeamPolicy<ExecutionSpace>::member_type&){});
#endif
}

}  // namespace

Device::Device()
    : space_(std::make_unique<SpaceInstance>()),
      workspace_(std::make_unique<Workspace>()),
      gemm_(kernels::make_gemm_library()) {
  take_team_scratch(*space_);
}
Device::~Device() = default;

std::string Device::gpu() const {
#if defined(KOKKOS_ENABLE_CUDA)
  return space_->cuda_device_prop().name;
#elif defined(KOKKOS_ENABLE_HIP)
  return space_->hip_device_prop().name;
#else
  return {};
#endif
}

void Device::fence() const {
  space_->fence("encore::device_fence");
}

void* Device::workspace(std::size_t bytes) const {
  kernels::AlignedBytes& memory = workspace_->memory;
  if (memory.bytes() < bytes) {
    fence();      // a kernel launched before may still use the old memory
    memory = {};  // release the old memory first, then take the new
    memory = kernels::AlignedBytes("encore::workspace", bytes);
  }
  return memory.data();
}

}  // namespace encore
