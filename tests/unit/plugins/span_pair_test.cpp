// SPDX-License-Identifier: BSD-3-Clause
// Tests the head "span_pair" (plugins/heads/span_pair.cpp), which scores the relation of two spans, on
// numbers computed by hand, which must stay: means of spans, their first rows, spans that share rows or lie
// outside of the sequence.
#include "unit/plugins/built_in.hpp"
#include "unit/record/temporary_folder.hpp"

#include <cmath>

#include "contract/head_memory.hpp"

namespace encore::test {
namespace {

using Values = std::vector<double>;

const HeadContext two_classes{
    .width = 1,
    .classes = 2,
    .columns = {{.name = targets_column, .space = Space::sequences, .truth = true}}};

struct PairRun {
  Values losses, gradient;
};

/// Runs the head on states (5, 1) of two sequences with three and two rows. With pooled spans a and b, the
/// logit of class 0 is a + 10 b and that of class 1 is 0.
PairRun run_pair(const Settings& settings, const Values& spans) {
  const Device device;
  const contract::OwnedBatch batch({3, 2});
  const auto head = make_built_in<Kind::head>("span_pair_head", "span_pair", settings, two_classes);
  contract::HeadMemory memory(device, *head, 1, batch, DType::float64, 1, 0.0);
  memory.memory().parameters()[0].set({1, 10, 0, 0});
  memory.memory().parameters()[1].set({0, 0});
  memory.inputs()[0].set({1, 2, 4, -1, 0.5});
  memory.columns()[0].set(spans);
  memory.columns()[1].set({1, 1});
  head->score(memory.step(true, true));
  head->loss(memory.step(true, true));
  memory.scales() = {1.0};
  head->backward(memory.step(true, true));
  device.fence();
  return {memory.losses().front().values(), memory.input_gradients()[0].values()};
}

double loss_of(double logit) {
  return std::log(std::exp(logit) + 1.0);
}
double slope_of(double logit) {
  return 1.0 / (1.0 + std::exp(-logit));
}

TEST(SpanPairHead, TakesTheMeansOfBothSpans) {
  const PairRun run = run_pair({}, {1, 2, 0, 0, 1, 1, 0, 1});
  const double first = 3.0 + 10.0 * 1.0, second = 0.5 + 10.0 * -0.25;
  EXPECT_NEAR(run.losses[0], loss_of(first), 1e-12);
  EXPECT_NEAR(run.losses[1], loss_of(second), 1e-12);
  const double a = slope_of(first), b = slope_of(second);
  const Values expected = {10 * a, 0.5 * a, 0.5 * a, 5 * b, 5 * b + b};
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(run.gradient[i], expected[i], 1e-12) << i;
}

TEST(SpanPairHead, TakesTheFirstRows) {
  const PairRun run = run_pair({{"pooling", std::string("first")}}, {1, 2, 0, 0, 1, 1, 0, 1});
  EXPECT_NEAR(run.losses[0], loss_of(2.0 + 10.0), 1e-12);
  EXPECT_NEAR(run.losses[1], loss_of(0.5 - 10.0), 1e-12);
  EXPECT_EQ(run.gradient[2], 0.0);
}

TEST(SpanPairHead, SeesNothingOutsideOfTheSequence) {
  const PairRun run = run_pair({}, {0, 3, -1, -1, 2, 2, 1, 0});
  EXPECT_NEAR(run.losses[0], loss_of(0.0), 1e-12);
  EXPECT_NEAR(run.losses[1], loss_of(0.0), 1e-12);
  EXPECT_EQ(run.gradient, Values(5, 0.0));
}

TEST(SpanPairHead, RefusesTargetsOfTokens) {
  HeadContext of_tokens = two_classes;
  of_tokens.columns[0].space = Space::tokens;
  EXPECT_EQ(
      testing::message_of<Error>(
          [&] { make_built_in<Kind::head>("span_pair_head", "span_pair", {}, of_tokens); }),
      "the span_pair head learns from the column \"targets\" over sequences, which this task does not have");
}

}  // namespace
}  // namespace encore::test
