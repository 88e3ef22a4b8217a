// SPDX-License-Identifier: BSD-3-Clause
// Tests Packer and cut_shards() (data/packing.hpp): a batch of examples becomes rows one after the other,
// with offsets of sequences, optional padding, a source and a target, picked rows (those that a head reads),
// segments, and columns that a task draws again in every epoch; cut_shards() divides a batch for gradients.
// Kernels use the numbers as indices without a check, so wrong ones must be rejected here.
#include "data/packing.hpp"

#include <gtest/gtest.h>

#include <functional>

#include <encore/error.hpp>

#include "support/example_sets.hpp"
#include "unit/record/temporary_folder.hpp"

namespace encore::data {
namespace {

using Numbers = std::vector<std::int32_t>;
using Sequences = std::vector<std::int64_t>;

/// What a head needs that learns one target below 100 for each row.
BatchNeeds targets_needed() {
  return {.columns = {{.name = targets_column, .below = 100}}, .losses = {0}, .vocabulary = 100};
}

PackedBatch packed(const ExampleSet& set, const Numbers& members, const BatchNeeds& needs = targets_needed(),
                   const Packing& packing = {}) {
  PackedBatch batch;
  Packer(set, needs, packing).pack(members, batch);
  return batch;
}

TEST(Packer, LaysSequencesSideBySide) {
  const ExampleSet set = set_of_lengths({3, 2, 4});
  PackedBatch batch;
  Packer packer(set, targets_needed());
  packer.pack(Numbers{0, 2}, batch);
  EXPECT_EQ(batch.ids, (Numbers{10, 10, 10, 12, 12, 12, 12}));
  EXPECT_EQ(batch.columns[0].integers, (Numbers{-1, 0, -1, -1, 2, -1, -1}));
  EXPECT_EQ(batch.positions, (Numbers{0, 1, 2, 0, 1, 2, 3}));
  EXPECT_EQ(batch.offsets, (Numbers{0, 3, 7}));
  EXPECT_EQ(batch.sequences, (Sequences{0, 2}));
  EXPECT_EQ(batch.borders, (Numbers{0, 1, 2}));
  EXPECT_EQ(batch.real_tokens, 7);
  EXPECT_EQ(batch.weights, std::vector{2.0});
  const BatchSize size = batch.size();
  EXPECT_EQ(size.tokens, 7);
  EXPECT_EQ(size.sequences, 2);
  EXPECT_EQ(size.squares, 25);
  EXPECT_EQ(size.longest, 4);
  packer.pack(Numbers{1}, batch);  // nothing of the first batch is left
  EXPECT_EQ(batch.ids, (Numbers{11, 11}));
  EXPECT_EQ(batch.offsets, (Numbers{0, 2}));
  EXPECT_EQ(batch.columns[0].integers, (Numbers{-1, 1}));
}

TEST(Packer, PadsWithSequencesOfTheirOwn) {
  const ExampleSet set = set_of_lengths({3, 2, 4});
  PackedBatch batch = packed(set, {0, 1}, targets_needed(), {config::Batching::padded, 0, 7});
  EXPECT_EQ(batch.ids, (Numbers{10, 10, 10, 11, 11, 7}));
  EXPECT_EQ(batch.offsets, (Numbers{0, 3, 5, 6}));
  EXPECT_EQ(batch.positions, (Numbers{0, 1, 2, 0, 1, 2}));
  EXPECT_EQ(batch.sequences, (Sequences{0, 1, 1}));
  EXPECT_EQ(batch.borders, (Numbers{0, 1, 2, 3}));
  EXPECT_EQ(batch.columns[0].integers.back(), -1);
  EXPECT_EQ(batch.real_tokens, 5);
  batch = packed(set, {0, 2}, targets_needed(), {config::Batching::padded, 6, 0});
  EXPECT_EQ(batch.size().tokens, 12);
  EXPECT_EQ(batch.real_tokens, 7);
  EXPECT_THROW(packed(set, {2}, targets_needed(), {config::Batching::padded, 3, 0}), std::logic_error);
}

/// Returns two examples: the first has sequences of 2 and 3 rows, the second one of 1 row. Each sequence has
/// a weight; the rows 1, 2, 4 and 5 are picked, each with a truth "masked".
ExampleSet pairs() {
  SetBuilder builder;
  return builder.set(
      {.lengths = builder.keep(Numbers{2, 3, 1}),
       .ids = builder.keep(Numbers{1, 2, 3, 4, 5, 6}),
       .sequences = builder.keep(Numbers{2, 1}),
       .columns = {{.rule = {.name = "weight", .space = Space::sequences, .type = ColumnType::numbers},
                    .numbers = builder.keep(std::vector<float>{0.5F, 0.25F, 2.0F})},
                   {.rule = {.name = picked_column, .space = Space::ragged},
                    .integers = builder.keep(Numbers{1, 0, 2, 0}),
                    .counts = builder.keep(Numbers{1, 2, 1})},
                   {.rule = {.name = "masked", .space = Space::picked, .truth = true},
                    .integers = builder.keep(Numbers{2, 3, 5, 6})}}});
}

BatchNeeds pairs_needed() {
  return {.columns = {{.name = "weight", .space = Space::sequences, .type = ColumnType::numbers},
                      {.name = "masked", .space = Space::picked, .below = 100}},
          .losses = {0},
          .vocabulary = 100,
          .picked = true};
}

TEST(Packer, KeepsTheSequencesOfAnExampleTogether) {
  const PackedBatch batch = packed(pairs(), {0, 1}, pairs_needed());
  EXPECT_EQ(batch.offsets, (Numbers{0, 2, 5, 6}));
  EXPECT_EQ(batch.sequences, (Sequences{0, 1, 2}));
  EXPECT_EQ(batch.borders, (Numbers{0, 2, 3}));
  EXPECT_EQ(batch.columns[0].numbers, (std::vector<float>{0.5F, 0.25F, 2.0F}));
  EXPECT_EQ(batch.weights, std::vector{2.75});
  const auto shards = cut_shards(batch.offsets, batch.borders, 2);
  EXPECT_EQ(shards[0].last, 2);  // 3 of 6 rows would be even, but no border of examples lies there
}

TEST(Packer, PicksRows) {
  PackedBatch batch = packed(pairs(), {0, 1}, pairs_needed());
  EXPECT_EQ(batch.picked, (Numbers{1, 2, 4, 5}));
  EXPECT_EQ(batch.columns[1].integers, (Numbers{2, 3, 5, 6}));
  EXPECT_EQ(batch.size().picked, 4);
  batch = packed(pairs(), {1}, pairs_needed());
  EXPECT_EQ(batch.picked, (Numbers{0}));
  EXPECT_EQ(batch.columns[1].integers, (Numbers{6}));
}

/// Returns two examples with a source and a target: 2 and 1 rows, 1 and 3 rows.
ExampleSet translations() {
  SetBuilder builder;
  return builder.set({.lengths = builder.keep(Numbers{2, 1}),
                      .ids = builder.keep(Numbers{1, 2, 3}),
                      .target_lengths = builder.keep(Numbers{1, 3}),
                      .target_ids = builder.keep(Numbers{7, 8, 9, 10}),
                      .columns = {{.rule = {.name = "next", .space = Space::target, .truth = true},
                                   .integers = builder.keep(Numbers{17, 18, 19, 20})}}});
}

TEST(Packer, LaysASecondTextBesideTheFirst) {
  const BatchNeeds needs = {
      .columns = {{.name = "next", .space = Space::target}}, .losses = {0}, .vocabulary = 100};
  const PackedBatch batch = packed(translations(), {1, 0}, needs);
  EXPECT_EQ(batch.ids, (Numbers{3, 1, 2}));
  EXPECT_EQ(batch.target.ids, (Numbers{8, 9, 10, 7}));
  EXPECT_EQ(batch.target.offsets, (Numbers{0, 3, 4}));
  EXPECT_EQ(batch.target.positions, (Numbers{0, 1, 2, 0}));
  EXPECT_EQ(batch.columns[0].integers, (Numbers{18, 19, 20, 17}));
  EXPECT_EQ(batch.size().target.squares, 10);
  EXPECT_EQ(batch.real_tokens, 7);
  EXPECT_EQ(testing::message_of<Error>([&] {
              Packer(translations(), needs, {config::Batching::padded, 0, 0});
            }),
            "examples with a second text cannot be padded; set train.batching = \"packed\"");
}

TEST(Packer, RefusesASetWithoutTheTextOfADecoder) {
  EXPECT_EQ(testing::message_of<Error>([] { Packer(set_of_lengths({3}), {.target = true}); }),
            "the model has a decoder ([model.decoder]), and the task gives no second text for it");
  EXPECT_NO_THROW(Packer(translations(), {.target = true}));
}

TEST(Packer, GoesWithoutTheTruth) {
  BatchNeeds needs = targets_needed();
  needs.columns.push_back({.name = "unheard"});
  const PackedBatch batch = packed(set_of_lengths({3}), {0}, needs);
  EXPECT_EQ(batch.known, (std::vector<bool>{true, false}));
  EXPECT_TRUE(batch.columns[1].integers.empty());
}

TEST(Packer, RefusesNumbersThatNoKernelMayIndexWith) {
  const auto refusal = [](const ExampleSet& set, const BatchNeeds& needs) {
    return testing::message_of<Error>([&] { Packer(set, needs); });
  };
  EXPECT_EQ(
      refusal(set_of_lengths({3, 3, 3}), {.columns = {{.name = targets_column, .below = 2}}, .losses = {0}}),
      "the task gives 2 in the column \"targets\", and the head takes numbers below 2");
  SetBuilder builder;
  const auto picking = [&](Numbers rows) {
    const auto count = static_cast<std::int32_t>(rows.size());
    return builder.set({.lengths = builder.keep(Numbers{2}),
                        .ids = builder.keep(Numbers{1, 2}),
                        .columns = {{.rule = {.name = picked_column, .space = Space::ragged},
                                     .integers = builder.keep(std::move(rows)),
                                     .counts = builder.keep(Numbers{count})}}});
  };
  const BatchNeeds needs = {.picked = true};
  EXPECT_EQ(refusal(picking({2}), needs),
            "the task picks row 2 of sequence 1, which has 2 rows; picked rows ascend");
  EXPECT_EQ(refusal(picking({1, 1}), needs),
            "the task picks row 1 of sequence 1, which has 2 rows; picked rows ascend");
  EXPECT_NO_THROW(Packer(picking({0, 1}), needs));
}

// --- segments of a pair ---

/// Returns two sequences with these segments, one number for each row: 4 rows, then 2 rows.
ExampleSet joined(Numbers segments, ColumnRule rule = {.name = segments_column}) {
  SetBuilder builder;
  return builder.set({.lengths = builder.keep(Numbers{4, 2}),
                      .ids = builder.keep(Numbers{1, 2, 3, 4, 5, 6}),
                      .columns = {{.rule = std::move(rule), .integers = builder.keep(std::move(segments))}}});
}

TEST(Packer, BringsSegmentsToAModelThatReadsThem) {
  const BatchNeeds needs = {.vocabulary = 100, .segments = 2};
  const ExampleSet set = joined({0, 0, 1, 1, 0, 0});
  EXPECT_EQ(packed(set, {1, 0}, needs).segments, (Numbers{0, 0, 0, 0, 1, 1}));
  EXPECT_EQ(packed(set, {1, 0}, needs, {config::Batching::padded, 0, 7}).segments,
            (Numbers{0, 0, 0, 0, 0, 0, 1, 1}))
      << "padding is of segment 0";
  EXPECT_TRUE(packed(set, {1, 0}, {.vocabulary = 100}).segments.empty()) << "a model without segments";
  EXPECT_TRUE(packed(set_of_lengths({3}), {0}, needs).segments.empty()) << "a task without segments";
}

TEST(Packer, RefusesSegmentsThatTheModelDoesNotHave) {
  const auto refusal = [](Numbers segments, std::int64_t count) {
    return testing::message_of<Error>(
        [&] { Packer(joined(std::move(segments)), {.vocabulary = 100, .segments = count}); });
  };
  EXPECT_EQ(refusal({0, 0, 1, 1, 0, 2}, 2),
            "the task gives segment 2 in sequence 2, and the model has 2 segments, from 0 (model.segments)");
  EXPECT_EQ(refusal({0, 0, 1, 1, 0, 0}, 1),
            "the task gives segment 1 in sequence 1, and the model has 1 segment, from 0 (model.segments)");
  EXPECT_EQ(refusal({no_target, 0, 1, 1, 0, 0}, 2),
            "the task gives segment -1 in sequence 1, and the model has 2 segments, from 0 (model.segments)");
}

// --- examples that are drawn again ---

/// A task that changes its examples in every epoch, as masking does: `draw` writes what redraw() gives.
class DrawingTask final : public Task {
 public:
  explicit DrawingTask(std::function<void(const ExampleDraw&, EncodedExample&)> draw)
      : draw_(std::move(draw)) {}

