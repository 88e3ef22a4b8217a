// SPDX-License-Identifier: BSD-3-Clause
// GradientExchange adds up the gradients of the shards of a batch over ranks, with the bits of one process.
// The flow is: TrainingStep -> here -> Communicator, between backward and update.

// Every block is cut into one range per rank, its owner. Rank r computes shards r, r + N, r + 2N, ...; of
// each of them it sends to every owner the part of its gradient that lies in the owner's range. The owner
// adds what it receives to gradients() in the order of the shards: the sum that end_shard() makes, for one
// range. Parts that the backward pass has finished are sent while it continues with the lower layers. Of a
// table of tokens only the rows of the shard are sent; every rank knows them, because it packs the whole
// batch. Then, if the optimizer can update a range (encore/sliced_update.hpp), each owner updates its own,
// and the new values are shared. If it cannot, or if adapters need whole matrices, the sums are shared and
// every rank updates everything.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "data/packing.hpp"
#include "distributed/communicator.hpp"
#include "memory/parameter_block.hpp"
#include "model/device_batch.hpp"

namespace encore::train {

class GradientExchange {
 public:
  /// `reach`: where the optimizer allows an update to be cut into ranges; empty: every rank updates
  /// everything. The constructor limits `parameters` to this rank's range, so call it before the optimizer's
  /// states are made. first_users: Network::first_users. The ranks and the block must outlive it; the number
  /// of shards must be a multiple of the number of ranks.
  GradientExchange(distributed::Communicator& ranks, const Device& device, memory::ParameterBlock& parameters,
                   const std::map<std::string, std::size_t>& first_users, std::int64_t shards,
                   std::optional<UpdateReach> reach);

  model::ShardShare share() const { return {ranks_.rank(), ranks_.size()}; }
  /// Returns whether each rank updates only its own range.
  bool sliced() const { return sliced_; }

  /// Shares what every rank must know of a batch. Call it before the shards are computed.
  void begin(const data::PackedBatch& batch);
  /// Returns the number of shards with at least one sequence. Valid after begin().
  std::int64_t shard_count() const { return used_; }
  /// Returns whether the shard has at least one sequence.
  bool has_sequences(std::int64_t shard) const { return filled_[static_cast<std::size_t>(shard)]; }
  /// Marks the rows of the batch and sets the gradients to zero. Call it after Model::begin_gradients.
  void mark_rows();
  /// Sends the gradients that are final once `node` is done. Call it in the backward pass of this rank's
  /// shard of [first, first + N) (Pass::backward). If the host cannot read device memory, add_round() sends
  /// instead.
  void node_done(std::int64_t first, std::size_t node);
  /// Adds up the gradients of shards [first, first + N), where N is the number of ranks; that of this rank is
  /// in shard_gradients().
  void add_round(std::int64_t first);
  /// Shares the losses `sums` (S, L): each rank has the rows of its shards; after the call every rank has all
  /// rows.
  void share_losses(Tensor sums);
  /// Copies the summed gradients of all owners into gradients() on every rank.
  void share_gradients() { share_block(parameters_.gradients()); }
  /// Sums the squares of gradients() over all owners' ranges, as ParameterBlock does. `result` is device
  /// memory.
  void sum_gradient_squares(double* result);
  /// Copies the new values of all owners into values(), which then count as changed.
  void share_values();

  /// Returns the seconds that this rank spent waiting for others or moving bytes since the last call.
  double take_seconds();

 private:
  using Bytes = std::vector<std::byte>;

  memory::BlockRange range_of(int rank) const {
    const auto r = static_cast<std::size_t>(rank);
    return {borders_[r], borders_[r + 1]};
  }
  void find_runs(const std::map<std::string, std::size_t>& first_users);
  void mark_tokens(const data::PackedRows& rows, const data::SequenceRange& range,
                   std::vector<ChunkGradient>& present);
  template <class Use>
  void each_run(const memory::BlockRange& range, const Use& use) const;
  template <class Use>
  void each_present_row(const memory::BlockRange& range, std::size_t shard, const Use& use) const;
  std::size_t row_bytes(const memory::BlockRange& range, std::size_t shard) const;
  std::size_t shard_of(int rank, std::int64_t first) const { return static_cast<std::size_t>(first + rank); }
  const std::byte* own_shard_on_host();
  void begin_down_to(std::size_t node, std::int64_t first, const std::byte* gradient);
  void begin_rows(std::int64_t first, const std::byte* gradient);
  void place_rows(int from, std::size_t shard);
  void add(int from, std::size_t shard);
  void share_block(Tensor block);

  distributed::Communicator& ranks_;
  const Device& device_;
  memory::ParameterBlock& parameters_;
  const std::int64_t shards_;
  bool sliced_ = false;
  std::vector<std::int64_t> borders_;        ///< elements, N + 1
  std::vector<std::size_t> byte_borders_;    ///< the same in bytes
  std::vector<std::size_t> square_borders_;  ///< in bytes, for the sums of squares of chunks
  std::vector<Chunk> chunks_;                ///< of the trained parameters
  std::vector<memory::BlockRange> runs_;     ///< ranges that are added element by element
  std::vector<std::vector<memory::BlockRange>> runs_of_nodes_;  ///< runs_ by first user (node)
  std::size_t next_node_ = 0;  ///< of a round: nodes from here on are being sent
  std::vector<bool> filled_;   ///< by shard
  std::int64_t used_ = 0;
  std::vector<std::vector<ChunkGradient>>
      present_;  ///< by shard, then by chunk; only those of tables are used
  std::vector<ChunkGradient> present_in_batch_;
  std::vector<Bytes> received_;                      ///< by rank: this rank's range of a shard's gradient
  std::vector<Bytes> row_parts_in_, row_parts_out_;  ///< rows of tables, packed, by rank
  Bytes host_;                                       ///< used if the host cannot read device memory
  memory::DeviceBuffer staged_;                      ///< used then too: one range
  memory::DeviceBuffer present_on_device_;
  memory::DeviceBuffer squares_;
  std::vector<distributed::Outgoing> outgoing_;
  std::vector<distributed::Incoming> incoming_;
  double seconds_ = 0.0;
};

}  // namespace encore::train
