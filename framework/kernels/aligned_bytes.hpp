// SPDX-License-Identifier: BSD-3-Clause
// AlignedBytes is uninitialized memory of the device with a promised alignment, which kernels and libraries
// use as scratch. device.cpp (the workspace) and kernels/products/gemm_cublaslt.cpp use it. The alignment
// must not fall, because cuBLASLt chooses algorithms, and so bits, by it.
#pragma once

#include <cstdint>
#include <string>

#include <encore/rows.hpp>

namespace encore::kernels {

class AlignedBytes {
 public:
  /// The alignment of its first byte. Kokkos puts a header of 128 bytes before its allocations, and cuBLASLt
  /// considers up to 256.
  static constexpr std::size_t alignment = ENCORE_HOST_BACKEND ? 1 : 256;

  AlignedBytes() = default;
  AlignedBytes(const std::string& label, std::size_t bytes)
      : memory_(Kokkos::view_alloc(Kokkos::WithoutInitializing, label), bytes + alignment - 1),
        bytes_(bytes) {}

  std::size_t bytes() const { return bytes_; }
  char* data() const {
    const auto address = reinterpret_cast<std::uintptr_t>(memory_.data());
    return memory_.data() + (alignment - address % alignment) % alignment;
  }

 private:
  Kokkos::View<char*, DeviceMemory> memory_;
  std::size_t bytes_ = 0;
};

}  // namespace encore::kernels
