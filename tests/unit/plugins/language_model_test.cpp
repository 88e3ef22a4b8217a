// SPDX-License-Identifier: BSD-3-Clause
// Tests the head "language_model" (plugins/heads/language_model.cpp) against a slow reference: logits with
// the table of the embedding, losses, the most probable tokens, and the statistics of measures, with and
// without label smoothing. next_text_test.cpp tests its second part. Parts and shapes are those of pretrained
// heads, so a change would break loading them.
#include "unit/plugins/built_in.hpp"
#include "unit/record/temporary_folder.hpp"

#include <cmath>
#include <functional>
#include <numeric>

#include "contract/head_memory.hpp"

namespace encore::test {
namespace {

using Values = std::vector<double>;
using encore::testing::message_of;

constexpr std::int64_t width = 6, vocabulary = 9;
/// Parameters in the order of declare.
enum Place : std::size_t { weight, transform_bias, gain, norm_bias, table, bias };

HeadContext context(Space space = Space::picked, double smoothing = 0.0) {
  return {.width = width,
          .label_smoothing = smoothing,
          .vocabulary = vocabulary,
          .columns = {{.name = targets_column, .space = space}}};
}

std::unique_ptr<Head> make_head(const Settings& settings = {}, const HeadContext& of = context()) {
  return make_built_in<Kind::head>("language_model", "language_model", settings, of);
}

/// Returns y (out) = W (out, in) x + b.
Values product(const Values& matrix, const double* x, const Values& offset) {
  Values y = offset;
  const std::size_t in = matrix.size() / y.size();
  for (std::size_t o = 0; o < y.size(); ++o)
    for (std::size_t i = 0; i < in; ++i) y[o] += matrix[o * in + i] * x[i];
  return y;
}

Values transformed(const double* x, contract::OwnedPlan& owned, double epsilon) {
  Values h = product(owned.parameters()[weight].values(), x, owned.parameters()[transform_bias].values());
  for (double& value : h) value *= 0.5 * (1.0 + std::erf(value / std::sqrt(2.0)));
  const double mean = std::accumulate(h.begin(), h.end(), 0.0) / static_cast<double>(h.size());
  double variance = 0.0;
  for (const double value : h) variance += (value - mean) * (value - mean) / static_cast<double>(h.size());
  for (std::size_t c = 0; c < h.size(); ++c)
    h[c] = owned.parameters()[gain].values()[c] * (h[c] - mean) / std::sqrt(variance + epsilon) +
           owned.parameters()[norm_bias].values()[c];
  return h;
}

/// Returns log softmax(logits).
Values log_shares(Values logits) {
  double sum = 0.0;
  for (const double logit : logits) sum += std::exp(logit);
  for (double& logit : logits) logit -= std::log(sum);
  return logits;
}

struct World {
  World(const Settings& settings, const HeadContext& of, DType type = DType::float64)
      : head(make_head(settings, of)),
        batch({5, 1, 9, 2}),
        memory(device, *head, width, batch, type, 1, 0.3) {
    rows = memory.inputs()[0].tensor().extent(0);
    states = contract::normal_values(rows * width, 5);
    memory.inputs()[0].set(states);
    for (std::int64_t row = 0; row < rows; ++row)
      targets.push_back(row % 4 == 3 ? no_target : static_cast<double>((5 * row + 2) % vocabulary));
    memory.columns()[0].set(targets);
  }
  void evaluate() {
    head->score(memory.step(false, true));
    head->loss(memory.step(false, true));
    head->decode(memory.step(false, false));
    device.fence();
  }

