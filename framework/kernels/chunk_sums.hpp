// SPDX-License-Identifier: BSD-3-Clause
// Sums the squares of all gradients in two halves: one sum per chunk, and the sum of these in chunk order.
// reduce.cpp implements both; train/gradient_exchange.cpp calls them, because a rank that owns some chunks
// computes only their sums and receives the others. The bits must be those of kernels::sum_of_squares.
#pragma once

#include <cstdint>

#include <encore/device.hpp>
#include <encore/optimizer.hpp>

namespace encore::kernels {

/// Returns the number of doubles that sum_of_chunks() needs for this number of chunks: the sums of the
/// chunks, then room for those of runs of chunks.
std::int64_t room_for_chunk_sums(std::int64_t chunks);
/// Computes partial (chunks) = the sum of squares of each chunk's gradients. `partial` is device memory.
void chunk_squares(const Device& device, const Blocks& blocks, double* partial);
/// Sets *result = the sum of partial (chunks), in chunk order; `partial` has room_for_chunk_sums() doubles,
/// of which it overwrites those after the first `chunks`.
void sum_of_chunks(const Device& device, double* partial, std::int64_t chunks, double* result);

}  // namespace encore::kernels
