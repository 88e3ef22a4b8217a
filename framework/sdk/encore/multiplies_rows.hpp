// MultipliesRows: an extension of Layer for one that multiplies rows by rows, as attention does with queries,
// keys and values. LayerPlan::matrix declares what a layer multiplies by its matrices; this extension
// declares the other products. Place in the flow: the host asks for it to report the cost of a step
// (`exp plan --size`), and for nothing else.
#pragma once

#include <encore/shape.hpp>

namespace encore {

/// To be inherited beside Layer.
class MultipliesRows {
 public:
  virtual ~MultipliesRows() = default;
  /// Multiply-adds of a forward pass by the formula, m k n for a product (m, k) x (k, n), whatever a kernel
  /// computes more than once or masks. The sequences of `size` are equally long. After declare; the backward
  /// pass counts as two such products each.
  virtual double row_multiply_adds(const BatchSize& size) const = 0;
};

}  // namespace encore
