// SPDX-License-Identifier: BSD-3-Clause
// Tests the head "span" (plugins/heads/span.cpp), which scores each row as the start and as the end of an
// answer, on numbers computed by hand, which must stay. The weight is the identity, so the states are the
// scores.
#include "unit/plugins/built_in.hpp"
#include "unit/record/temporary_folder.hpp"

#include <cmath>

#include "contract/head_memory.hpp"

namespace encore::test {
namespace {

using Values = std::vector<double>;

const Values states = {0, 1, 2, 0, 0, 0, 5, -5};  // (4, 2): sequences of three rows and of one

struct SpanRun {
  Values losses, spans;
};

SpanRun run_span(const Values& starts, const Values& ends) {
  const Device device;
  const contract::OwnedBatch batch({3, 1});
  const auto head = make_built_in<Kind::head>("span_head", "span", {}, HeadContext{.width = 2});
  contract::HeadMemory memory(device, *head, 2, batch, DType::float64, 1, 0.0);
  memory.memory().parameters()[0].set({1, 0, 0, 1});
  memory.memory().parameters()[1].set({0.5, 0});
  memory.inputs()[0].set(states);
  memory.columns()[0].set(starts);
  memory.columns()[1].set(ends);
  head->score(memory.step(false, true));
  head->loss(memory.step(false, true));
  head->decode(memory.step(false, false));
  device.fence();
  return {memory.losses().front().values(), memory.outputs()[0].values()};
}

TEST(SpanHead, GivesTwoScoresForEachRow) {
  EXPECT_EQ(run_span({0, 0}, {0, 0}).spans, (Values{0.5, 1, 2.5, 0, 0.5, 0, 5.5, -5}));
}

TEST(SpanHead, LearnsWhereTheSpanBeginsAndEnds) {
  const double starts = std::log(std::exp(0.5) + std::exp(2.5) + std::exp(0.5)),
               ends = std::log(std::exp(1) + 2);
  const Values losses = run_span({1, 0}, {2, 0}).losses;
  ASSERT_EQ(losses.size(), 2U) << "one for each sequence";
  EXPECT_NEAR(losses[0], 0.5 * (starts - 2.5 + ends), 1e-12);
  EXPECT_NEAR(losses[1], 0.0, 1e-12) << "of one row there is nothing to choose";
  EXPECT_NEAR(run_span({1, 0}, {no_target, 0}).losses[0], 0.5 * (starts - 2.5), 1e-12);
  EXPECT_EQ(run_span({no_target, 0}, {no_target, 0}).losses[0], 0.0);
}

TEST(SpanHead, RefusesLabelSmoothing) {
  const HeadContext smoothed = {.width = 2, .label_smoothing = 0.1};
  EXPECT_EQ(testing::message_of<Error>([&] { make_built_in<Kind::head>("span_head", "span", {}, smoothed); }),
            "the span head cannot smooth labels: set train.label_smoothing = 0");
}

}  // namespace
}  // namespace encore::test
