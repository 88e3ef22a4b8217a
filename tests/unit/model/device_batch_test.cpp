// SPDX-License-Identifier: BSD-3-Clause
// Tests DeviceBatch (model/device_batch.hpp): a packed batch is copied to the device whole or in gradient
// shards, its memory is used again for smaller batches, and batches that do not fit are rejected. Shards may
// be cut between examples only, with everything that belongs to their rows.
#include "model/device_batch.hpp"

#include <gtest/gtest.h>

#include "support/tiny_model.hpp"

namespace encore::model {
namespace {

using testing::make_batch;

const data::BatchNeeds needs = {.columns = {{.name = targets_column}}, .losses = {0}};

template <class T>
std::vector<T> read(const Device& device, Tensor tensor) {
  std::vector<T> host(static_cast<std::size_t>(tensor.size()));
  memory::copy_to_host(device, tensor, host.data());
  return host;
}

using Ints = std::vector<std::int32_t>;

TEST(DeviceBatch, OneShardHoldsTheBatchAsItIs) {
  const Device device;
  data::PackedBatch packed = make_batch({3, 1, 2}, 11, 5, 1);
  packed.ids = {7, 2, 7, 0, 2, 7};
  DeviceBatch batch(device, packed.size(), needs);
  batch.upload(packed);
  ASSERT_EQ(batch.shards().size(), 1u);
  const Shard& shard = batch.shards()[0];
  EXPECT_EQ(read<std::int32_t>(device, shard.batch.tokens.ids), packed.ids);
  EXPECT_EQ(read<std::int32_t>(device, shard.batch.columns[0]), packed.columns[0].integers);
  EXPECT_EQ(read<std::int32_t>(device, shard.batch.tokens.positions), (Ints{0, 1, 2, 0, 0, 1}));
  EXPECT_EQ(read<std::int32_t>(device, shard.batch.tokens.offsets), (Ints{0, 3, 4, 6}));
  EXPECT_EQ(read<std::int32_t>(device, shard.batch.tokens.sequence), (Ints{0, 0, 0, 1, 2, 2}));
  EXPECT_EQ(read<std::int64_t>(device, shard.batch.tokens.examples),
            (std::vector<std::int64_t>{100, 100, 100, 101, 102, 102}));
  EXPECT_EQ(read<std::int32_t>(device, shard.batch.tokens.order), (Ints{3, 1, 4, 0, 2, 5}))
      << "by token, then by row";
  EXPECT_EQ(shard.batch.tokens.size.tokens, 6);
  EXPECT_EQ(shard.batch.tokens.size.sequences, 3);
  EXPECT_EQ(shard.batch.tokens.size.squares, 9 + 1 + 4);
  EXPECT_EQ(shard.batch.tokens.size.longest, 3);
  EXPECT_EQ(batch.weights()[0], packed.weights[0]);
}

TEST(DeviceBatch, ShardsAreBatchesOfTheirOwn) {
  const Device device;
  const data::PackedBatch packed = make_batch({4, 4, 4, 4}, 11, 5, 2);
  DeviceBatch batch(device, packed.size(), needs, 2);
  batch.upload(packed);
  ASSERT_EQ(batch.shards().size(), 2u);
  const Shard& second = batch.shards()[1];
  EXPECT_EQ(second.first[0], 8);
  EXPECT_EQ(read<std::int32_t>(device, second.batch.tokens.ids),
            Ints(packed.ids.begin() + 8, packed.ids.end()));
  EXPECT_EQ(read<std::int32_t>(device, second.batch.tokens.offsets), (Ints{0, 4, 8}));
  EXPECT_EQ(read<std::int64_t>(device, second.batch.tokens.examples)[0], 102);
  const Ints order = read<std::int32_t>(device, second.batch.tokens.order);
  EXPECT_TRUE(std::all_of(order.begin(), order.end(), [](std::int32_t row) { return row >= 0 && row < 8; }));
}

TEST(DeviceBatch, MoreShardsThanSequencesLeaveNoneEmpty) {
  const Device device;
  const data::PackedBatch packed = make_batch({2, 3}, 11, 5, 3);
  DeviceBatch batch(device, packed.size(), needs, 5);
  batch.upload(packed);
  std::int64_t rows = 0;
  for (const Shard& shard : batch.shards()) {
    EXPECT_GT(shard.batch.tokens.size.tokens, 0);
    rows += shard.batch.tokens.size.tokens;
  }
  EXPECT_EQ(rows, 5);
}

TEST(DeviceBatch, IsUsedAgainForSmallerBatches) {
  const Device device;
  DeviceBatch batch(device, make_batch({9, 9, 9}, 11, 5, 1).size(), needs, 3);
  for (std::uint64_t seed = 1; seed < 20; ++seed) {
    const data::PackedBatch packed = make_batch({static_cast<std::int32_t>(1 + seed % 9), 5}, 11, 5, seed);
    batch.upload(packed);
    Ints ids;
    for (const Shard& shard : batch.shards())
      for (const std::int32_t id : read<std::int32_t>(device, shard.batch.tokens.ids)) ids.push_back(id);
    EXPECT_EQ(ids, packed.ids);
  }
}

TEST(DeviceBatch, RefusesBatchesItWasNotMadeFor) {
  const Device device;
  DeviceBatch batch(device, make_batch({4}, 11, 5, 1).size(), needs);
  EXPECT_THROW(batch.upload(make_batch({5}, 11, 5, 1)), std::logic_error);
  EXPECT_THROW(batch.upload(make_batch({1, 1}, 11, 5, 1)), std::logic_error);
  data::PackedBatch damaged = make_batch({4}, 11, 5, 1);
  damaged.positions.pop_back();
  EXPECT_THROW(batch.upload(damaged), std::logic_error);
  EXPECT_THROW(DeviceBatch(device, {}, needs, 0), std::logic_error);
}

TEST(DeviceBatch, SegmentsAreCutWithTheirRows) {
  const Device device;
  data::PackedBatch packed = make_batch({2, 3, 1}, 11, 5, 1);
  packed.segments = {0, 1, 0, 1, 1, 0};
  const data::BatchNeeds reading = {.columns = needs.columns, .losses = {0}, .segments = 2};
  DeviceBatch batch(device, packed.size(), reading, 2);
  batch.upload(packed);
  ASSERT_EQ(batch.shards().size(), 2u);
  Ints both = read<std::int32_t>(device, batch.shards()[0].batch.tokens.segments);
  const Ints second = read<std::int32_t>(device, batch.shards()[1].batch.tokens.segments);
  EXPECT_EQ(std::ssize(both), batch.shards()[0].batch.tokens.size.tokens);
  both.insert(both.end(), second.begin(), second.end());
  EXPECT_EQ(both, packed.segments);

  packed.segments.clear();  // a task without segments
  batch.upload(packed);
  EXPECT_FALSE(batch.shards()[0].batch.tokens.segments);
  packed.segments = {0, 1};
  EXPECT_THROW(batch.upload(packed), std::logic_error);
  DeviceBatch not_reading(device, packed.size(), needs);
  packed.segments = {0, 1, 0, 1, 1, 0};
  EXPECT_THROW(not_reading.upload(packed), std::logic_error);
}

/// The batch has two pairs of sequences with a target each, one picked row in every sequence, and a column
/// over each space.
TEST(DeviceBatch, CutsEverySpaceBetweenExamples) {
  const Device device;
  data::PackedBatch packed;
  packed.ids = {1, 2, 3, 4, 5, 6};
  packed.positions = {0, 1, 0, 0, 0, 1};
  packed.offsets = {0, 2, 3, 4, 6};
  packed.sequences = {0, 1, 2, 3};
  packed.borders = {0, 2, 4};
  packed.target.ids = {7, 8, 9, 10, 11};
  packed.target.positions = {0, 1, 0, 0, 0};
  packed.target.offsets = {0, 2, 3, 4, 5};
  packed.picked = {1, 2, 3, 4};
  packed.columns.resize(4);
  packed.columns[0].integers = {10, 20, 30, 40};                         // picked
  packed.columns[1].numbers = {1.F, 2.F, 3.F, 4.F, 5.F, 6.F, 7.F, 8.F};  // sequences, 2 each
  packed.columns[2].integers = {70, 80, 90, 100, 110};                   // target
  packed.known = {true, true, true, false};
  const data::BatchNeeds all = {
      .columns = {{.name = "a", .space = Space::picked},
                  {.name = "b", .space = Space::sequences, .type = ColumnType::numbers, .width = 2},
                  {.name = "c", .space = Space::target},
                  {.name = "d"}},
      .picked = true};
  DeviceBatch batch(device, packed.size(), all, 2);
  batch.upload(packed);
  ASSERT_EQ(batch.shards().size(), 2u);
  const Shard& second = batch.shards()[1];
  EXPECT_EQ(read<std::int32_t>(device, second.batch.tokens.ids), (Ints{4, 5, 6}));
  EXPECT_EQ(read<std::int32_t>(device, second.batch.target.ids), (Ints{10, 11}));
  EXPECT_EQ(read<std::int32_t>(device, second.batch.target.offsets), (Ints{0, 1, 2}));
  EXPECT_EQ(read<std::int64_t>(device, second.batch.target.examples), (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(read<std::int32_t>(device, second.batch.picked), (Ints{0, 1}));
  EXPECT_EQ(read<std::int32_t>(device, second.batch.columns[0]), (Ints{30, 40}));
  EXPECT_EQ(read<float>(device, second.batch.columns[1]), (std::vector<float>{5.F, 6.F, 7.F, 8.F}));
  EXPECT_EQ(second.batch.columns[1].extent(0), 2);
  EXPECT_EQ(second.batch.columns[1].extent(1), 2);
  EXPECT_EQ(read<std::int32_t>(device, second.batch.columns[2]), (Ints{100, 110}));
  EXPECT_FALSE(second.batch.columns[3]);
  EXPECT_EQ(second.first, (std::array<std::int64_t, 4>{3, 3, 2, 2}));
  EXPECT_EQ(second.batch.size().picked, 2);
  EXPECT_EQ(second.batch.size().target.tokens, 2);
}

}  // namespace
}  // namespace encore::model
