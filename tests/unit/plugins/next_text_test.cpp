// SPDX-License-Identifier: BSD-3-Clause
// Tests the second part of the head "language_model" (plugins/heads/next_text.hpp), which predicts whether
// one text follows another: its logits against a slow reference, and the gradients of both losses together.
// The formula is that of BERT's pretraining and must stay.
#include "unit/plugins/built_in.hpp"
#include "unit/record/temporary_folder.hpp"

#include <cmath>

#include "contract/gradient_check.hpp"
#include "contract/head_memory.hpp"

namespace encore::test {
namespace {

using Values = std::vector<double>;

constexpr std::int64_t width = 6, vocabulary = 9;

HeadContext context() {
  return {.width = width,
          .vocabulary = vocabulary,
          .columns = {{.name = targets_column, .space = Space::picked},
                      {.name = "next", .space = Space::sequences}}};
}

struct World {
  World()
      : head(make_built_in<Kind::head>("language_model", "language_model", {}, context())),
        batch({5, 1, 9, 2}),
        memory(device, *head, width, batch, DType::float64, 1, 0.3) {
    for (std::size_t i = 0; i < memory.inputs().size(); ++i)
      memory.inputs()[i].set(contract::normal_values(memory.inputs()[i].tensor().size(), 5 + i));
    Values targets;
    for (std::int64_t row = 0; row < memory.columns()[0].tensor().extent(0); ++row)
      targets.push_back(row % 4 == 3 ? no_target : static_cast<double>((5 * row + 2) % vocabulary));
    memory.columns()[0].set(targets);
    memory.columns()[1].set({1, 0, no_target, 1});
  }

  contract::OwnedTensor& parameter(const std::string& name) {
    const std::vector<ParameterSpec>& specs = memory.plan().parameters();
    const auto found = std::ranges::find(specs, name, &ParameterSpec::name);
    return memory.memory().parameters()[static_cast<std::size_t>(found - specs.begin())];
  }
  /// Returns the logits (B, 2) = tanh(x W^T + b) V^T + c of the reference.
  std::vector<Values> logits() {
    const Values w = parameter("pooler.weight").values(), b = parameter("pooler.bias").values(),
                 v = parameter("next.weight").values(), c = parameter("next.bias").values(),
                 x = memory.inputs()[1].values();
    std::vector<Values> all;
    for (std::size_t s = 0; s < 4; ++s) {
      all.push_back(c);
      for (std::size_t j = 0; j < width; ++j) {
        double sum = b[j];
        for (std::size_t i = 0; i < width; ++i) sum += w[j * width + i] * x[s * width + i];
        for (std::size_t k = 0; k < 2; ++k) all.back()[k] += v[k * width + j] * std::tanh(sum);
      }
    }
    return all;
  }

  const Device device;
  std::unique_ptr<Head> head;
  const contract::OwnedBatch batch;
  contract::HeadMemory memory;
};

TEST(NextText, ScoresThePooledFirstRowOfEachSequence) {
  World world;
  EXPECT_EQ(world.memory.plan().reads(), (std::vector<Space>{Space::picked, Space::sequences}));
  world.head->score(world.memory.step(false, true));
  world.head->loss(world.memory.step(false, true));
  world.head->decode(world.memory.step(false, false));
  world.device.fence();
  const Values truth = world.memory.columns()[1].values(), losses = world.memory.losses().at(1).values(),
               predictions = world.memory.outputs().at(3).values();
  const std::vector<Values> expected = world.logits();
  for (std::size_t s = 0; s < 4; ++s) {
    const double log_sum = std::log(std::exp(expected[s][0]) + std::exp(expected[s][1]));
    const double loss =
        truth[s] == no_target ? 0.0 : log_sum - expected[s][static_cast<std::size_t>(truth[s])];
    EXPECT_NEAR(losses[s], loss, 1e-12) << s;
    EXPECT_EQ(predictions[s], expected[s][1] > expected[s][0] ? 1.0 : 0.0) << s;
  }
}

TEST(NextText, ItsGradientsAndThoseOfTheMaskedTokensAddUp) {
  World world;
  const auto objective = [&] {
    world.head->score(world.memory.step(true, true));
    world.head->loss(world.memory.step(true, true));
    world.device.fence();
    double sum = 0.0;
    for (std::size_t loss = 0; loss < 2; ++loss)
      for (const double value : world.memory.losses()[loss].values())
        sum += world.memory.scales()[loss] * value;
    return sum;
  };
  ASSERT_NE(world.memory.scales()[0], world.memory.scales()[1]);
  objective();
  world.head->backward(world.memory.step(true, true));
  world.device.fence();
  std::vector<contract::CheckedTensor> tensors;
  const auto check = [&](std::string name, contract::OwnedTensor& values,
                         const contract::OwnedTensor& gradient) {
    tensors.push_back({.name = std::move(name),
                       .values = values.values(),
                       .gradient = gradient.values(),
                       .store = [&values](const Values& changed) { values.set(changed); }});
  };
  for (std::size_t i = 0; i < 2; ++i)
    check("input " + std::to_string(i), world.memory.inputs()[i], world.memory.input_gradients()[i]);
  const std::vector<ParameterSpec>& specs = world.memory.plan().parameters();
  for (std::size_t i = 0; i < specs.size(); ++i)
    check(specs[i].name, world.memory.memory().parameters()[i], world.memory.memory().gradients()[i]);
  EXPECT_EQ(tensors.size(), 2U + 10U);
  const contract::GradientReport report = contract::GradientCheck(objective).run(tensors);
  EXPECT_TRUE(report.mismatches.empty()) << report.text();
  EXPECT_GT(report.compared, 30);
}

TEST(NextText, WantsOneAnswerForEachSequence) {
  HeadContext of_tokens = context();
  of_tokens.columns[1].space = Space::tokens;
  HeadPlan plan(width);
  const auto head = make_built_in<Kind::head>("language_model", "language_model", {}, of_tokens);
  head->declare(plan);
  EXPECT_EQ(plan.columns()[1].space, Space::sequences)
      << "so that the host refuses the task's column over tokens";
}

}  // namespace
}  // namespace encore::test
