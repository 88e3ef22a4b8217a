// SPDX-License-Identifier: BSD-3-Clause
// DeviceBatch is a packed batch in device memory, cut between examples into gradient shards. data/ packs
// batches on the host, train/ uploads each into a DeviceBatch that was sized once for the largest, model/
// works on its shards one after another. An upload allocates no memory. Where a batch is cut decides the
// order of sums, so another cut changes the bits of runs.
//
//   DeviceBatch batch(device, largest_of_all_batches, model.needs(), experiment.train.gradient_shards);
//   batch.upload(packed);
//   model.forward_backward(batch, batch.scales(), {seed, step});
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include <encore/device.hpp>
#include <encore/layer.hpp>

#include "data/packing.hpp"
#include "memory/device_memory.hpp"

namespace encore::model {

/// The arrays that a pass reads: row sets, picked rows, columns.
struct Batch {
  RowSet tokens;
  RowSet target;                ///< without rows if there is no second text
  RowSet cache;                 ///< of a generation: room for the rows of each sequence (Step::cache)
  bool first_pass = true;       ///< false in the later passes of a generation
  Tensor picked;                ///< (M) int32, rows of tokens, ascending
  std::vector<Tensor> columns;  ///< one per BatchNeeds::columns; empty if the truth is unknown

  BatchSize size() const {
    return {tokens.size, target.size, picked.rank == 0 ? 0 : picked.extent(0), {}, cache.size};
  }
};

/// Neighbouring examples of a batch as a batch of their own: offsets start at 0 again.
struct Shard {
  Batch batch;
  std::int64_t number = 0;                 ///< index among all shards
  std::int64_t place = 0;                  ///< index among the shards that hold at least one sequence
  std::array<std::int64_t, 4> first = {};  ///< by Space, without ragged: rows of the batch before this shard
};

/// The shards that a rank computes: `first`, and every `stride`-th after it.
struct ShardShare {
  std::int64_t first = 0, stride = 1;

  bool has(std::int64_t shard) const { return shard % stride == first; }
};

class DeviceBatch {
 public:
  /// `largest` is a bound on whole batches, not on shards. `shards`: train.gradient_shards.
  DeviceBatch(const Device& device, const BatchSize& largest, const data::BatchNeeds& needs,
              std::int64_t shards = 1);

  /// Throws std::logic_error when the batch exceeds the bound or its parts disagree in length.
  void upload(const data::PackedBatch& batch, const ShardShare& share = {});

  const BatchSize& size() const { return size_; }
  /// Returns the shards of the share that hold at least one sequence, in order.
  std::span<const Shard> shards() const { return std::span(shards_).first(used_); }
  /// Returns what the sum of each loss is divided by; 0 if there is nothing to learn.
  std::span<const double> weights() const { return weights_; }
  /// Returns the factor on the sum of each loss, 1 / weight; 0 if there is nothing to learn.
  std::span<const double> scales() const { return scales_; }

 private:
  class Writer;

  std::size_t slot_bytes() const;
  void write_shard(const data::PackedBatch& packed, const data::SequenceRange& range, Writer& writer,
                   Shard& shard);
  void write_rows(const data::PackedRows& rows, const data::PackedBatch& packed,
                  const data::SequenceRange& range, Writer& writer, RowSet& to);

  const Device& device_;
  BatchSize largest_;
  data::BatchNeeds needs_;
  std::int64_t shard_count_;
  memory::DeviceBuffer memory_;
  /// If the host cannot write to device memory, this is a ring of slots, so that an upload seldom waits for
  /// the device.
  memory::StagingBuffer staging_;
  std::size_t slot_ = 0;
  std::vector<std::uint64_t> sort_keys_;
  std::vector<Shard> shards_;
  std::size_t used_ = 0;
  BatchSize size_;
  std::vector<double> weights_, scales_;
};

}  // namespace encore::model
