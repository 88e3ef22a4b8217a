// SPDX-License-Identifier: BSD-3-Clause
// Implements chunk_gradients.hpp: kernels that set and read the byte per chunk, and that zero or add only
// gradients of chunks that have one. ParameterBlock calls them in each step. Two tasks of a kernel never
// write the same byte, so results need no atomics. Read chunk_gradients.hpp first; its table says what each
// call may assume.
#include "memory/chunk_gradients.hpp"

#include <algorithm>

#include <encore/rows.hpp>
#include <encore/view.hpp>

namespace encore::memory {
namespace {

/// The least number of elements of a chunk: a smaller one costs more to check than to read.
constexpr std::int64_t worth_a_chunk = 256;
constexpr std::int64_t bytes_per_task = 4096;

template <class T>
void zero_present(const Device& device, const Blocks& blocks) {
  T* gradients = elements<T>(blocks.gradients);
  const Chunk* chunks = blocks.chunks;
  const ChunkGradient* known = blocks.chunk_gradients;
  for_uneven_rows(
      device, "encore::zero_gradients", blocks.chunk_count, KOKKOS_LAMBDA(const Row& row) {
        if (known[row.index] != ChunkGradient::present) return;
        const Chunk chunk = chunks[row.index];
        T* to = gradients + chunk.begin;
        row.each(chunk.size, [&](std::int64_t i) { to[i] = T(0); });
      });
}

template <class T>
void add_present(const Device& device, const Blocks& blocks, const RowChunks& part,
                 const ChunkGradient* of_shard, Tensor from, std::int64_t origin) {
  T* gradients = elements<T>(blocks.gradients);
  const T* shard = elements<T>(from);
  const Chunk* chunks = blocks.chunks + part.first_chunk;
  for_uneven_rows(
      device, "encore::add_chunks", part.chunk_count, KOKKOS_LAMBDA(const Row& row) {
        if (of_shard[row.index] != ChunkGradient::present) return;
        const Chunk chunk = chunks[row.index];
        T* to = gradients + chunk.begin;
        const T* x = shard + (chunk.begin - origin);
        row.each(chunk.size, [&](std::int64_t i) { to[i] += x[i]; });
      });
}

/// A state is zero only if all its bits are: -0 would become +0 in an update, and must not be skipped.
template <class T, class Bits>
void find_zero(const Device& device, const Blocks& blocks, Tensor state, const RowChunks& rows, bool first,
               ChunkGradient* known) {
  static_assert(sizeof(T) == sizeof(Bits));
  const Bits* bits = reinterpret_cast<const Bits*>(elements<T>(state));
  const Chunk* chunks = blocks.chunks;
  const std::int64_t first_chunk = rows.first_chunk;
  for_rows(
      device, "encore::find_zero_states", rows.chunk_count, KOKKOS_LAMBDA(const Row& row) {
        ChunkGradient& what = known[first_chunk + row.index];
        const bool asked = first ? what != ChunkGradient::present : what == ChunkGradient::never;
        const Chunk chunk = chunks[first_chunk + row.index];
        const std::int64_t others = row.sum<std::int64_t>(
            chunk.size, [&](std::int64_t i) { return bits[chunk.begin + i] == 0 ? 0 : 1; });
        if (asked) row.once([&] { what = others == 0 ? ChunkGradient::never : ChunkGradient::absent; });
      });
}

}  // namespace

std::int64_t rows_per_chunk(std::int64_t row_size) {
  if (row_size <= 0 || row_size > Blocks::chunk_size) return 0;
  return std::max<std::int64_t>(1, worth_a_chunk / row_size);
}

void zero_gradients(const Device& device, const Blocks& blocks) {
  dispatch_parameters(blocks.gradients.dtype,
                      [&](auto type) { zero_present<decltype(type)>(device, blocks); });
}

void forget_gradients(const Device& device, const RowChunks& chunks, ChunkGradient* known) {
  ChunkGradient* of_rows = known + chunks.first_chunk;
  const std::int64_t count = chunks.chunk_count;
  for_rows(
      device, "encore::forget_gradients", (count + bytes_per_task - 1) / bytes_per_task,
      KOKKOS_LAMBDA(const Row& row) {
        const std::int64_t begin = row.index * bytes_per_task;
        row.each(count - begin < bytes_per_task ? count - begin : bytes_per_task, [&](std::int64_t i) {
          if (of_rows[begin + i] == ChunkGradient::present) of_rows[begin + i] = ChunkGradient::absent;
        });
      });
}

void mark_rows(const Device& device, const RowSet& batch, const RowChunks& chunks, ChunkGradient* known) {
  const std::int32_t* ids = elements<std::int32_t>(batch.ids);
  const std::int32_t* order = elements<std::int32_t>(batch.order);
  ChunkGradient* of_rows = known + chunks.first_chunk;
  const std::int64_t rows = chunks.rows_per_chunk, count = chunks.chunk_count;
  for_rows(
      device, "encore::mark_rows", batch.size.tokens, KOKKOS_LAMBDA(const Row& row) {
        // Rows with tokens of one chunk are neighbours in `order`: the first of them writes.
        const std::int64_t chunk = ids[order[row.index]] / rows;
        if (row.index > 0 && ids[order[row.index - 1]] / rows == chunk) return;
        row.once([&] {
          if (chunk < count) of_rows[chunk] = ChunkGradient::present;
        });
      });
}

void mark_chunks(const Device& device, const ChunkGradient* of_batch, const RowChunks& chunks,
                 ChunkGradient* known) {
  ChunkGradient* of_rows = known + chunks.first_chunk;
  const std::int64_t count = chunks.chunk_count;
  for_rows(
      device, "encore::mark_chunks", (count + bytes_per_task - 1) / bytes_per_task,
      KOKKOS_LAMBDA(const Row& row) {
        const std::int64_t begin = row.index * bytes_per_task;
        row.each(count - begin < bytes_per_task ? count - begin : bytes_per_task, [&](std::int64_t i) {
          if (of_batch[begin + i] == ChunkGradient::present) of_rows[begin + i] = ChunkGradient::present;
        });
      });
}

void add_chunks(const Device& device, const Blocks& blocks, const RowChunks& chunks,
                const ChunkGradient* of_shard, Tensor from, std::int64_t origin) {
  dispatch_parameters(blocks.gradients.dtype, [&](auto type) {
    add_present<decltype(type)>(device, blocks, chunks, of_shard, from, origin);
  });
}

void find_zero_states(const Device& device, const Blocks& blocks, const RowChunks& chunks,
                      ChunkGradient* known) {
  for (std::size_t i = 0; i < blocks.states.size(); ++i) {
    if (blocks.values.dtype == DType::float32)
      find_zero<float, std::uint32_t>(device, blocks, blocks.states[i], chunks, i == 0, known);
    else
      find_zero<double, std::uint64_t>(device, blocks, blocks.states[i], chunks, i == 0, known);
  }
}

}  // namespace encore::memory
