// SPDX-License-Identifier: BSD-3-Clause
// Blocks of parameters and optimizer states as the host reads them. HostBlock gives read access: in place if
// the host can read device memory, else in a copy. Snapshots reads blocks through it; gather_state
// (ranks.hpp) returns one. digest_blocks() returns their SHA-256, the fingerprints by which two runs are
// compared bit for bit; the Trainer and PretrainedRun report them. Which bytes are hashed never changes,
// because recorded digests would no longer be comparable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "distributed/communicator.hpp"
#include "memory/device_memory.hpp"
#include "memory/parameter_block.hpp"
#include "model/model.hpp"
#include "record/events.hpp"

namespace encore::train {

/// Read access of the host to one block, for as long as this object lives.
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

/// Returns the digests of the block "parameters", then of "optimizer/<state>" for each state: over the bytes
/// of all parameters in path order, little endian, without the gaps between them. `with_tensors` adds the
/// digest of each parameter. All ranks must call it; only rank 0 gets the digests of the states. Waits for
/// the device.
std::vector<record::Digested> digest_blocks(const model::Model& model, std::int64_t step, bool with_tensors,
                                            distributed::Communicator& ranks);

}  // namespace encore::train
