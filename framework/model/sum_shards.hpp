// SPDX-License-Identifier: BSD-3-Clause
// Computes the losses of a batch from those of its shards, on the device. Model calls it after the last shard
// of a step. The order of additions is part of the promise that runs repeat with equal bits.
#pragma once

#include <cstdint>
#include <span>

#include <encore/device.hpp>

namespace encore::model {

/// `sums` (S, L) has L losses, one per element of `scales`, over S shards; totals[l] = scales[l] * (sums[0,
/// l] + sums[1, l] + ...), in the order of the shards; totals[L] is the sum of all totals, in the order of
/// the losses. Both are in device memory.
void sum_shards(const Device& device, const double* sums, std::int64_t shards, std::span<const double> scales,
                double* totals);

}  // namespace encore::model