  const Device device;
  std::unique_ptr<Head> head;
  const contract::OwnedBatch batch;
  contract::HeadMemory memory;
  std::int64_t rows = 0;
  Values states, targets;
};

/// Compares losses, candidates and probabilities of every row with the reference. `hidden` returns the states
/// of a row after the transform of the head.
void expect_reference(World& world, double smoothing, const std::function<Values(const double*)>& hidden) {
  contract::OwnedPlan& owned = world.memory.memory();
  const Values e = owned.parameters()[owned.parameters().size() - 2].values(),  // (V, C)
      b = owned.parameters().back().values();                                   // (V)
  const Values losses = world.memory.losses().front().values(),
               candidates = world.memory.outputs()[0].values(),
               probabilities = world.memory.outputs()[1].values(), plain = world.memory.outputs()[2].values();
  const std::size_t count = candidates.size() / static_cast<std::size_t>(world.rows);
  ASSERT_EQ(count, 5U);
  for (std::size_t row = 0; row < static_cast<std::size_t>(world.rows); ++row) {
    const Values shares =
        log_shares(product(e, hidden(world.states.data() + row * static_cast<std::size_t>(width)).data(), b));
    double nll = 0.0, smooth = 0.0;
    if (world.targets[row] != no_target) {
      nll = -shares[static_cast<std::size_t>(world.targets[row])];
      smooth = (1.0 - smoothing) * nll - smoothing / static_cast<double>(vocabulary) *
                                             std::accumulate(shares.begin(), shares.end(), 0.0);
    }
    EXPECT_NEAR(losses[row], smooth, 1e-10) << row;
    EXPECT_NEAR(plain[row], nll, 1e-6) << row << ": without smoothing, in float32";
    std::vector<std::size_t> order(shares.size());
    std::iota(order.begin(), order.end(), 0U);
    std::ranges::sort(order, [&](std::size_t i, std::size_t k) { return shares[i] > shares[k]; });
    for (std::size_t k = 0; k < count; ++k) {
      EXPECT_EQ(candidates[row * count + k], static_cast<double>(order[k])) << row << ", " << k;
      EXPECT_NEAR(probabilities[row * count + k], std::exp(shares[order[k]]), 1e-6) << row << ", " << k;
    }
  }
}

TEST(LanguageModel, ScoresWithTheTableOfTheEmbeddingAfterItsTransform) {
  for (const double smoothing : {0.0, 0.2}) {
    World world({{"epsilon", 1e-3}}, context(Space::picked, smoothing));
    contract::OwnedPlan& owned = world.memory.memory();
    world.evaluate();
    expect_reference(world, smoothing, [&](const double* x) { return transformed(x, owned, 1e-3); });
  }
}

TEST(LanguageModel, ItsTransformBringsTheStatesToTheWidthOfAFactorisedTable) {
  HeadContext factorised = context();
  factorised.embedding_width = 4;
  World world({{"epsilon", 1e-3}}, factorised);
  contract::OwnedPlan& owned = world.memory.memory();
  EXPECT_EQ(owned.parameters()[weight].tensor().extent(0), 4);
  EXPECT_EQ(owned.parameters()[weight].tensor().extent(1), width);
  EXPECT_EQ(owned.parameters()[table].tensor().extent(1), 4);
  world.evaluate();
  expect_reference(world, 0.0, [&](const double* x) { return transformed(x, owned, 1e-3); });
  try {
    make_head({{"transform", false}}, factorised);
    ADD_FAILURE() << "not refused";
  } catch (const OptionError& error) {
    EXPECT_EQ(error.option(), "transform");
    EXPECT_STREQ(error.what(),
                 "the table of tokens is 4 channels wide (model.embedding_width), but the states are 6: set "
                 "transform = true, which maps one to the other");
  }
}

TEST(LanguageModel, ScoresTheStatesThemselvesWithoutTransform) {
  World world({{"transform", false}}, context(Space::tokens));
  world.evaluate();
  expect_reference(world, 0.0, [](const double* x) { return Values(x, x + width); });
}

TEST(LanguageModel, ScoresStatesThatAreDividedByTheRootOfTheirWidth) {
  for (const bool tied : {true, false}) {
    World world({{"transform", false}, {"scaled", true}, {"tied", tied}}, context(Space::tokens));
    world.evaluate();
    expect_reference(world, 0.0, [](const double* x) {
      Values states(x, x + width);
      for (double& state : states) state /= std::sqrt(static_cast<double>(width));
      return states;
    });
  }
}

TEST(LanguageModel, NamesTheFirstOfEqualTokensFirst) {
  World world({{"transform", false}}, context());
  contract::OwnedPlan& owned = world.memory.memory();
  owned.parameters()[0].fill(0.0);
  owned.parameters()[1].set({0, 1, 0, 2, 1, 0, 0, 2, 1});
  world.evaluate();
  const Values candidates = world.memory.outputs()[0].values();
  EXPECT_EQ(Values(candidates.begin(), candidates.begin() + 5), (Values{3, 7, 1, 4, 8}));
}

TEST(LanguageModel, GivesNoLossWithoutARequest) {
  World world({}, context());
  world.memory.memory().poison();
  world.head->score(world.memory.step(false, false));
  world.head->decode(world.memory.step(false, false));
  world.device.fence();
  EXPECT_EQ(world.memory.outputs()[2].values(), Values(static_cast<std::size_t>(world.rows), 0.0));
}

TEST(LanguageModel, GivesAsManyCandidatesAsTheTaskReads) {
  for (const std::int64_t count : {1, 3, 7}) {
    HeadContext of = context();
    of.outputs = {{.name = "losses", .width = 1}, {.name = "candidates", .width = count}};
    World world({}, of), five({}, context());
    world.evaluate();
    five.evaluate();
    const Values few = world.memory.outputs()[0].values(), all = five.memory.outputs()[0].values();
    ASSERT_EQ(few.size(), static_cast<std::size_t>(world.rows * count));
    for (std::int64_t row = 0; row < world.rows; ++row)
      for (std::int64_t k = 0; k < std::min<std::int64_t>(count, 5); ++k)
        EXPECT_EQ(few[static_cast<std::size_t>(row * count + k)], all[static_cast<std::size_t>(row * 5 + k)]);
  }
}

TEST(LanguageModel, GivesFewerCandidatesOfASmallVocabulary) {
  HeadContext small = context();
  small.vocabulary = 3;
  HeadPlan plan(width);
  make_head({}, small)->declare(plan);
  EXPECT_EQ(plan.outputs()[0].width, 3);
}

TEST(LanguageModel, HasThePartsOfAPretrainedHead) {
  HeadPlan plan(width);
  make_head()->declare(plan);
  std::vector<std::string> names;
  for (const ParameterSpec& spec : plan.parameters())
    names.push_back(spec.alias.empty() ? spec.name : spec.name + " = " + spec.alias);
  EXPECT_EQ(names, (std::vector<std::string>{"transform.weight", "transform.bias", "norm.gain", "norm.bias",
                                             "table = embedding.tokens", "bias"}));
  EXPECT_EQ(plan.reads(), std::vector<Space>{Space::picked});
}

TEST(LanguageModel, HasAMatrixOfItsOwnWhereItIsNotTied) {
  HeadPlan plan(width);
  make_head({{"transform", false}, {"bias", false}, {"tied", false}})->declare(plan);
  ASSERT_EQ(plan.parameters().size(), 1U);
  const ParameterSpec& output = plan.parameters().front();
  EXPECT_EQ(output.name, "output.weight");
  EXPECT_EQ(output.shape, (std::vector<std::int64_t>{vocabulary, width}));
  EXPECT_EQ(output.alias, "");
}

TEST(LanguageModel, RefusesATaskWithoutTargets) {
  EXPECT_EQ(message_of<Error>([] { make_head({}, {.width = width, .vocabulary = vocabulary}); }),
            "the language_model head learns from the column \"targets\", which this task does not have");
}

}  // namespace
}  // namespace encore::test
