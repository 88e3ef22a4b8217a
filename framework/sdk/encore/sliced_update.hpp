// SPDX-License-Identifier: BSD-3-Clause
// SlicedUpdate: an extension of Optimizer. An optimizer inherits it if its update can be computed for a part
// of the blocks. Each of the ranks that train one run together then updates a part and keeps only the states
// of this part. An optimizer that does not inherit it, for example because it needs a norm of all parameters,
// updates everything on every rank. The host checks this once, before the states are made
// (train/training_step.hpp), and the contract suite checks the promises of this header. The header is part of
// the ABI of plugins: a change needs a new ENCORE_SDK_VERSION (plugin.hpp).
#pragma once

#include <cstdint>

namespace encore {

/// The values on which the update of an element depends, in addition to learning rate, step and gradient
/// scale.
enum class UpdateReach : std::uint8_t {
  element,  ///< its own value, gradient and states (SGD, Adam)
  segment,  ///< those of its parameter (LAMB)
};

/// An optimizer inherits it beside Optimizer. Blocks are then those of a part: values, gradients and states
/// begin at its first element, and segments, chunks and their numbers count from there. With
/// UpdateReach::element a part may hold a part of a segment, cut between two chunks; with
/// UpdateReach::segment it holds whole ones. The bits of each element are those of an update of everything.
class SlicedUpdate {
 public:
  virtual ~SlicedUpdate() = default;
  virtual UpdateReach reach() const = 0;
};

}  // namespace encore
