// SPDX-License-Identifier: BSD-3-Clause
// ParameterBlock holds all parameters of a model in one block of values, one of gradients and one per
// optimizer state, with equal offsets, ordered by full path. An optimizer is a pass over blocks, a checkpoint
// a list of named slices. model/ makes it; train/ gives blocks() to the optimizer and reads slices for
// checkpoints and digests, so paths and their order must stay. Read next: parameter_layout.hpp.
//
// With activations of 16 bits the blocks are still float32, and the parameters that passes see as activations
// (the matrices of products) have a copy of that type, made again once after the values have changed.
// Embedding tables have none: a step reads a few hundred rows of them, a copy would be all of the table. The
// gradient of such a table is zero except for these rows; chunk_gradients.hpp keeps what is known of it
// beside the chunks.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <encore/device.hpp>
#include <encore/optimizer.hpp>

#include "memory/chunk_gradients.hpp"
#include "memory/device_memory.hpp"
#include "memory/parameter_layout.hpp"

namespace encore::memory {

/// Says what a model is made for.
enum class Use : std::uint8_t {
  training,  ///< parameters are zero until they are initialized or loaded; they have gradients
  /// Forward passes only: parameters are undefined until they are loaded, here or elsewhere (place_at). There
  /// are no gradients and no states.
  inference,
};

class ParameterBlock {
 public:
  /// `precision`: that of the activations. With `shards` > 1 there is a second gradient block (begin_shard);
  /// for inference there is none, and gradients() is an empty Tensor. Throws Error when a path occurs twice,
  /// or when a parameter with `token_rows` has no rows.
  ParameterBlock(const Device& device, std::vector<NamedParameter> parameters, DType precision,
                 std::int64_t shards, Use use = Use::training);

  /// Returns the type of values, gradients and states: float32, or float64 with float64 activations.
  DType dtype() const { return dtype_; }
  /// Returns the slices in the order of the paths, which is the order in memory.
  const std::vector<ParameterSlice>& slices() const { return slices_; }
  /// Throws std::logic_error for an unknown path.
  const ParameterSlice& find(std::string_view path) const;
  /// Returns the number of parameters, without gaps for alignment.
  std::int64_t count() const;

  /// Returns the block of values. Call values_changed() after writing to it.
  Tensor values() const { return values_; }
  void values_changed() {
    copies_are_old_ = true;
    ++version_;
  }
  /// Returns another number after each values_changed().
  std::int64_t version() const { return version_; }
  /// Returns what a pass reads that wants `element`: the parameter's copy if it has one, else its part of
  /// values().
  Tensor seen_by_passes(const ParameterSlice& parameter, Element element) const;
  /// For inference, before passes are made: leaves the parameter's values where they are, in host memory that
  /// outlives this block; values() does not contain them. Returns false and does nothing if passes could not
  /// read them there: on a device with memory of its own, with activations of another type (passes read
  /// copies), or at an address that is not a multiple of tensor_alignment.
  bool place_at(const ParameterSlice& parameter, const std::byte* host);
  /// Call it before a pass: it applies the adapters and makes the copies again, if the values have changed
  /// since the last call.
  void refresh_copies();
  /// Returns the parameter's values as passes use them, its adapter included, in the type of values(). Call
  /// it after refresh_copies().
  Tensor adapted(const ParameterSlice& parameter) const;
  /// Returns the gradients of the whole batch, which the optimizer reads. Call mark_rows() after writing to
  /// those of a parameter with `token_rows`.
  Tensor gradients() const { return gradients_; }
  /// Sets *result to the sum of their squares, in double and in a fixed order; result: device memory.
  void sum_gradient_squares(double* result) const;
  /// Returns the gradients of one shard, to which `backward` adds; with one shard they are gradients().
  Tensor shard_gradients() const { return shard_gradients_; }
  /// Returns a parameter's part of values(), gradients() or a state, in the parameter's own shape; an empty
  /// Tensor for an empty one.
  static Tensor slice(Tensor block, const ParameterSlice& parameter);

  /// Limits states and blocks() to a range of elements: what a rank owns (train/gradient_exchange.hpp). Call
  /// it before make_states. The range has borders of cut_blocks.
  void own(const BlockRange& range);
  /// Returns all elements, unless own() was called.
  const BlockRange& owned() const { return owned_; }
  /// Returns the elements of a block, gaps included.
  std::int64_t extent() const { return extent_; }
  /// Returns a range of values(), gradients() or shard_gradients() as one row of elements.
  static Tensor range(Tensor block, const BlockRange& range);

