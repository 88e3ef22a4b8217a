// SPDX-License-Identifier: BSD-3-Clause
// Lays out parameters in blocks, without any memory: their offsets, and the tables by which an optimizer cuts
// them up. Place in the flow: Network lists the parameters -> here -> ParameterBlock allocates the blocks;
// model/model_cost.cpp counts their bytes. Chunks decide the order of sums over gradients, so another cut
// changes the bits of runs. Read next: parameter_block.hpp.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <encore/optimizer.hpp>
#include <encore/sliced_update.hpp>

#include "memory/adapters.hpp"
#include "memory/device_memory.hpp"

namespace encore::memory {

/// A parameter to lay out: its full path and what its layer declared.
struct NamedParameter {
  std::string path;
  ParameterSpec spec;
  bool frozen = false;                      ///< no optimizer touches it, and no norm counts its gradient
  float learning_rate = 1.0F;               ///< factor on the learning rate
  std::optional<AdapterRule> adapter = {};  ///< of a frozen matrix: what is trained in its place
  bool factor = false;                      ///< A or B of an adapter
};

/// The place of a parameter in every block.
struct ParameterSlice {
  std::string path;
  ParameterSpec spec;
  std::int64_t begin = 0;  ///< in elements; a multiple of tensor_alignment in every precision
  std::int64_t size = 0;
  bool frozen = false;
  float learning_rate = 1.0F;  ///< factor on the learning rate
  std::optional<AdapterRule> adapter = {};
  bool factor = false;                   ///< A or B of an adapter
  std::int64_t adapted_begin = -1;       ///< in elements of the adapted matrices; -1: it has no adapter
  std::int64_t copy_begin = -1;          ///< in elements of the block of copies; -1: it has none
  const std::byte* elsewhere = nullptr;  ///< its values, if they are not in the block; else null
};

/// Segments start at multiples of this number of elements, so that they are aligned to tensor_alignment bytes
/// in float32, and to twice that in float64. Copies of 16 bits are aligned too.
inline constexpr std::int64_t segment_alignment = tensor_alignment / 4;
inline constexpr std::int64_t copy_alignment = tensor_alignment / 2;

constexpr std::int64_t round_up(std::int64_t count, std::int64_t alignment) {
  return (count + alignment - 1) / alignment * alignment;
}

/// Lays out parameters one after the other, ordered by path. Throws Error when a path occurs twice, when a
/// parameter with `token_rows` has no rows, or when no machine has the memory.
std::vector<ParameterSlice> lay_out(std::vector<NamedParameter> parameters);

/// The sizes of blocks and copies, in elements, gaps included.
struct BlockExtents {
  std::int64_t values = 0;           ///< of each block: values, gradients, an optimizer's state
  std::int64_t copies = 0;           ///< in the type of activations
  std::int64_t adapted = 0;          ///< matrices with an adapter, as passes see them
  std::int64_t adapter_scratch = 0;  ///< beside them
};

/// Gives each parameter the places of its copy and of its adapted matrix. precision: that of the activations.
BlockExtents place_copies(std::vector<ParameterSlice>& slices, DType precision);

/// Returns the rows that are a chunk of a parameter with `token_rows`; 0 for all others.
std::int64_t chunk_rows(const ParameterSpec& spec);
/// Returns the number of chunks of a parameter.
std::int64_t chunk_count(const ParameterSlice& slice);

/// Returns a segment for each parameter, in the order of the slices.
std::vector<Segment> make_segments(const std::vector<ParameterSlice>& slices);
/// Makes the chunks of the trained parameters, or of the frozen ones. Optimizers see only those of the
/// trained ones.
std::vector<Chunk> make_chunks(const std::vector<ParameterSlice>& slices, bool frozen = false);

/// The elements [begin, end) of every block.
struct BlockRange {
  std::int64_t begin = 0, end = 0;

  std::int64_t size() const { return end - begin; }
  friend bool operator==(const BlockRange&, const BlockRange&) = default;
};

/// Returns parts + 1 borders, from 0 to the blocks' end: part p reaches from border p to the next. Borders
/// lie where an update with this reach may be cut, each as near as possible to its share of the elements.
std::vector<std::int64_t> cut_blocks(const std::vector<ParameterSlice>& slices, std::int64_t parts,
                                     UpdateReach reach);

/// The tables of a range for an optimizer: everything counts from its first element.
struct RangeTables {
  std::vector<Segment> segments;
  std::vector<Chunk> chunks;
  std::int64_t first_chunk = 0;  ///< the number of chunks.front() in all chunks
};
/// Makes the tables of the trained parameters in a range. The range has borders of cut_blocks.
RangeTables make_tables(const std::vector<ParameterSlice>& slices, const BlockRange& range);

}  // namespace encore::memory
