// ParameterBlock: all parameters of a model in one block of values, one of gradients and one per optimizer
// state, with equal offsets, ordered by full path. An optimizer is a pass over blocks, a checkpoint a list of
// named slices. Place in the flow: model/ makes it, train/ hands blocks() to the optimizer and reads slices
// for checkpoints and digests.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <encore/device.hpp>
#include <encore/optimizer.hpp>

#include "memory/device_memory.hpp"

namespace encore {

/// A parameter to lay out: its full path and what its layer declared.
struct NamedParameter {
  std::string path;
  ParameterSpec spec;
};

/// Where a parameter lies in every block.
struct ParameterSlice {
  std::string path;
  ParameterSpec spec;
  std::int64_t begin = 0;  ///< in elements; a multiple of 64 bytes in every precision
  std::int64_t size = 0;
};

class ParameterBlock {
 public:
  /// dtype: float32 or float64. With `shards` > 1 there is a second gradient block, see begin_shard.
  /// Throws Error when a path stands twice.
  ParameterBlock(const Device& device, std::vector<NamedParameter> parameters, DType dtype,
                 std::int64_t shards);

  DType dtype() const { return dtype_; }
  /// In the order of the paths, which is the order in memory.
  const std::vector<ParameterSlice>& slices() const { return slices_; }
  /// Throws std::logic_error for an unknown path.
  const ParameterSlice& find(std::string_view path) const;
  /// Number of parameters, gaps for alignment not counted.
  std::int64_t count() const;

  Tensor values() const { return values_; }
  /// The gradients of the whole batch: what the optimizer reads.
  Tensor gradients() const { return gradients_; }
  /// The gradients that `backward` adds to: of one shard; the same as gradients() with one shard.
  Tensor shard_gradients() const { return shard_gradients_; }
  /// A parameter's part of values(), gradients() or a state, in the parameter's own shape.
  static Tensor slice(Tensor block, const ParameterSlice& parameter);

  /// Adds state blocks, filled with zeros; earlier ones are dropped.
  void make_states(const std::vector<std::string>& names);
  const std::vector<std::string>& state_names() const { return state_names_; }
  Tensor state(std::size_t index) const { return states_[index]; }

  /// What Optimizer::update takes. gradient_scale: device memory, one double.
  Blocks blocks(const double* gradient_scale) const;

  /// gradients() = 0.
  void zero_gradients();
  /// Before the backward pass of a shard: shard_gradients() = 0 (nothing to do with one shard).
  void begin_shard();
  /// After it: gradients() += shard_gradients(). Called in the order of the shards, so that ranks could do
  /// the same.
  void end_shard();

 private:
  std::size_t block_bytes() const;
  void make_tables();

  const Device& device_;
  DType dtype_;
  std::vector<ParameterSlice> slices_;
  std::int64_t extent_ = 0;  ///< P, gaps included
  DeviceBuffer memory_;
  DeviceBuffer state_memory_;
  DeviceBuffer tables_;
  Tensor values_, gradients_, shard_gradients_;
  std::vector<Tensor> states_;
  std::vector<std::string> state_names_;
  std::int64_t chunk_count_ = 0;
  const Segment* segments_ = nullptr;
  const Chunk* chunks_ = nullptr;
};

}  // namespace encore