  void prepare(const Records&) override {}
  std::string knowledge() const override { return ""; }
  void restore(std::string_view) override {}
  TextCounts text_counts(const Records&) const override { return {}; }
  std::vector<ColumnRule> columns() const override { return {}; }
  std::vector<OutputRule> outputs() const override { return {}; }
  void encode(const Records&, std::size_t, const Tokenizer&, EncodedExample&) const override {}
  SetDescription describe(const ExampleSet&) const override { return {}; }
  void measure(const ExampleSet&, const Outputs&, Statistics&) const override {}
  Records label(const Records&, const ExampleSet&, const Outputs&) const override { return {}; }
  bool draws() const override { return true; }
  void redraw(const ExampleDraw& draw, EncodedExample& to) const override { draw_(draw, to); }

 private:
  std::function<void(const ExampleDraw&, EncodedExample&)> draw_;
};

/// Returns the batch of both examples of pairs(), the second first, as `draw` changed them for this epoch.
PackedBatch drawn(const std::function<void(const ExampleDraw&, EncodedExample&)>& draw,
                  std::int64_t epoch = 0) {
  const ExampleSet set = pairs();
  const DrawingTask task(draw);
  Packer packer(set, pairs_needed());
  packer.draw(task, 5, epoch);
  PackedBatch batch;
  packer.pack(Numbers{1, 0}, batch);
  return batch;
}

TEST(Packer, TakesWhatTheTaskDraws) {
  const auto draw = [](const ExampleDraw& draw, EncodedExample& to) {
    to.ids.back() = static_cast<std::int32_t>(10 * draw.epoch + 50);
    to.columns[1].integers.front() = 0;
    to.columns[2].integers.front() = static_cast<std::int32_t>(draw.example) + 30;
  };
  const PackedBatch batch = drawn(draw, 2);
  EXPECT_EQ(batch.ids, (Numbers{70, 1, 2, 3, 4, 70}));
  EXPECT_EQ(batch.columns[1].integers, (Numbers{31, 30, 3, 5}));
  EXPECT_EQ(drawn(draw, 0).ids.back(), 50);
}

TEST(Packer, RefusesWhatATaskMayNotDraw) {
  const auto refusal = [](const std::function<void(EncodedExample&)>& change) {
    return testing::message_of<Error>(
        [&] { drawn([&](const ExampleDraw&, EncodedExample& to) { change(to); }); });
  };
  EXPECT_EQ(refusal([](EncodedExample& to) { to.ids.pop_back(); }),
            "redraw of example 2 changes how many values it has");
  EXPECT_EQ(refusal([](EncodedExample& to) { to.columns[2].integers.push_back(1); }),
            "redraw of example 2 changes how many values it has");
  EXPECT_EQ(refusal([](EncodedExample& to) { to.ids.front() = 100; }),
            "redraw of example 2 gives the id 100, and the vocabulary has 100 tokens");
  EXPECT_EQ(refusal([](EncodedExample& to) { to.columns[1].integers.front() = 1; }),
            "the task picks row 1 of sequence 3, which has 1 rows; picked rows ascend");
  EXPECT_EQ(refusal([](EncodedExample& to) { to.columns[2].integers.front() = 100; }),
            "the task gives 100 in the column \"masked\", and the head takes numbers below 100");
}

// --- shards ---

TEST(CutShards, BalancesRowsAtSequenceBorders) {
  const Numbers offsets = {0, 10, 12, 14, 24};
  const auto ranges = cut_shards(offsets, Numbers{0, 1, 2, 3, 4}, 2);
  ASSERT_EQ(ranges.size(), 2u);
  EXPECT_EQ(ranges[0].first, 0);
  EXPECT_EQ(ranges[0].last, 2);
  EXPECT_EQ(ranges[1].first, 2);
  EXPECT_EQ(ranges[1].last, 4);
}

TEST(CutShards, CoversTheBatchInOrderEvenWithTooManyShards) {
  const Numbers offsets = {0, 5, 6, 20};
  for (const std::int64_t shards : {1, 2, 3, 4, 9}) {
    const auto ranges = cut_shards(offsets, Numbers{0, 1, 2, 3}, shards);
    ASSERT_EQ(static_cast<std::int64_t>(ranges.size()), shards);
    std::int64_t at = 0;
    for (const SequenceRange range : ranges) {
      EXPECT_EQ(range.first, at);
      EXPECT_LE(range.first, range.last);
      at = range.last;
    }
    EXPECT_EQ(at, 3);
  }
  EXPECT_EQ(cut_shards(Numbers{0}, Numbers{0}, 2).back().last, 0);
  EXPECT_THROW(cut_shards(offsets, Numbers{0}, 0), std::logic_error);
}

}  // namespace
}  // namespace encore::data
