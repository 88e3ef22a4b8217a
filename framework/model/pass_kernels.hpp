// SPDX-License-Identifier: BSD-3-Clause
// The kernels that model/ launches itself, beside those of the layers. Four copy rows of matrices by lists of
// row numbers: Pass runs them between the last layer and the head, which reads only some rows of the states
// (the first of each sequence, or masked positions); Generation moves rows of its cache with them. Model
// calls sum_shards() after the last shard of a step. Its order of additions is part of the promise that runs
// repeat with equal bits.
#pragma once

#include <cstdint>
#include <span>

#include <encore/device.hpp>
#include <encore/layer.hpp>

namespace encore::model {

/// Computes y (M, C): row m is row rows[m] of x (N, C). rows: int32, at least M of them.
void gather_rows(const Device& device, Tensor x, Tensor rows, Tensor y);
/// Computes dx (N, C): row rows[m] is row m of dy (M, C), all others are 0. No row is picked twice.
void scatter_rows(const Device& device, Tensor dy, Tensor rows, Tensor dx);
/// Sets row rows[m] of y (N, C) to row m of x (M, C); the other rows stay as they are. No row occurs twice in
/// `rows`.
void put_rows(const Device& device, Tensor x, Tensor rows, Tensor y);
/// Sets row to[m] of x (N, C) to row from[m]; both lists are int32 (M). No row is in `to` twice, or in both
/// lists.
void copy_rows(const Device& device, Tensor from, Tensor to, Tensor x);

/// Computes the losses of a batch from those of its shards. `sums` (S, L) has L losses, one per element of
/// `scales`, over S shards; totals[l] = scales[l] * (sums[0, l] + sums[1, l] + ...), in the order of the
/// shards; totals[L] is the sum of all totals, in the order of the losses. Both are in device memory.
void sum_shards(const Device& device, const double* sums, std::int64_t shards, std::span<const double> scales,
                double* totals);

}  // namespace encore::model
