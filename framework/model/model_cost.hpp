// ModelCost: what a model costs before it exists: parameters, operations and memory of a training step, part
// by part, from what its layers have declared and from the step plans themselves. Nothing is allocated. Place
// in the flow: `exp plan --size` asks the worker (worker/size_verb.cpp), which makes the Network and calls
// this.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "model/network.hpp"

namespace encore {

/// Floating-point operations of matrix products, a multiply-add being two.
struct PartCost {
  std::string name;             ///< "embedding", "encoder", "block", "attention"
  std::string type = {};        ///< of a sub-layer or head, as an experiment names it
  std::int64_t count = 1;       ///< of equal blocks behind one another; all numbers here are of one of them
  std::int64_t parameters = 0;  ///< what several parts share counts where it stands first
  std::int64_t trained = 0;     ///< of these
  double forward_flops = 0.0;   ///< of the batch
  double training_flops = 0.0;  ///< of the same batch: forward and backward
  std::vector<PartCost> parts = {};

  friend bool operator==(const PartCost&, const PartCost&) = default;
};

/// In bytes.
struct MemoryCost {
  std::size_t parameters = 0;
  std::size_t gradients = 0;  ///< those of a shard of their own included, where there are several
  std::size_t optimizer = 0;
  std::size_t copies = 0;      ///< low-precision copies, and matrices with their adapters applied
  std::size_t training = 0;    ///< activations: the arena of a training pass over the largest shard
  std::size_t evaluation = 0;  ///< the same of an evaluation of the whole batch; both use one arena

  std::size_t arena() const { return training > evaluation ? training : evaluation; }
  std::size_t total() const { return parameters + gradients + optimizer + copies + arena(); }
};

struct ModelCost {
  PartCost whole;  ///< its parts: embedding, stacks, head
  MemoryCost memory;
  /// Sub-layers that mix rows and do not say what they multiply beside their matrices (MultipliesRows).
  std::vector<std::string> uncounted;
};

/// Whether each row is multiplied by it, x W^T: tables of embeddings are looked up, and vectors are added.
bool is_matrix(const ParameterSpec& spec);

/// `count` sequences of `length` rows each, and for a decoder as many targets of the same length; `picked`:
/// the share of the rows that the task picks.
BatchSize uniform_batch(const Network& network, std::int64_t count, std::int64_t length, double picked);

/// Of steps over `batch`, of which a training shard is `shard`. shards: train.gradient_shards; states: blocks
/// of the optimizer.
ModelCost cost_of(const Network& network, const BatchSize& batch, const BatchSize& shard, std::int64_t shards,
                  std::size_t states);

}  // namespace encore
