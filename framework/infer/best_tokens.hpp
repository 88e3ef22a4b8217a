// BestTokens: of each row of logits the most probable tokens, found where the logits are, so that only these
// come to the host. Place in the flow: TextWriter, for texts that are searched for.
#pragma once

#include <cstdint>
#include <vector>

#include <encore/device.hpp>
#include <encore/tensor.hpp>

#include "infer/beam_search.hpp"
#include "memory/device_memory.hpp"

namespace encore {

class BestTokens {
 public:
  /// count: of candidates for each row; there are no more than the vocabulary has, and no more than 64. The
  /// device outlives it.
  BestTokens(const Device& device, std::int64_t count) : device_(device), count_(count) {}

  /// For each row of logits (rows, V), the best first. Waits for the device.
  std::vector<std::vector<NextToken>> of(Tensor logits);

 private:
  const Device& device_;
  std::int64_t count_;
  DeviceBuffer memory_;
};

}  // namespace encore
