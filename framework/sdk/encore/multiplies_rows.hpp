// SPDX-License-Identifier: BSD-3-Clause
// MultipliesRows: an extension of Layer. A layer inherits it if it multiplies rows by rows, as attention does
// with queries, keys and values. LayerPlan::matrix declares what a layer multiplies by its matrices; this
// extension declares the other products. The host uses it only to report the cost of a step
// (`exp plan --size`). Read next: layer.hpp. The header is part of the ABI of plugins: a change needs a new
// ENCORE_SDK_VERSION (plugin.hpp).
#pragma once

#include <encore/shape.hpp>

namespace encore {

/// A layer inherits it beside Layer.
class MultipliesRows {
 public:
  virtual ~MultipliesRows() = default;
  /// Returns the multiply-adds of a forward pass by the formula: m k n for a product (m, k) x (k, n), also if
  /// a kernel masks values or computes some twice. The sequences of `size` are equally long. The host calls
  /// it after declare, and counts a backward pass as twice this number.
  virtual double row_multiply_adds(const BatchSize& size) const = 0;
};

}  // namespace encore
