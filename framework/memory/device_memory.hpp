// SPDX-License-Identifier: BSD-3-Clause
// DeviceBuffer owns device memory; this file also declares the copies between host and device. Arenas
// (Model), ParameterBlock and DeviceBatch lie in such buffers; kernels see only Tensors that point into them.
// Every tensor must start at a multiple of tensor_alignment, on which the choice of algorithms, and so bits,
// depend.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include <encore/device.hpp>
#include <encore/tensor.hpp>

namespace encore::memory {

/// Every tensor starts at a multiple of this many bytes: a cache line on the host; on a GPU what its gemm
/// library considers when it chooses an algorithm (the CMakeLists.txt of this folder).
#ifdef ENCORE_TENSOR_ALIGNMENT
inline constexpr std::size_t tensor_alignment = ENCORE_TENSOR_ALIGNMENT;
#else
inline constexpr std::size_t tensor_alignment = 64;
#endif

constexpr std::size_t aligned(std::size_t bytes) {
  return (bytes + tensor_alignment - 1) / tensor_alignment * tensor_alignment;
}

/// Throws the Error for missing memory. `what` is a noun such as "parameters"; `bytes` is a double, because
/// it may be beyond 64 bits.
[[noreturn]] void fail_out_of_memory(const std::string& what, double bytes);

/// More bytes than any machine can address. Sizes up to here can be added up in 64 bits without overflow.
inline constexpr double most_addressable_bytes = 0x1p47;

/// The initial content of new memory.
enum class Contents : std::uint8_t { zeros, undefined };

/// A range of device memory, aligned to `tensor_alignment`. Move only.
class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  /// Throws Error when there is not enough memory.
  DeviceBuffer(const std::string& label, std::size_t bytes, Contents contents = Contents::zeros);
  DeviceBuffer(DeviceBuffer&&) = default;
  DeviceBuffer& operator=(DeviceBuffer&&) = default;

  std::size_t bytes() const { return bytes_; }
  std::byte* data() const { return data_; }

 private:
  std::unique_ptr<void, void (*)(void*)> memory_ = {nullptr, nullptr};
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

/// Host memory from which the device copies while the host continues. Move only.
class StagingBuffer {
 public:
  StagingBuffer() = default;
  StagingBuffer(const std::string& label, std::size_t bytes);

  std::byte* data() const { return data_; }

 private:
  std::unique_ptr<void, void (*)(void*)> memory_ = {nullptr, nullptr};
  std::byte* data_ = nullptr;
};

/// Returns whether the host reads and writes device memory as its own.
bool host_reaches_device();

/// Copies tensor.bytes() bytes to host memory; waits for the device.
void copy_to_host(const Device& device, Tensor tensor, void* host);
/// Copies tensor.bytes() bytes from host memory; waits for the device.
void copy_from_host(const Device& device, const void* host, Tensor tensor);
/// Starts a copy of `bytes` from a StagingBuffer to device memory, and does not wait.
void start_copy(const Device& device, const std::byte* staging, std::size_t bytes, std::byte* to);

}  // namespace encore::memory
