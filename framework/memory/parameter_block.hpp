// ParameterBlock: all parameters of a model in one block of values, one of gradients and one per optimizer
// state, with equal offsets, ordered by full path. An optimizer is a pass over blocks, a checkpoint a list of
// named slices. Place in the flow: model/ makes it, train/ hands blocks() to the optimizer and reads slices
// for checkpoints and digests.
// With activations of 16 bits the blocks are float32 all the same, and the parameters that passes see as
// activations (the matrices of products) have a copy of that type, made anew once after the values have
// changed.
// Embedding tables have none: a step reads a few hundred rows of them, a copy would be all of the table.
// The gradient of such a table is zero but for these rows; what is known of it stands beside the chunks
// (chunk_gradients.hpp).
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

namespace encore {

/// What a model is made for.
enum class Use : std::uint8_t {
  training,  ///< parameters are zero until they are initialised or loaded; they have gradients
  /// Forward passes only: parameters are undefined until they are loaded, here or elsewhere (place_at), and
  /// nothing else is there.
  inference,
};

class ParameterBlock {
 public:
  /// precision: that of the activations. With `shards` > 1 there is a second gradient block, see
  /// begin_shard; for inference there is none at all, and gradients() is an empty Tensor. Throws Error when a
  /// path stands twice, or when a parameter with `token_rows` has no rows.
  ParameterBlock(const Device& device, std::vector<NamedParameter> parameters, DType precision,
                 std::int64_t shards, Use use = Use::training);

  /// Of values, gradients and states: float32, or float64 with float64 activations.
  DType dtype() const { return dtype_; }
  /// In the order of the paths, which is the order in memory.
  const std::vector<ParameterSlice>& slices() const { return slices_; }
  /// Throws std::logic_error for an unknown path.
  const ParameterSlice& find(std::string_view path) const;
  /// Number of parameters, gaps for alignment not counted.
  std::int64_t count() const;

  /// Who writes to it says values_changed() afterwards.
  Tensor values() const { return values_; }
  void values_changed() {
    copies_are_old_ = true;
    ++version_;
  }
  /// Another number after each values_changed().
  std::int64_t version() const { return version_; }
  /// What a pass reads that wants `element`: the parameter's copy where it has one, else its part of
  /// values().
  Tensor seen_by_passes(const ParameterSlice& parameter, Element element) const;
  /// For inference, before passes are made: the parameter's values stay where they are, in host memory that
  /// outlives this block, and values() does not hold them. False, and nothing is done, where passes could not
  /// read them there: on a device with memory of its own, with activations of another type (passes read
  /// copies), and at an address that is not a multiple of tensor_alignment.
  bool place_at(const ParameterSlice& parameter, const std::byte* host);
  /// Before a pass: applies the adapters and makes the copies anew, if the values have changed since the last
  /// time.
  void refresh_copies();
  /// The parameter's values as passes use them, its adapter included, in the type of values(). After
  /// refresh_copies().
  Tensor adapted(const ParameterSlice& parameter) const;
  /// The gradients of the whole batch: what the optimizer reads. Who writes to those of a parameter with
  /// `token_rows` says mark_rows().
  Tensor gradients() const { return gradients_; }
  /// *result = the sum of their squares in double and in a fixed order; result: device memory.
  void sum_gradient_squares(double* result) const;
  /// The gradients that `backward` adds to: of one shard; the same as gradients() with one shard.
  Tensor shard_gradients() const { return shard_gradients_; }
  /// A parameter's part of values(), gradients() or a state, in the parameter's own shape; of an empty Tensor
  /// an empty one.
  static Tensor slice(Tensor block, const ParameterSlice& parameter);

  /// From now on states are those of a range of elements only, and blocks() is of that range: what a rank
  /// owns (train/gradient_exchange.hpp). Before make_states. The range has borders of cut_blocks.
  void own(const BlockRange& range);
  /// All elements, unless own() has said otherwise.
  const BlockRange& owned() const { return owned_; }
  /// Elements of a block, gaps included.
  std::int64_t extent() const { return extent_; }
  /// A range of values(), gradients() or shard_gradients() as one row of elements.
  static Tensor range(Tensor block, const BlockRange& range);

  /// Adds state blocks of what is owned, filled with zeros; earlier ones are dropped.
  void make_states(const std::vector<std::string>& names);
  /// Who writes to a state, other than an update, says this afterwards.
  void states_changed() { states_are_new_ = true; }
  const std::vector<std::string>& state_names() const { return state_names_; }
  /// (owned().size())
  Tensor state(std::size_t index) const { return states_[index]; }

  /// What Optimizer::update takes, for one update of what is owned: the values count as changed.
  /// gradient_scale: device memory, one double.
  Blocks blocks(const double* gradient_scale);

  /// gradients() = 0 where they are owned, and no row counts as marked.
  void zero_gradients();
  /// What the last mark_rows() has left; waits for the device.
  GradientCounts gradient_counts() const;
  /// The rows of the batch's tokens have a gradient: to be said before the optimizer asks, for every shard.
  void mark_rows(const RowSet& batch);
  /// Before the backward pass of a shard: shard_gradients() = 0 (nothing to do with one shard).
  void begin_shard();
  /// After it: gradients() += shard_gradients(). Called in the order of the shards.
  void end_shard();
  /// After the last shard: the gradients of adapters, from those of their matrices.
  void end_shards();

  // What end_shard(), mark_rows() and sum_gradient_squares() do, in parts, for ranks that know some shards
  // only. Chunks are numbered as make_chunks has them.

  /// The chunks of each parameter with `token_rows` that is trained.
  const std::vector<RowChunks>& row_chunks() const { return row_chunks_; }
  /// gradients() += from, a shard's, from element `origin` on, of those of these chunks that are `present` in
  /// of_shard (chunks.chunk_count; device memory).
  void add_rows(const RowChunks& chunks, const ChunkGradient* of_shard, Tensor from, std::int64_t origin) {
    add_chunks(device_, all(), chunks, of_shard, from, origin);
  }
  /// Those that are `present` in of_batch (one for each chunk; device memory) have a gradient.
  void mark_rows(const ChunkGradient* of_batch);
  /// The blocks with chunks [first, first + count) only.
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
  DeviceBuffer adapted_memory_;  ///< adapted matrices, behind them the scratch
  Tensor adapter_scratch_;
  DeviceBuffer copy_memory_;
  bool copies_are_old_ = true;
  std::int64_t version_ = 0;
  Tensor values_, gradients_, shard_gradients_;
  std::vector<Tensor> states_;
  std::vector<std::string> state_names_;
  bool states_are_new_ = false;
  std::int64_t chunk_count_ = 0;      ///< of what is trained
  std::int64_t all_chunk_count_ = 0;  ///< behind them those of what is frozen
  const Segment* segments_ = nullptr;
  const Chunk* chunks_ = nullptr;
  const std::int64_t* copy_begins_ = nullptr;  ///< per segment
  ChunkGradient* chunk_gradients_ = nullptr;
  std::vector<RowChunks> row_chunks_;  ///< of each parameter with `token_rows`
};

}  // namespace encore
