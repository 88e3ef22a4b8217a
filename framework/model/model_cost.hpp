// SPDX-License-Identifier: BSD-3-Clause
// ModelCost is what a model costs before it exists: parameters, operations and memory of a training step,
// part by part, from what its layers have declared and from the step plans. Nothing is allocated. `exp plan
// --size` asks the worker (worker/size_verb.cpp), which makes the Network, calls this and writes the numbers
// as record/size_answer.hpp; bench/ takes is_matrix() from here. Each number must equal what Model then
// allocates and computes, which tests compare.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "model/network.hpp"

namespace encore::model {

/// Counts floating-point operations of matrix products; a multiply-add counts as two.
struct PartCost {
  std::string name;             ///< "embedding", "encoder", "block", "attention"
  std::string type = {};        ///< of a sub-layer or head, in the words of an experiment
  std::int64_t count = 1;       ///< number of equal blocks; all numbers here are of one of them
  std::int64_t parameters = 0;  ///< parameters that several parts share count in the first
  std::int64_t trained = 0;     ///< those of them that are trained
  double forward_flops = 0.0;   ///< of the batch
  double training_flops = 0.0;  ///< of the same batch: forward and backward
  std::vector<PartCost> parts = {};

  friend bool operator==(const PartCost&, const PartCost&) = default;
};

/// All numbers are in bytes.
struct MemoryCost {
  std::size_t parameters = 0;
  std::size_t gradients = 0;  ///< with those of a separate shard, if there are several shards
  std::size_t optimizer = 0;
  std::size_t copies = 0;      ///< low-precision copies, and matrices with their adapters applied
  std::size_t training = 0;    ///< activations: the arena of a training pass over the largest shard
  std::size_t evaluation = 0;  ///< the same of an evaluation of the whole batch; both use one arena

  std::size_t arena() const { return training > evaluation ? training : evaluation; }
  std::size_t total() const { return parameters + gradients + optimizer + copies + arena(); }
};

struct ModelCost {
  PartCost whole;  ///< its parts are embedding, stacks, head
  MemoryCost memory;
  /// Sub-layers that mix rows and do not report their products without matrices (MultipliesRows).
  std::vector<std::string> uncounted;
};

/// Returns whether a parameter is a matrix that multiplies each row, x W^T. Embedding tables are looked up,
/// vectors are added.
bool is_matrix(const ParameterSpec& spec);

/// Returns the size of `count` sequences of `length` rows each, and for a decoder an equal number of targets
/// of the same length; `picked` is the share of rows that the task picks.
BatchSize uniform_batch(const Network& network, std::int64_t count, std::int64_t length, double picked);

/// Returns the cost of steps over batches of size `batch`, which are trained in shards of size `shard`.
/// `shards`: train.gradient_shards; `states`: the number of state blocks of the optimizer.
ModelCost cost_of(const Network& network, const BatchSize& batch, const BatchSize& shard, std::int64_t shards,
                  std::size_t states);

}  // namespace encore::model
