// SPDX-License-Identifier: BSD-3-Clause
// Maintains the byte per chunk that says what is known of its gradient (ChunkGradient in
// encore/optimizer.hpp). ParameterBlock cuts parameters with `token_rows` into chunks of whole rows and
// calls these during a step: zero_gradients, mark_rows for every shard, the optimizer, and once after
// states came from outside find_zero_states. Ranks, which see some shards only, have mark_chunks and
// add_chunks.
//
//   chunk       before the step   zero_gradients   mark_rows       optimizer
//   of a batch  any               absent, zero     present         reads it
//   not of it   present           absent, zero     -               knows that it is zero
//   not of it   never             never            -               knows that its states are zero too
//   dense       present           present, zero    -               reads it
#pragma once

#include <cstdint>

#include <encore/device.hpp>
#include <encore/layer.hpp>
#include <encore/optimizer.hpp>

namespace encore::memory {

/// The chunks of one parameter with `token_rows`.
struct RowChunks {
  std::int64_t first_chunk = 0;
  std::int64_t chunk_count = 0;
  std::int64_t rows_per_chunk = 1;  ///< of all but the last
};

/// The number of elements of a block by the kind of their chunk; gaps between parameters are not counted.
struct GradientCounts {
  std::int64_t never = 0, absent = 0, present = 0;
  std::int64_t chunks = 0;      ///< of all kinds
  std::int64_t row_chunks = 0;  ///< of parameters with `token_rows`
};

/// Returns how many rows of `row_size` elements make a chunk: one, or as many short ones as are worth a chunk
/// of their own; 0 if a row is longer than a chunk, which makes the parameter one like any other.
std::int64_t rows_per_chunk(std::int64_t row_size);

/// Sets the gradients of `present` chunks to 0; all others are zero already.
void zero_gradients(const Device& device, const Blocks& blocks);
/// Makes present chunks absent. Call it after zero_gradients.
void forget_gradients(const Device& device, const RowChunks& chunks, ChunkGradient* known);
/// Makes the chunks of the batch's tokens present; tokens beyond the last row have none.
void mark_rows(const Device& device, const RowSet& batch, const RowChunks& chunks, ChunkGradient* known);
/// Makes present the chunks that are `present` in of_batch (chunks.chunk_count; device memory), for ranks
/// that know the chunks of the whole batch.
void mark_chunks(const Device& device, const ChunkGradient* of_batch, const RowChunks& chunks,
                 ChunkGradient* known);
/// Computes gradients += from, for those chunks of a part (first_chunk and chunk_count of `chunks`) that are
/// `present` in of_shard (device memory, one per chunk of the part). `from` starts at element `origin`.
void add_chunks(const Device& device, const Blocks& blocks, const RowChunks& chunks,
                const ChunkGradient* of_shard, Tensor from, std::int64_t origin);
/// Marks chunks without a gradient in this step: `never` if all states are +0, else `absent`.
void find_zero_states(const Device& device, const Blocks& blocks, const RowChunks& chunks,
                      ChunkGradient* known);

}  // namespace encore::memory
