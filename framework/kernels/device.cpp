// Device: its workspace and its gemm library.
#include <encore/device.hpp>

#include "kernels/gemm.hpp"

namespace encore {

struct Device::Workspace {
  Kokkos::View<char*, DeviceMemory> memory;
};

Device::Device() : workspace_(std::make_unique<Workspace>()), gemm_(make_gemm_library()) {}
Device::~Device() = default;

void* Device::workspace(std::size_t bytes) const {
  auto& memory = workspace_->memory;
  if (memory.size() < bytes) {
    fence();      // a kernel launched before may still use the old memory
    memory = {};  // first let go of the old, then take the new
    memory = Kokkos::View<char*, DeviceMemory>(
        Kokkos::view_alloc(Kokkos::WithoutInitializing, "encore::workspace"), bytes);
  }
  return memory.data();
}

}  // namespace encore
