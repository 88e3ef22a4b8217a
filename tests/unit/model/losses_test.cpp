// SPDX-License-Identifier: BSD-3-Clause
// Tests models whose head has two losses (Model and sum_shards(), model/pass_kernels.hpp), with the head
// language_model, which may also predict whether one text follows another: each loss is divided by the number
// of its own targets, their sum is trained, and a batch may lack the targets of one of them. The order in
// which shards are added decides the bits of runs and must stay.
#include <gtest/gtest.h>

#include "support/tiny_model.hpp"

namespace encore::model {
namespace {

using namespace encore::testing;

/// A parameter that only the second loss reaches. The column "next" of a batch has the targets of that loss.
constexpr const char* second_loss = "head.next.weight";  // (2, 8)
/// A parameter that only the first loss reaches.
constexpr const char* first_loss = "head.bias";  // (11)

struct LossesTest : ::testing::Test {
  std::unique_ptr<TinyModel> make(const data::PackedBatch& packed, std::int64_t shards = 1) {
    config::Experiment experiment = tiny_experiment(registry);
    experiment.model.dropout = 0.3;  // drawn by example and position, so the cut does not matter
    experiment.train.gradient_shards = shards;
    fill_table(experiment.model.head, registry, Kind::head, "model.head", "language_model", {});
    ModelSize size = tiny_size();
    size.labels = {};
    size.columns = {{.name = targets_column, .truth = true},
                    {.name = "next", .space = Space::sequences, .truth = true}};
    size.outputs = {};
    auto tiny = std::make_unique<TinyModel>(experiment, size, registry, device, packed);
    tiny->model.initialize(1);
    tiny->scales.assign(tiny->batch.scales().begin(), tiny->batch.scales().end());
    return tiny;
  }
  std::vector<double> gradients(const TinyModel& tiny) const {
    return to_host(device, tiny.model.parameters().gradients());
  }

  Device device;
  plugin_host::Registry registry = load_builtin_plugins();
};

/// Sequences of 5, 1, 9 and 3 rows; `next` has the targets of the second loss for each.
data::PackedBatch batch_with(const std::vector<std::int32_t>& next) {
  data::PackedBatch batch = tiny_batch();
  EncodedExample::Column column;
  column.integers = next;
  batch.columns.push_back(std::move(column));
  batch.known.push_back(true);
  batch.weights.push_back(weight_of(next));
  return batch;
}

/// Returns the sequences of a range as a batch of their own.
data::PackedBatch part_of_both(const data::PackedBatch& batch, const data::SequenceRange& range) {
  data::PackedBatch part = testing::part_of(batch, range);
  EncodedExample::Column column;
  column.integers.assign(batch.columns[1].integers.begin() + range.first,
                         batch.columns[1].integers.begin() + range.last);
  part.weights.push_back(weight_of(column.integers));
  part.columns.push_back(std::move(column));
  part.known.push_back(true);
  return part;
}

TEST_F(LossesTest, EachIsDividedByTheNumberOfItsOwnTargets) {
  const auto tiny = make(batch_with({0, no_target, 1, no_target}));
  ASSERT_EQ(tiny->scales.size(), 2U);
  EXPECT_EQ(tiny->scales[0], 1.0 / 12.0) << "two of three rows of 18";
  EXPECT_EQ(tiny->scales[1], 0.5);
  const std::vector<double> means = tiny->scales;
  const double both = tiny->loss({1, 1});
  const std::vector<double> of_both = gradients(*tiny);
  tiny->scales = {means[0], 0.0};
  const double first = tiny->loss({1, 1});
  const std::vector<double> of_first = gradients(*tiny);
  tiny->scales = {0.0, means[1]};
  const double second = tiny->loss({1, 1});
  const std::vector<double> of_second = gradients(*tiny);
  EXPECT_GT(first, 0.0);
  EXPECT_GT(second, 0.0);
  EXPECT_EQ(both, first + second);
  for (std::size_t i = 0; i < of_both.size(); ++i)
    ASSERT_NEAR(of_both[i], of_first[i] + of_second[i], 1e-14) << i;
  EXPECT_NE(of_both, of_first);
  EXPECT_NE(of_both, of_second);
}

TEST_F(LossesTest, ALossWithoutTargetsInTheBatchIsZero) {
  const auto tiny = make(batch_with({no_target, no_target, no_target, no_target}));
  EXPECT_EQ(tiny->scales[1], 0.0);
  const double loss = tiny->loss({1, 1});
  EXPECT_TRUE(std::isfinite(loss));
  const memory::ParameterSlice& unused = tiny->model.parameters().find(second_loss);
  EXPECT_EQ(tiny->gradient(unused), std::vector<double>(static_cast<std::size_t>(unused.size), 0.0));
  tiny->scales = {tiny->scales[0], 7.0};
  EXPECT_EQ(tiny->loss({1, 1}), loss) << "whatever its factor";

  data::PackedBatch silent = batch_with({0, 1, 1, 0});
  std::ranges::fill(silent.columns[0].integers, no_target);
  silent.weights[0] = 0.0;
  const auto other = make(silent);
  EXPECT_EQ(other->scales[0], 0.0);
  EXPECT_GT(other->loss({1, 1}), 0.0);
  const memory::ParameterSlice& bias = other->model.parameters().find(first_loss);
  EXPECT_EQ(other->gradient(bias), std::vector<double>(static_cast<std::size_t>(bias.size), 0.0));
}

TEST_F(LossesTest, EvaluationGivesTheSumOfEach) {
  const auto tiny = make(batch_with({0, no_target, 1, no_target}));
  const std::vector<double> sums = tiny->model.read_losses(tiny->model.evaluate(tiny->batch, {}));
  ASSERT_EQ(sums.size(), 2U);
  const auto alone = make(batch_with({0, no_target, no_target, no_target})),
             rest = make(batch_with({no_target, no_target, 1, no_target}));
  const std::vector<double> first = alone->model.read_losses(alone->model.evaluate(alone->batch, {})),
                            second = rest->model.read_losses(rest->model.evaluate(rest->batch, {}));
  EXPECT_EQ(sums[0], first[0]);
  EXPECT_NEAR(sums[1], first[1] + second[1], 1e-14);
  EXPECT_GT(first[1], 0.0);
  EXPECT_GT(second[1], 0.0);
}

TEST_F(LossesTest, ShardsAddUpInTheirOrder) {
  const data::PackedBatch packed = batch_with({0, 1, 1, 0});
  const auto together = make(packed, 3);
  const double loss = together->loss({1, 1});
  EXPECT_NEAR(loss, make(packed)->loss({1, 1}), 1e-14);
  const std::vector<data::SequenceRange> ranges = data::cut_shards(packed.offsets, packed.borders, 3);
  ASSERT_EQ(ranges.size(), 3U);
  std::vector<std::vector<double>> parts;
  for (const data::SequenceRange& range : ranges) {
    const auto alone = make(part_of_both(packed, range));
    alone->scales = together->scales;
    alone->loss({1, 1});
    parts.push_back(gradients(*alone));
  }
  const auto added = [&](std::size_t a, std::size_t b, std::size_t c) {
    std::vector<double> sum = parts[a];
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] = (sum[i] + parts[b][i]) + parts[c][i];
    return sum;
  };
  EXPECT_EQ(added(0, 1, 2), gradients(*together));
  EXPECT_NE(added(2, 1, 0), gradients(*together)) << "an injected reordering must show in the bits";
}

}  // namespace
}  // namespace encore::model
