// GradientExchange: how ranks add up the gradients of the shards of a batch, with the bits of one process.
// Place in the flow: TrainingStep -> here -> Communicator, between backward and update.
//
// Every block is cut into one range per rank, its owner. Rank r computes shards r, r + N, r + 2N, ...; of
// each of them it sends to every owner the part of its gradient that lies in the owner's range, and the owner
// adds what it gets, in the order of the shards, into gradients(): the sum that end_shard() makes, for one
// range. What the backward pass is done with leaves while it is still on its way to the lower layers. Of a
// table of tokens only the rows of the shard travel; every rank knows them, for it packs the whole batch.
// Then, where the optimizer can update a range (encore/sliced_update.hpp), each owner updates its own, and
// the new values are shared; where it cannot, or where adapters need whole matrices, the sums are shared and
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

namespace encore {

class GradientExchange {
 public:
  /// reach: of the optimizer; empty: it updates everything. Has `parameters` own this rank's range, so that
  /// it comes before the states are made. first_users: Network::first_users. The ranks and the block outlive
  /// it; the ranks divide the shards.
  GradientExchange(Communicator& ranks, const Device& device, ParameterBlock& parameters,
                   const std::map<std::string, std::size_t>& first_users, std::int64_t shards,
                   std::optional<UpdateReach> reach);

  ShardShare share() const { return {ranks_.rank(), ranks_.size()}; }
  /// Whether each rank updates its range only.
  bool sliced() const { return sliced_; }

  /// What every rank has to know of a batch. Before the shards are computed.
  void begin(const PackedBatch& batch);
  /// After begin: shards with at least one sequence.
  std::int64_t shard_count() const { return used_; }
  /// Whether it has.
  bool has_sequences(std::int64_t shard) const { return filled_[static_cast<std::size_t>(shard)]; }
  /// The rows of the batch are marked, and the gradients are zero: after Model::begin_gradients.
  void mark_rows();
  /// Within the backward pass of this rank's shard of [first, first + N): `node` is done (Pass::backward),
  /// and what is final now may leave. Where the host does not reach the device nothing does before add_round.
  void node_done(std::int64_t first, std::size_t node);
  /// Adds up the gradients of shards [first, first + N), of which this rank's is in shard_gradients().
  void add_round(std::int64_t first);
  /// sums (S, L), of which each rank has the rows of its shards: all rows on every rank.
  void share_losses(Tensor sums);
  /// The sums of all owners in gradients().
  void share_gradients() { share_block(parameters_.gradients()); }
  /// Of gradients() in their owners' ranges, as ParameterBlock::sum_gradient_squares. result: device memory.
  void sum_gradient_squares(double* result);
  /// The values of all owners in values(), which then count as changed.
  void share_values();

  /// Seconds in which this rank waited for others or moved bytes, since the last call.
  double take_seconds();

 private:
  using Bytes = std::vector<std::byte>;

  BlockRange range_of(int rank) const {
    const auto r = static_cast<std::size_t>(rank);
    return {borders_[r], borders_[r + 1]};
  }
  void find_runs(const std::map<std::string, std::size_t>& first_users);
  void mark_tokens(const PackedRows& rows, const SequenceRange& range, std::vector<ChunkGradient>& present);
  template <class Use>
  void each_run(const BlockRange& range, const Use& use) const;
  template <class Use>
  void each_present_row(const BlockRange& range, std::size_t shard, const Use& use) const;
  std::size_t row_bytes(const BlockRange& range, std::size_t shard) const;
  std::size_t shard_of(int rank, std::int64_t first) const { return static_cast<std::size_t>(first + rank); }
  const std::byte* own_shard_on_host();
  void begin_down_to(std::size_t node, std::int64_t first, const std::byte* gradient);
  void begin_rows(std::int64_t first, const std::byte* gradient);
  void place_rows(int from, std::size_t shard);
  void add(int from, std::size_t shard);
  void share_block(Tensor block);

  Communicator& ranks_;
  const Device& device_;
  ParameterBlock& parameters_;
  const std::int64_t shards_;
  bool sliced_ = false;
  std::vector<std::int64_t> borders_;        ///< elements, N + 1
  std::vector<std::size_t> byte_borders_;    ///< the same in bytes
  std::vector<std::size_t> square_borders_;  ///< bytes of the sums of squares of chunks
  std::vector<Chunk> chunks_;                ///< of what is trained
  std::vector<BlockRange> runs_;  ///< what is added up element by element, without tables of tokens
  std::vector<std::vector<BlockRange>> runs_of_nodes_;  ///< the same, by first users
  std::size_t next_node_ = 0;                           ///< of a round: those from it on are on their way
  std::vector<bool> filled_;                            ///< by shard
  std::int64_t used_ = 0;
  std::vector<std::vector<ChunkGradient>>
      present_;  ///< by shard, then by chunk; only those of tables are used
  std::vector<ChunkGradient> present_in_batch_;
  std::vector<Bytes> received_;                      ///< by rank: this rank's range of a shard's gradient
  std::vector<Bytes> row_parts_in_, row_parts_out_;  ///< by rank: rows of tables, one behind the other
  Bytes host_;                                       ///< where the host does not reach the device
  DeviceBuffer staged_;                              ///< the same, of one range
  DeviceBuffer present_on_device_;
  DeviceBuffer squares_;
  std::vector<Outgoing> outgoing_;
  std::vector<Incoming> incoming_;
  double seconds_ = 0.0;
};

}  // namespace encore
