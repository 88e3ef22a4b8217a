// Device memory with the alignment every tensor relies on.
#include "memory/device_memory.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <string_view>

namespace encore {
namespace {

using HostBytes = Kokkos::View<std::byte*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
using DeviceBytes = Kokkos::View<std::byte*, DeviceMemory, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

/// "encore::optimizer_states" to "optimizer states".
std::string words_of(const std::string& label) {
  std::string words = label.starts_with("encore::") ? label.substr(8) : label;
  std::replace(words.begin(), words.end(), '_', ' ');
  return words;
}

Kokkos::View<std::byte*, DeviceMemory> allocate(const std::string& label, std::size_t bytes,
                                                Contents contents) {
  try {
    if (contents == Contents::undefined)
      return Kokkos::View<std::byte*, DeviceMemory>(Kokkos::view_alloc(Kokkos::WithoutInitializing, label),
                                                    bytes);
    return Kokkos::View<std::byte*, DeviceMemory>(label, bytes);
  } catch (const std::exception& error) {
    if (std::string_view(error.what()).find("failed to allocate") == std::string_view::npos) throw;
    fail_out_of_memory(words_of(label), static_cast<double>(bytes));
  }
}

}  // namespace

void fail_out_of_memory(const std::string& what, double bytes) {
  char size[64];
  std::snprintf(size, sizeof size, "%.1f GiB", std::ldexp(bytes, -30));
  throw Error(std::string("out of memory: there are no ") + size + " for " + what +
              "; less is needed with a smaller train.batch_size, data.max_length, model.width or "
              "model.layers, and with more train.gradient_shards");
}

DeviceBuffer::DeviceBuffer(const std::string& label, std::size_t bytes, Contents contents)
    : memory_(allocate(label, bytes + tensor_alignment, contents)), bytes_(bytes) {
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
