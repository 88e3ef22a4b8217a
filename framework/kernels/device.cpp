// What device.hpp declares: Kokkos opened and closed, the execution space, the workspace, the gemm library.
#include <encore/rows.hpp>

#include "kernels/gemm.hpp"

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
#pragma omp parallel
#endif
  work();
}

/// Kokkos puts a header of 128 bytes in front of what it allocates, so a GPU's memory is aligned here.
struct Device::Workspace {
  static constexpr std::size_t alignment = ENCORE_HOST_BACKEND ? 1 : 256;

  Kokkos::View<char*, DeviceMemory> memory;
  std::size_t bytes = 0;

  void* begin() const {
    const auto address = reinterpret_cast<std::uintptr_t>(memory.data());
    return memory.data() + (alignment - address % alignment) % alignment;
  }
};

namespace {

/// Kokkos asks for scratch memory of its teams at every launch as long as it has none, also where a kernel
/// wants none, so it is given a little once.
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
      gemm_(make_gemm_library()) {
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
  auto& [memory, held] = *workspace_;
  if (held < bytes) {
    fence();      // a kernel launched before may still use the old memory
    memory = {};  // first let go of the old, then take the new
    held = 0;
    memory = Kokkos::View<char*, DeviceMemory>(
        Kokkos::view_alloc(Kokkos::WithoutInitializing, "encore::workspace"),
        bytes + Workspace::alignment - 1);
    held = bytes;
  }
  return workspace_->begin();
}

}  // namespace encore
