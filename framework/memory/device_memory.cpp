// Device memory with the alignment every tensor relies on.
#include "memory/device_memory.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <string_view>

#include <encore/space.hpp>

namespace encore {
namespace {

template <class Space>
using Bytes = Kokkos::View<std::byte*, Space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
template <class Space>
using OwnedBytes = Kokkos::View<std::byte*, Space>;
using Staging = Kokkos::SharedHostPinnedSpace;
using Owner = std::unique_ptr<void, void (*)(void*)>;

/// Keeps a View where its type is not known.
template <class View>
Owner owner_of(View view) {
  return {new View(std::move(view)), [](void* kept) { delete static_cast<View*>(kept); }};
}

/// "encore::optimizer_states" to "optimizer states".
std::string words_of(const std::string& label) {
  std::string words = label.starts_with("encore::") ? label.substr(8) : label;
  std::replace(words.begin(), words.end(), '_', ' ');
  return words;
}

OwnedBytes<DeviceMemory> allocate(const std::string& label, std::size_t bytes, Contents contents) {
  try {
    if (contents == Contents::undefined)
      return OwnedBytes<DeviceMemory>(Kokkos::view_alloc(Kokkos::WithoutInitializing, label), bytes);
    return OwnedBytes<DeviceMemory>(label, bytes);
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

DeviceBuffer::DeviceBuffer(const std::string& label, std::size_t bytes, Contents contents) : bytes_(bytes) {
  const auto memory = allocate(label, bytes + tensor_alignment, contents);
  const auto address = reinterpret_cast<std::uintptr_t>(memory.data());
  data_ = memory.data() + (aligned(address) - address);
  memory_ = owner_of(memory);
}

StagingBuffer::StagingBuffer(const std::string& label, std::size_t bytes) {
  const OwnedBytes<Staging> memory(label, bytes);
  data_ = memory.data();
  memory_ = owner_of(memory);
}

bool host_reaches_device() {
  return Kokkos::SpaceAccessibility<Kokkos::HostSpace, DeviceMemory>::accessible;
}

void copy_to_host(const Device& device, Tensor tensor, void* host) {
  if (tensor.bytes() == 0) return;
  const ExecutionSpace& space = device.space();
  Kokkos::deep_copy(space, Bytes<Kokkos::HostSpace>(static_cast<std::byte*>(host), tensor.bytes()),
                    Bytes<DeviceMemory>(static_cast<std::byte*>(tensor.data), tensor.bytes()));
  device.fence();
}

void copy_from_host(const Device& device, const void* host, Tensor tensor) {
  if (tensor.bytes() == 0) return;
  // A View of const bytes would do on the source side, but Kokkos copies only between Views of one value
  // type.
  const Bytes<Kokkos::HostSpace> source(static_cast<std::byte*>(const_cast<void*>(host)), tensor.bytes());
  const ExecutionSpace& space = device.space();
  Kokkos::deep_copy(space, Bytes<DeviceMemory>(static_cast<std::byte*>(tensor.data), tensor.bytes()), source);
  device.fence();
}

void start_copy(const Device& device, const std::byte* staging, std::size_t bytes, std::byte* to) {
  const ExecutionSpace& space = device.space();
  Kokkos::deep_copy(space, Bytes<DeviceMemory>(to, bytes),
                    Bytes<Staging>(const_cast<std::byte*>(staging), bytes));
}

}  // namespace encore
