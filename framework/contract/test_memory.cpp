// SPDX-License-Identifier: BSD-3-Clause
// Tensors and random values for the contract suite and for tests: OwnedTensor allocates memory on the device
// and copies values through the host. Bytes on either side of a tensor show a write outside. The patterns
// beside each tensor must stay, or writes outside are not found. Read test_memory.hpp first.
#include "contract/test_memory.hpp"

#include <algorithm>
#include <bit>
#include <map>

#include <encore/random.hpp>
#include <encore/view.hpp>

namespace encore::contract {
namespace {

using Bytes = Kokkos::View<std::byte*, DeviceMemory, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

Bytes bytes_of(const Tensor& tensor) {
  return {static_cast<std::byte*>(tensor.data), tensor.bytes()};
}

/// Calls body(T{}) with the element type, for any type.
void visit(DType type, const auto& body) {
  if (type == DType::int32) return body(std::int32_t{});
  if (type == DType::int64) return body(std::int64_t{});
  dispatch(type, body);
}

using Memory = Kokkos::View<std::byte*, DeviceMemory>;

/// The byte that fills the memory on either side of a tensor: in every type it is a number that changes a
/// sum.
constexpr std::byte guard{0xC0};
#if defined(__SANITIZE_ADDRESS__)
constexpr std::size_t guard_bytes = 0;  // the sanitizer finds more: reads, too
#else
constexpr std::size_t guard_bytes = 1024;  // a multiple of 16, so that the tensor is aligned as its memory is
#endif

Bytes guard_before(const Tensor& tensor) {
  return {static_cast<std::byte*>(tensor.data) - guard_bytes, guard_bytes};
}
Bytes guard_behind(const Tensor& tensor) {
  return {static_cast<std::byte*>(tensor.data) + tensor.bytes(), guard_bytes};
}

/// Copies the pattern from the host. deep_copy(memory, guard) would launch a kernel of Kokkos that captures
/// this unmanaged view, whose size nvcc and the host compiler compute differently (docs/guides/backends.md).
/// take_memory() may fill with zeros: Kokkos does this without such a kernel.
void write_guard(const Bytes& memory) {
  static const std::vector<std::byte> pattern(guard_bytes, guard);
  Kokkos::deep_copy(
      memory, Kokkos::View<const std::byte*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(
                  pattern.data(), memory.size()));
}

bool is_intact(const Bytes& bytes) {
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), bytes);
  return std::all_of(host.data(), host.data() + host.size(), [](std::byte b) { return b == guard; });
}

#if ENCORE_HOST_BACKEND

/// Allocates zeros.
std::shared_ptr<Memory> take_memory(std::size_t bytes) {
  return std::make_shared<Memory>("encore::owned_tensor", bytes);
}

#else

/// Returns the memory of destroyed tensors, by size. It is used again, because a GPU takes longer to allocate
/// memory than to compute a test's tensor.
std::map<std::size_t, std::vector<Memory>>& spare_memory() {
  static std::map<std::size_t, std::vector<Memory>> spare;
  return spare;
}

/// Returns memory filled with zeros.
std::shared_ptr<Memory> take_memory(std::size_t bytes) {
  static const bool hooked = [] {
    Kokkos::push_finalize_hook([] { spare_memory().clear(); });
    return true;
  }();
  (void)hooked;
  auto& spare = spare_memory()[std::bit_ceil(bytes)];
  Memory memory;
  if (spare.empty()) {
    memory = Memory("encore::owned_tensor", std::bit_ceil(bytes));
  } else {
    memory = spare.back();
    spare.pop_back();
    Kokkos::deep_copy(memory, std::byte{0});  // waits for all kernels that still use it
  }
  return std::shared_ptr<Memory>(new Memory(memory), [](Memory* owned) {
    if (Kokkos::is_initialized()) spare_memory()[owned->size()].push_back(*owned);
    delete owned;
  });
}

#endif

}  // namespace

OwnedTensor::OwnedTensor(DType type, const std::vector<std::int64_t>& shape) {
  tensor_.dtype = type;
  for (const std::int64_t extent : shape) tensor_.extents[static_cast<std::size_t>(tensor_.rank++)] = extent;
  const auto memory = take_memory(std::max<std::size_t>(1, tensor_.bytes() + 2 * guard_bytes));
  tensor_.data = memory->data() + guard_bytes;
  memory_ = memory;
  write_guard(guard_before(tensor_));
  write_guard(guard_behind(tensor_));
}

std::string OwnedTensor::overrun(const std::string& name) const {
  if (!tensor_) return "";
  if (!is_intact(guard_behind(tensor_))) return "past the end of " + name;
  return is_intact(guard_before(tensor_)) ? "" : "before the start of " + name;
}

std::vector<double> OwnedTensor::values() const {
  std::vector<double> result(static_cast<std::size_t>(tensor_.size()));
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), bytes_of(tensor_));
  visit(tensor_.dtype, [&](auto type) {
    const auto* from = reinterpret_cast<const decltype(type)*>(host.data());
    for (std::size_t i = 0; i < result.size(); ++i) result[i] = static_cast<double>(from[i]);
  });
  return result;
}

void OwnedTensor::set(const std::vector<double>& values) {
  ENCORE_REQUIRE(static_cast<std::int64_t>(values.size()) == tensor_.size(),
                 "one value for each element is expected");
  const Bytes memory = bytes_of(tensor_);
  const auto host = Kokkos::create_mirror_view(Kokkos::HostSpace(), memory);
  visit(tensor_.dtype, [&](auto type) {
    using T = decltype(type);
    auto* to = reinterpret_cast<T*>(host.data());
    for (std::size_t i = 0; i < values.size(); ++i)
      if constexpr (sizeof(T) == 2)
        to[i] = T(static_cast<float>(values[i]));
      else
        to[i] = static_cast<T>(values[i]);
  });
  Kokkos::deep_copy(memory, host);
}

std::vector<double> normal_values(std::int64_t count, std::uint64_t seed, double deviation) {
  const Random random(RandomKey{seed, 0x7E57, 0});
  std::vector<double> values(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const RandomWords words = random.words(static_cast<std::int64_t>(i), 0, 0);
    values[i] = deviation * std::sqrt(-2.0 * std::log(uniform(words.word[0]))) *
                std::cos(6.283185307179586 * uniform(words.word[1]));
  }
  return values;
}

}  // namespace encore::contract