  /// Adds state blocks for what is owned, filled with zeros; drops earlier ones.
  void make_states(const std::vector<std::string>& names);
  /// Call it after writing to a state other than by an update.
  void states_changed() { states_are_new_ = true; }
  const std::vector<std::string>& state_names() const { return state_names_; }
  /// Returns the state block with this index, (owned().size()).
  Tensor state(std::size_t index) const { return states_[index]; }

  /// Returns the arguments of Optimizer::update for one update of what is owned; the values then count as
  /// changed. gradient_scale: device memory, one double.
  Blocks blocks(const double* gradient_scale);

  /// Sets gradients() to 0 where they are owned, and unmarks all rows.
  void zero_gradients();
  /// Returns the counts after the last mark_rows(); waits for the device.
  GradientCounts gradient_counts() const;
  /// Marks the rows of the batch's tokens as having a gradient. Call it for every shard before the update.
  void mark_rows(const RowSet& batch);
  /// Sets shard_gradients() to 0 before the backward pass of a shard (does nothing with one shard).
  void begin_shard();
  /// Adds shard_gradients() to gradients() after the backward pass of a shard. Call it in the order of the
  /// shards.
  void end_shard();
  /// Computes the gradients of adapters from those of their matrices, after the last shard.
  void end_shards();

  // The next functions are the parts of end_shard(), mark_rows() and sum_gradient_squares(), for ranks, each
  // of which computes only some shards. Chunks are numbered as in make_chunks.

  /// Returns the chunks of each parameter with `token_rows` that is trained.
  const std::vector<RowChunks>& row_chunks() const { return row_chunks_; }
  /// Computes gradients() += from, the gradients of a shard from element `origin` on, for those of these
  /// chunks that are `present` in of_shard (chunks.chunk_count; device memory).
  void add_rows(const RowChunks& chunks, const ChunkGradient* of_shard, Tensor from, std::int64_t origin) {
    add_chunks(device_, all(), chunks, of_shard, from, origin);
  }
  /// Marks the chunks that are `present` in of_batch (one for each chunk; device memory) as having a
  /// gradient.
  void mark_rows(const ChunkGradient* of_batch);
  /// Returns the blocks with chunks [first, first + count) only.
  Blocks chunk_blocks(std::int64_t first, std::int64_t count) const;

 private:
  std::size_t block_bytes() const;
  void make_blocks(std::int64_t shards);
  Blocks all() const;
  Blocks of_owned() const;
  void make_tables();
  void make_copies(const BlockExtents& extents);
  Tensor base(const ParameterSlice& parameter) const;
  AdapterTensors parts(const ParameterSlice& matrix, Tensor block) const;

  const Device& device_;
  Use use_;
  DType precision_;
  DType dtype_;
  std::vector<ParameterSlice> slices_;
  std::int64_t extent_ = 0;  ///< P, gaps included
  BlockRange owned_;
  DeviceBuffer owned_tables_;  ///< empty where all is owned
  Blocks owned_blocks_;        ///< their segments and chunks
  std::vector<RowChunks> owned_row_chunks_;
  std::int64_t owned_first_chunk_ = 0;
  DeviceBuffer memory_;
  DeviceBuffer state_memory_;
  DeviceBuffer tables_;
  DeviceBuffer adapted_memory_;  ///< adapted matrices, then the scratch memory
  Tensor adapter_scratch_;
  DeviceBuffer copy_memory_;
  bool copies_are_old_ = true;
  std::int64_t version_ = 0;
  Tensor values_, gradients_, shard_gradients_;
  std::vector<Tensor> states_;
  std::vector<std::string> state_names_;
  bool states_are_new_ = false;
  std::int64_t chunk_count_ = 0;      ///< of what is trained
  std::int64_t all_chunk_count_ = 0;  ///< with those of frozen parameters, which come after them
  const Segment* segments_ = nullptr;
  const Chunk* chunks_ = nullptr;
  const std::int64_t* copy_begins_ = nullptr;  ///< per segment
  ChunkGradient* chunk_gradients_ = nullptr;
  std::vector<RowChunks> row_chunks_;  ///< of each parameter with `token_rows`
};

}  // namespace encore::memory
