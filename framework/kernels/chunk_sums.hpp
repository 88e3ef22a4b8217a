// The sum of the squares of all gradients in its two halves: one sum per chunk, and the sum of these in chunk
// order. Who owns some chunks only computes the first half of these and gets the others' from elsewhere; the
// bits are those of kernels::sum_of_squares.
#pragma once

#include <cstdint>

#include <encore/device.hpp>
#include <encore/optimizer.hpp>

namespace encore::kernels {

/// Doubles that sum_of_chunks needs for so many chunks: their sums in front.
std::int64_t room_for_chunk_sums(std::int64_t chunks);
/// partial (chunks) = the sum of squares of each chunk's gradients.
void chunk_squares(const Device& device, const Blocks& blocks, double* partial);
/// *result = the sum of partial (chunks); `partial` has room_for_chunk_sums.
void sum_of_chunks(const Device& device, double* partial, std::int64_t chunks, double* result);

}  // namespace encore::kernels
