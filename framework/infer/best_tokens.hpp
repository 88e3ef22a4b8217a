// SPDX-License-Identifier: BSD-3-Clause
// BestTokens: the most probable tokens of each row of logits, found on the device, so that only these are
// copied to the host. Place in the flow: TextWriter uses it for beam search; next_token.hpp does the same for
// logits on the host, with the same order: equal logits by the smaller token number. Both orders must stay
// equal, so that the text does not depend on where the candidates are found.
#pragma once

#include <cstdint>
#include <vector>

#include <encore/device.hpp>
#include <encore/tensor.hpp>

#include "infer/beam_search.hpp"
#include "memory/device_memory.hpp"

namespace encore::infer {

class BestTokens {
 public:
  /// `count`: the candidates for each row, at most the size of the vocabulary and at most 64. The device must
  /// outlive this object.
  BestTokens(const Device& device, std::int64_t count) : device_(device), count_(count) {}

  /// Returns the best candidates for each row of logits (rows, V), the best first. Waits for the device.
  std::vector<std::vector<NextToken>> of(Tensor logits);

 private:
  const Device& device_;
  std::int64_t count_;
  memory::DeviceBuffer memory_;
};

}  // namespace encore::infer
