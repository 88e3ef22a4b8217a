// SPDX-License-Identifier: BSD-3-Clause
// Tests the head "linear" (plugins/heads/linear.cpp) with weights of classes, pooling by the mean, and
// dropout, against numbers computed here in double. Losses are those of torch.nn.CrossEntropyLoss; the
// dropout mask must depend on the example, not on its place in a batch.
#include "unit/plugins/built_in.hpp"
#include "unit/record/temporary_folder.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "contract/head_memory.hpp"

namespace encore::test {
namespace {

using Values = std::vector<double>;

HeadContext context(Space space, bool weighed, double smoothing = 0.0) {
  HeadContext made{.width = 2,
                   .classes = 3,
                   .label_smoothing = smoothing,
                   .columns = {{.name = targets_column, .space = space, .truth = true}}};
  if (weighed)
    made.columns.push_back(
        {.name = weights_column, .space = space, .type = ColumnType::numbers, .truth = true});
  return made;
}

/// torch.nn.CrossEntropyLoss(weight=w, reduction="sum"): -sum of w[y] log softmax(z)[y] over rows, and its
/// gradient by z; the mean divides both by the sum of w[y].
struct Reference {
  Values losses, gradient;
  double weight = 0.0;

  Reference(const Values& logits, const std::vector<int>& labels, const Values& weights) {
    const std::size_t classes = weights.size();
    for (std::size_t row = 0; row < labels.size(); ++row) {
      const double w = labels[row] < 0 ? 0.0 : weights[static_cast<std::size_t>(labels[row])];
      double sum = 0.0;
      for (std::size_t k = 0; k < classes; ++k) sum += std::exp(logits[row * classes + k]);
      losses.push_back(
          w == 0.0 ? 0.0
                   : -w * (logits[row * classes + static_cast<std::size_t>(labels[row])] - std::log(sum)));
      for (std::size_t k = 0; k < classes; ++k)
        gradient.push_back(w * (std::exp(logits[row * classes + k]) / sum -
                                (static_cast<int>(k) == labels[row] ? 1.0 : 0.0)));
      weight += w;
    }
  }
};

TEST(LinearHead, WeighsClassesAsTorchDoes) {
  const Device device;
  const contract::OwnedBatch batch({3, 1, 1});
  const Values weights = {0.5, 3.0, 1.25}, bias = {0.1, -0.2, 0.3};
  const std::vector<int> labels = {1, -1, 0, 2, 1};
  const Values states = {0.5, -1, 2, 0.25, -0.75, 1.5, 0, 1, -2, 0.125};
  const auto head = make_built_in<Kind::head>("linear_head", "linear", {}, context(Space::tokens, true));
  contract::HeadMemory memory(device, *head, 2, batch, DType::float64, 1, 0.0);
  EXPECT_EQ(memory.plan().columns()[static_cast<std::size_t>(memory.plan().losses().front())].name,
            weights_column)
      << "the sum of the losses is divided by that of the weights";
  const Values matrix = {1, 0.5, -1, 2, 0.25, -0.5};  // (K, C)
  memory.memory().parameters()[0].set(matrix);
  memory.memory().parameters()[1].set(bias);
  memory.inputs()[0].set(states);
  Values targets, row_weights, logits;
  for (std::size_t row = 0; row < labels.size(); ++row) {
    targets.push_back(labels[row]);
    row_weights.push_back(labels[row] < 0 ? 0.0 : weights[static_cast<std::size_t>(labels[row])]);
    for (std::size_t k = 0; k < 3; ++k)
      logits.push_back(states[2 * row] * matrix[2 * k] + states[2 * row + 1] * matrix[2 * k + 1] + bias[k]);
  }
  memory.columns()[0].set(targets);
  memory.columns()[1].set(row_weights);
  const HeadStep step = memory.step(true, true);
  head->score(step);
  head->loss(step);
  const Reference reference(logits, labels, weights);
  const double scale = 1.0 / reference.weight;
  memory.scales().front() = scale;
  head->backward(step);
  device.fence();
  const Values losses = memory.losses().front().values(), dstates = memory.input_gradients()[0].values();
  for (std::size_t row = 0; row < labels.size(); ++row) {
    EXPECT_NEAR(losses[row], reference.losses[row], 1e-12) << row;
    for (std::size_t c = 0; c < 2; ++c) {
      double expected = 0.0;
      for (std::size_t k = 0; k < 3; ++k)
        expected += scale * reference.gradient[3 * row + k] * matrix[2 * k + c];
      EXPECT_NEAR(dstates[2 * row + c], expected, 1e-12) << row << ", " << c;
    }
  }
}

TEST(LinearHead, RefusesLabelSmoothingWithClassWeights) {
  EXPECT_EQ(testing::message_of<Error>([] {
              make_built_in<Kind::head>("linear_head", "linear", {}, context(Space::tokens, true, 0.1));
            }),
            "the linear head cannot smooth labels if the task weighs them: set train.label_smoothing = 0, or "
            "remove the weights from [task]");
}

/// Logits, the losses and the gradient of the states are those of the head on the means.
TEST(LinearHead, TakesTheMeanOfTheRowsOfAText) {
  const Device device;
  const contract::OwnedBatch batch({3, 1, 2});
  const Values matrix = {1, 0.5, -1, 2, 0.25, -0.5}, bias = {0.1, -0.2, 0.3};  // (K, C), (K)
  const std::vector<int> labels = {1, 0, 2};
  const Values states = {0.5, -1, 2, 0.25, -0.75, 1.5, 0, 1, -2, 0.125, 3, 0.5};
  const Values means = {(0.5 + 2 - 0.75) / 3, (-1 + 0.25 + 1.5) / 3, 0, 1, 0.5, 0.3125};
  const std::vector<std::size_t> text = {0, 0, 0, 1, 2, 2};
  const Values length = {3, 1, 2};
  const auto head = make_built_in<Kind::head>("linear_head", "linear", {{"pooling", std::string("mean")}},
                                              context(Space::sequences, false));
  contract::HeadMemory memory(device, *head, 2, batch, DType::float64, 1, 0.0);
  EXPECT_EQ(memory.plan().reads(), std::vector{Space::tokens});
  memory.memory().parameters()[0].set(matrix);
  memory.memory().parameters()[1].set(bias);
  memory.inputs()[0].set(states);
  memory.columns()[0].set({1, 0, 2});
  Values logits;
  for (std::size_t row = 0; row < 3; ++row)
    for (std::size_t k = 0; k < 3; ++k)
      logits.push_back(means[2 * row] * matrix[2 * k] + means[2 * row + 1] * matrix[2 * k + 1] + bias[k]);
  const HeadStep step = memory.step(true, true);
  head->score(step);
  head->loss(step);
  const Reference reference(logits, labels, {1, 1, 1});
  const double scale = 0.25;
  memory.scales().front() = scale;
  head->backward(step);
  device.fence();
  const Values losses = memory.losses().front().values(), dstates = memory.input_gradients()[0].values();
  for (std::size_t row = 0; row < 3; ++row) EXPECT_NEAR(losses[row], reference.losses[row], 1e-12) << row;
  for (std::size_t row = 0; row < text.size(); ++row)
    for (std::size_t c = 0; c < 2; ++c) {
      double expected = 0.0;
      for (std::size_t k = 0; k < 3; ++k)
        expected += scale * reference.gradient[3 * text[row] + k] * matrix[2 * k + c] / length[text[row]];
      EXPECT_NEAR(dstates[2 * row + c], expected, 1e-12) << row << ", " << c;
    }
}

TEST(LinearHead, PoolsNoRowsThatHaveTargetsOfTheirOwn) {
  EXPECT_EQ(testing::message_of<OptionError>([] {
              make_built_in<Kind::head>("linear_head", "linear", {{"pooling", std::string("mean")}},
                                        context(Space::tokens, false));
            }),
            "this task has a target for each row, not for the text: set pooling = \"cls\"");
}

/// Returns the losses of a head that adds up the channels of each row after dropout, as in training.
Values dropped_sums(Space space, const std::vector<std::int64_t>& lengths,
                    const std::vector<std::int64_t>& examples, bool training) {
  const Device device;
  const contract::OwnedBatch batch(lengths, contract::OwnedBatch::default_vocabulary, examples);
  HeadContext of = context(space, false);
  of.width = 64;
  const auto head = make_built_in<Kind::head>("linear_head", "linear", {{"dropout", 0.5}}, of);
  contract::HeadMemory memory(device, *head, 64, batch, DType::float64, 1, 0.0);
  Values matrix(3 * 64);
  for (std::size_t i = 0; i < 64; ++i) matrix[i] = static_cast<double>(1 + i);  // distinguishes masks
  memory.memory().parameters()[0].set(matrix);
  memory.inputs()[0].fill(1.0);
  memory.columns()[0].fill(1.0);
  head->score(memory.step(training, true));
  head->loss(memory.step(training, true));
  device.fence();
  return memory.losses().front().values();
}

TEST(LinearHead, DropsByTheExampleAndNotByThePlaceInTheBatch) {
  for (const Space space : {Space::tokens, Space::sequences, Space::picked}) {
    const auto rows = [&](const std::vector<std::int64_t>& lengths,
                          const std::vector<std::int64_t>& examples) {
      return static_cast<std::size_t>(
          contract::rows_in(contract::OwnedBatch(lengths, 17, examples), space).count());
    };
    const Values together = dropped_sums(space, {2, 3, 4}, {5, 9, 12}, true),
                 alone = dropped_sums(space, {4}, {12}, true);
    ASSERT_EQ(together.size(), rows({2, 3, 4}, {5, 9, 12}));
    ASSERT_EQ(alone.size(), rows({4}, {12}));
    EXPECT_TRUE(
        std::equal(alone.begin(), alone.end(), together.end() - static_cast<std::ptrdiff_t>(alone.size())))
        << name_of(space);
    EXPECT_NE(dropped_sums(space, {4}, {12}, true), dropped_sums(space, {4}, {13}, true)) << name_of(space);
    const Values whole = dropped_sums(space, {2, 3, 4}, {5, 9, 12}, false);
    EXPECT_EQ(std::set<double>(whole.begin(), whole.end()).size(), 1U) << "nothing is dropped in evaluation";
  }
}

}  // namespace
}  // namespace encore::test
