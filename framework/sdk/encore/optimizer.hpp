// SPDX-License-Identifier: BSD-3-Clause
// Optimizer: the rule that updates all parameters in place; train/training_step.cpp calls update(). Values,
// gradients and each state are blocks of equal length and offsets, ordered by parameter path; a segment is
// one parameter's range. Segments are cut into chunks of different lengths (for_uneven_rows), so that a
// kernel runs over chunks and a norm of a segment has a fixed order. ChunkGradient says which chunks of a
// table with a row per token have gradients; an optimizer may ignore it and read zeros. It is part of the ABI
// of plugins: a change needs a new ENCORE_SDK_VERSION (plugin.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <encore/layer.hpp>

namespace encore {

/// One parameter's range in the blocks.
struct Segment {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  float decay = 1.0F;        ///< 1 where weight decay applies, else 0
  float learning_rate = 1.0F;  ///< factor on the learning rate
  std::int64_t first_chunk = 0;  ///< its chunks follow one another, up to the next segment's first
};

/// What the host knows of the gradients in a chunk. Chunks of a parameter with `ParameterSpec::token_rows`
/// are one row or a few each and may be any of the three; all other chunks are always `present`. An optimizer
/// that uses these values must compute the same bits as without them, with 0 in place of the gradient. It may
/// skip a chunk that is `never` if the update would change neither states of +0 nor the values.
enum class ChunkGradient : std::uint8_t {
  never,    ///< +0 in this step and in every step since all states of the chunk were +0
  absent,   ///< +0 in this step
  present,  ///< anything
};

/// A part of a segment of at most `Blocks::chunk_size` elements.
struct Chunk {
  std::int64_t begin = 0;
  std::int32_t size = 0;
  std::int32_t segment = 0;
};

/// The blocks of an optimizer's states, in the order of Optimizer::states.
class StateBlocks {
 public:
  StateBlocks() = default;
  StateBlocks(std::vector<Tensor> blocks) : blocks_(std::move(blocks)) {}
  StateBlocks(std::initializer_list<Tensor> blocks) : blocks_(blocks) {}

  /// Throws std::logic_error for a state that Optimizer::states does not name.
  const Tensor& operator[](std::size_t index) const {
    if (index >= blocks_.size())
      throw std::logic_error("update asks for states[" + std::to_string(index) + "], and states() names " +
                             std::to_string(blocks_.size()) + "; name every state that update uses");
    return blocks_[index];
  }
  std::size_t size() const { return blocks_.size(); }

 private:
  std::vector<Tensor> blocks_;
};

struct Blocks {
  static constexpr std::int64_t chunk_size = 4096;

  Tensor values;                ///< (P), float32 or float64
  Tensor gradients;             ///< (P), as values
  StateBlocks states;           ///< (P) each, as values; zero before the first step
  const Segment* segments = nullptr;  ///< device memory
  const Chunk* chunks = nullptr;      ///< device memory
  std::int64_t segment_count = 0;
  std::int64_t chunk_count = 0;
  const double* gradient_scale = nullptr;  ///< device memory: factor on each gradient (clipping); fused into the pass
  const ChunkGradient* chunk_gradients = nullptr;  ///< device memory, one per chunk; null: all are present
};

class Optimizer {
 public:
  virtual ~Optimizer() = default;
  /// The learning rate where the schedule's factor is 1, finite and above 0; as a rule the option `learning_rate`.
  virtual double learning_rate() const = 0;
  /// Names of the state blocks, such as {"first_moment", "second_moment"}; they name the slices in a checkpoint.
  virtual std::vector<std::string> states() const = 0;
  /// Updates all values in place. `step` counts from 1; `learning_rate` is learning_rate() times the
  /// schedule's factor.
  virtual void update(const Device& device, const Blocks& blocks, double learning_rate, std::int64_t step) = 0;
};

}  // namespace encore
