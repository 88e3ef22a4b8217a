// Rows that a head picks out of the states: the first of each sequence, masked positions. Place in the flow:
// Pass runs these between the last layer and the head.
#pragma once

#include <encore/device.hpp>
#include <encore/layer.hpp>

namespace encore {

/// y (M, C): row m is row rows[m] of x (N, C). rows: int32, at least M of them.
void gather_rows(const Device& device, Tensor x, Tensor rows, Tensor y);
/// dx (N, C) = 0, but row rows[m] = row m of dy (M, C). No row is picked twice, so no sum needs an order.
void scatter_rows(const Device& device, Tensor dy, Tensor rows, Tensor dx);

}  // namespace encore
