// SPDX-License-Identifier: BSD-3-Clause
// HostBlock gives the host read access to a block of parameters or of an optimizer's state: in place if the
// host can read device memory, else in a copy. Snapshots and digest_blocks read blocks through it;
// gather_state (ranks.hpp) returns one.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "memory/device_memory.hpp"
#include "memory/parameter_block.hpp"

namespace encore::train {

class HostBlock {
 public:
  /// Makes an empty block.
  HostBlock() = default;
  /// Waits for the device. The bytes are valid until the memory of the block is written again.
  HostBlock(const Device& device, Tensor block) : dtype_(block.dtype) {
    if (memory::host_reaches_device()) {
      device.fence();
      bytes_ = {static_cast<const std::byte*>(block.data), block.bytes()};
      return;
    }
    copy_.resize(block.bytes());
    memory::copy_to_host(device, block, copy_.data());
    bytes_ = copy_;
  }
  HostBlock(std::vector<std::byte> copy, DType dtype) : bytes_(copy), copy_(std::move(copy)), dtype_(dtype) {}
  HostBlock(HostBlock&&) = default;
  HostBlock& operator=(HostBlock&&) = default;
  HostBlock(const HostBlock&) = delete;
  HostBlock& operator=(const HostBlock&) = delete;

  DType dtype() const { return dtype_; }
  std::span<const std::byte> bytes() const { return bytes_; }
  /// Returns the bytes of one parameter.
  std::span<const std::byte> slice(const memory::ParameterSlice& slice) const {
    const std::size_t element = size_of(dtype_);
    return bytes_.subspan(static_cast<std::size_t>(slice.begin) * element,
                          static_cast<std::size_t>(slice.size) * element);
  }

 private:
  std::span<const std::byte> bytes_;
  std::vector<std::byte> copy_;
  DType dtype_ = DType::float32;
};

}  // namespace encore::train
