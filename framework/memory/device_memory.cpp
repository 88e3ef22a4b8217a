// SPDX-License-Identifier: BSD-3-Clause
// Implements device_memory.hpp: allocates device memory (and on hosts asks for large pages), with the
// alignment that every tensor relies on, and copies between host and device. Arenas, ParameterBlock and
// DeviceBatch use it. Read device_memory.hpp first. A failed allocation throws the Error that users see.
#include "memory/device_memory.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <string_view>

#include <encore/space.hpp>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace encore::memory {
namespace {

template <class Space>
using Bytes = Kokkos::View<std::byte*, Space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
template <class Space>
using OwnedBytes = Kokkos::View<std::byte*, Space>;
using Staging = Kokkos::SharedHostPinnedSpace;
using Owner = std::unique_ptr<void, void (*)(void*)>;

/// Keeps a View without its type.
template <class View>
Owner owner_of(View view) {
  return {new View(std::move(view)), [](void* kept) { delete static_cast<View*>(kept); }};
}

/// Turns "encore::optimizer_states" into "optimizer states".
std::string words_of(const std::string& label) {
  std::string words = label.starts_with("encore::") ? label.substr(8) : label;
  std::replace(words.begin(), words.end(), '_', ' ');
  return words;
}

/// Asks the host for large pages: one fault and one entry of the address tables instead of 512. It is a hint:
/// if it is ignored, only the time changes.
void prefer_large_pages([[maybe_unused]] std::byte* memory, [[maybe_unused]] std::size_t bytes) {
#ifdef MADV_HUGEPAGE
  constexpr std::uintptr_t page = std::uintptr_t{1} << 21;
  if (!host_reaches_device()) return;
  const auto begin = reinterpret_cast<std::uintptr_t>(memory), first = (begin + page - 1) / page * page;
  const std::uintptr_t end = (begin + bytes) / page * page;
  if (first < end) ::madvise(memory + (first - begin), end - first, MADV_HUGEPAGE);
#endif
}

/// Sets memory to zero word by word; its size is a multiple of words. Byte by byte it would take eight times
/// as long.
void clear(const OwnedBytes<DeviceMemory>& memory) {
  auto* const words = reinterpret_cast<std::uint64_t*>(memory.data());
  const Kokkos::RangePolicy<ExecutionSpace> all(0, memory.size() / sizeof(std::uint64_t));
  Kokkos::parallel_for(
      "encore::clear_memory", all, KOKKOS_LAMBDA(const std::int64_t index) { words[index] = 0; });
  Kokkos::fence("encore::clear_memory");
}

OwnedBytes<DeviceMemory> allocate(const std::string& label, std::size_t bytes, Contents contents) {
  try {
    const OwnedBytes<DeviceMemory> memory(Kokkos::view_alloc(Kokkos::WithoutInitializing, label), bytes);
    prefer_large_pages(memory.data(), bytes);
    if (contents != Contents::undefined) clear(memory);
    return memory;
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
              "model.layers, with more train.gradient_shards, and with train.recompute = \"blocks\"");
}

DeviceBuffer::DeviceBuffer(const std::string& label, std::size_t bytes, Contents contents) : bytes_(bytes) {
  const auto memory = allocate(label, aligned(bytes) + tensor_alignment, contents);
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
  // A View of const bytes would suffice for the source, but Kokkos copies only between Views of one value
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

}  // namespace encore::memory
