#include "model/device_batch.hpp"

#include <gtest/gtest.h>

#include "support/tiny_model.hpp"

namespace encore {
namespace {

using testing::make_batch;

template <class T>
std::vector<T> read(const Device& device, Tensor tensor) {
  std::vector<T> host(static_cast<std::size_t>(tensor.size()));
  copy_to_host(device, tensor, host.data());
  return host;
}

using Ints = std::vector<std::int32_t>;

TEST(DeviceBatch, OneShardHoldsTheBatchAsItIs) {
  const Device device;
  PackedBatch packed = make_batch({3, 1, 2}, 11, 5, 1);
  packed.ids = {7, 2, 7, 0, 2, 7};
  DeviceBatch batch(device, packed.size());
  batch.upload(packed);
  ASSERT_EQ(batch.shards().size(), 1u);
  const Shard& shard = batch.shards()[0];
  EXPECT_EQ(read<std::int32_t>(device, shard.batch.ids), packed.ids);
  EXPECT_EQ(read<std::int32_t>(device, shard.targets), packed.targets);
  EXPECT_EQ(read<std::int32_t>(device, shard.batch.positions), (Ints{0, 1, 2, 0, 0, 1}));
  EXPECT_EQ(read<std::int32_t>(device, shard.batch.offsets), (Ints{0, 3, 4, 6}));
  EXPECT_EQ(read<std::int32_t>(device, shard.batch.sequence), (Ints{0, 0, 0, 1, 2, 2}));
  EXPECT_EQ(read<std::int64_t>(device, shard.batch.examples),
            (std::vector<std::int64_t>{100, 100, 100, 101, 102, 102}));
  EXPECT_EQ(read<std::int32_t>(device, shard.batch.order), (Ints{3, 1, 4, 0, 2, 5}))
      << "by token, then by row";
  EXPECT_EQ(shard.batch.size.tokens, 6);
  EXPECT_EQ(shard.batch.size.sequences, 3);
  EXPECT_EQ(shard.batch.size.squares, 9 + 1 + 4);
  EXPECT_EQ(shard.batch.size.longest, 3);
  EXPECT_EQ(batch.target_count(), packed.target_count);
}

TEST(DeviceBatch, ShardsAreBatchesOfTheirOwn) {
  const Device device;
  const PackedBatch packed = make_batch({4, 4, 4, 4}, 11, 5, 2);
  DeviceBatch batch(device, packed.size(), 2);
  batch.upload(packed);
  ASSERT_EQ(batch.shards().size(), 2u);
  const Shard& second = batch.shards()[1];
  EXPECT_EQ(second.first_row, 8);
  EXPECT_EQ(read<std::int32_t>(device, second.batch.ids), Ints(packed.ids.begin() + 8, packed.ids.end()));
  EXPECT_EQ(read<std::int32_t>(device, second.batch.offsets), (Ints{0, 4, 8}));
  EXPECT_EQ(read<std::int64_t>(device, second.batch.examples)[0], 102);
  const Ints order = read<std::int32_t>(device, second.batch.order);
  EXPECT_TRUE(std::all_of(order.begin(), order.end(), [](std::int32_t row) { return row >= 0 && row < 8; }));
}

TEST(DeviceBatch, MoreShardsThanSequencesLeaveNoneEmpty) {
  const Device device;
  const PackedBatch packed = make_batch({2, 3}, 11, 5, 3);
  DeviceBatch batch(device, packed.size(), 5);
  batch.upload(packed);
  std::int64_t rows = 0;
  for (const Shard& shard : batch.shards()) {
    EXPECT_GT(shard.batch.size.tokens, 0);
    rows += shard.batch.size.tokens;
  }
  EXPECT_EQ(rows, 5);
}

TEST(DeviceBatch, IsUsedAgainForSmallerBatches) {
  const Device device;
  DeviceBatch batch(device, make_batch({9, 9, 9}, 11, 5, 1).size(), 3);
  for (std::uint64_t seed = 1; seed < 20; ++seed) {
    const PackedBatch packed = make_batch({static_cast<std::int32_t>(1 + seed % 9), 5}, 11, 5, seed);
    batch.upload(packed);
    Ints ids;
    for (const Shard& shard : batch.shards())
      for (const std::int32_t id : read<std::int32_t>(device, shard.batch.ids)) ids.push_back(id);
    EXPECT_EQ(ids, packed.ids);
  }
}

TEST(DeviceBatch, RefusesWhatItWasNotMadeFor) {
  const Device device;
  DeviceBatch batch(device, make_batch({4}, 11, 5, 1).size());
  EXPECT_THROW(batch.upload(make_batch({5}, 11, 5, 1)), std::logic_error);
  EXPECT_THROW(batch.upload(make_batch({1, 1}, 11, 5, 1)), std::logic_error);
  PackedBatch damaged = make_batch({4}, 11, 5, 1);
  damaged.targets.pop_back();
  EXPECT_THROW(batch.upload(damaged), std::logic_error);
  EXPECT_THROW(DeviceBatch(device, {}, 0), std::logic_error);
}

}  // namespace
}  // namespace encore
