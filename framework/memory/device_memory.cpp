// Device memory with the alignment every tensor relies on.
#include "memory/device_memory.hpp"

#include <cstdint>

namespace encore {
namespace {

using HostBytes = Kokkos::View<std::byte*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
using DeviceBytes = Kokkos::View<std::byte*, DeviceMemory, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

}  // namespace

DeviceBuffer::DeviceBuffer(const std::string& label, std::size_t bytes)
    : memory_(label, bytes + tensor_alignment), bytes_(bytes) {
  const auto address = reinterpret_cast<std::uintptr_t>(memory_.data());
  data_ = memory_.data() + (aligned(address) - address);
}

void copy_to_host(const Device& device, Tensor tensor, void* host) {
  if (tensor.bytes() == 0) return;
  Kokkos::deep_copy(device.space(), HostBytes(static_cast<std::byte*>(host), tensor.bytes()),
                    DeviceBytes(static_cast<std::byte*>(tensor.data), tensor.bytes()));
  device.fence();
}

void copy_from_host(const Device& device, const void* host, Tensor tensor) {
  if (tensor.bytes() == 0) return;
  // A View of const bytes would do on the source side, but Kokkos copies only between Views of one value
  // type.
  HostBytes source(static_cast<std::byte*>(const_cast<void*>(host)), tensor.bytes());
  Kokkos::deep_copy(device.space(), DeviceBytes(static_cast<std::byte*>(tensor.data), tensor.bytes()),
                    source);
  device.fence();
}

}  // namespace encore
