// DeviceBatch: a packed batch in device memory, cut by sequence into gradient shards.
// Place in the flow: data/ packs batches on the host, train/ uploads each into a DeviceBatch that was sized
// once for the largest, model/ works on its shards one after another. An upload allocates no device memory.
//
//   DeviceBatch batch(device, largest_of_all_batches, experiment.train.gradient_shards);
//   batch.upload(packed);
//   model.forward_backward(batch, 1.0 / batch.target_count(), {seed, step});
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <encore/device.hpp>
#include <encore/layer.hpp>

#include "memory/device_memory.hpp"

namespace encore {

struct PackedBatch;

/// Neighbouring sequences of a batch as a batch of their own: offsets start at 0 again.
struct Shard {
  Batch batch;
  Tensor targets;              ///< (N) int32, no_target on rows without a label
  std::int64_t first_row = 0;  ///< within the whole batch
};

class DeviceBatch {
 public:
  /// largest: a bound on whole batches, not on shards.
  DeviceBatch(const Device& device, const BatchSize& largest, std::int64_t shards = 1);

  /// Throws std::logic_error when the batch exceeds the bound or its parts disagree in length.
  void upload(const PackedBatch& batch);

  const BatchSize& size() const { return size_; }
  /// The shards that hold at least one sequence, in order.
  std::span<const Shard> shards() const { return shards_; }
  /// Number of rows with a label: what the loss is normalised by.
  std::int64_t target_count() const { return target_count_; }

 private:
  const Device& device_;
  BatchSize largest_;
  std::int64_t shard_count_;
  DeviceBuffer memory_;
  /// Where the host cannot write to device memory: a ring of slots, so that an upload seldom waits for the
  /// device.
  Kokkos::View<std::byte*, Kokkos::SharedHostPinnedSpace> staging_;
  std::size_t slot_ = 0;
  std::vector<std::uint64_t> sort_keys_;
  std::vector<Shard> shards_;
  BatchSize size_;
  std::int64_t target_count_ = 0;
};

}  // namespace encore
