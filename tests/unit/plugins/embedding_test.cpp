// SPDX-License-Identifier: BSD-3-Clause
// Compares the head "embedding" (plugins/heads/embedding.cpp) with a simple reference in double: pooling,
// both losses (contrastive and similarity), gradients by central differences, pairs with padding between
// their sequences, and refused options. embed_test.cpp tests the task that uses it. The losses are those of
// the papers that the head names and must stay.
#include "unit/plugins/built_in.hpp"
#include "unit/record/temporary_folder.hpp"

#include <cmath>
#include <numeric>
#include <utility>

#include "contract/head_memory.hpp"

namespace encore::test {
namespace {

using Values = std::vector<double>;

constexpr double none = no_target;

struct EmbeddingCase {
  std::vector<std::int64_t> lengths;
  std::int64_t width = 3;
  Values first, second;
  Values similarity = {};  ///< empty: contrastive
  Settings settings = {};
  Values windows = {}, own_tokens = {};  ///< empty: each sequence is an input
};

struct EmbeddingRun {
  Values losses, embedding, gradients;
};

constexpr double scale = 0.7;

std::int64_t rows_of_case(const EmbeddingCase& one) {
  return std::accumulate(one.lengths.begin(), one.lengths.end(), std::int64_t{0});
}

EmbeddingRun run_embedding(const EmbeddingCase& one, const Values& states, DType type = DType::float64) {
  const Device device;
  const contract::OwnedBatch batch(one.lengths);
  HeadContext context{.width = one.width};
  if (!one.similarity.empty())
    context.columns = {{.name = "similarity", .space = Space::sequences, .type = ColumnType::numbers}};
  if (!one.windows.empty())
    for (const char* name : {"window", "own_tokens"})
      context.columns.push_back({.name = name, .space = Space::sequences});
  const auto head = make_built_in<Kind::head>("embedding_head", "embedding", one.settings, context);
  contract::HeadMemory memory(device, *head, one.width, batch, type, 1, 0.0);
  memory.inputs()[0].set(states);
  memory.columns()[0].set(one.first);
  memory.columns()[1].set(one.second);
  if (!one.similarity.empty()) memory.columns()[2].set(one.similarity);
  if (!one.windows.empty()) {
    memory.columns()[memory.columns().size() - 2].set(one.windows);
    memory.columns().back().set(one.own_tokens);
  }
  memory.memory().poison();
  head->score(memory.step(true, true));
  head->loss(memory.step(true, true));
  memory.scales() = {scale};
  head->backward(memory.step(true, true));
  head->decode(memory.step(true, true));
  device.fence();
  return {memory.losses().front().values(), memory.outputs()[0].values(),
          memory.input_gradients()[0].values()};
}

/// Returns for the first window of each input the mean of the vectors of its windows, weighted by their own
/// tokens, and zeros for other sequences.
std::vector<Values> merged(const EmbeddingCase& one, const std::vector<Values>& vectors) {
  std::vector<Values> all(vectors.size(), Values(static_cast<std::size_t>(one.width), 0.0));
  std::vector<double> tokens(vectors.size());
  std::size_t first = 0;
  for (std::size_t s = 0; s < vectors.size(); ++s) {
    if (one.windows[s] < 0) continue;
    if (one.windows[s] == 0) first = s;
    tokens[first] += one.own_tokens[s];
    for (std::size_t c = 0; c < all[s].size(); ++c) all[first][c] += one.own_tokens[s] * vectors[s][c];
  }
  for (std::size_t s = 0; s < vectors.size(); ++s)
    for (double& value : all[s])
      if (one.windows[s] == 0) value /= tokens[s];
  return all;
}

/// Returns the mean of the rows of each sequence. Without `mean` the states hold only the first row of each
/// sequence, which is returned.
std::vector<Values> pooled(const EmbeddingCase& one, const Values& states, bool mean) {
  std::vector<Values> all;
  const auto width = static_cast<std::size_t>(one.width);
  std::size_t row = 0;
  for (const std::int64_t length : one.lengths) {
    Values vector(width, 0.0);
    const auto count = static_cast<std::size_t>(mean ? length : 1);
    for (std::size_t t = 0; t < count; ++t)
      for (std::size_t c = 0; c < width; ++c) vector[c] += states[(row + t) * width + c];
    for (double& value : vector) value /= static_cast<double>(count);
    all.push_back(std::move(vector));
    row += mean ? static_cast<std::size_t>(length) : 1;
  }
  return one.windows.empty() ? all : merged(one, all);
}

double cosine(const Values& a, const Values& b) {
  const double dot = std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
  return dot / std::sqrt(std::inner_product(a.begin(), a.end(), a.begin(), 0.0) *
                         std::inner_product(b.begin(), b.end(), b.begin(), 0.0));
}

/// Returns the pairs {index of the first sequence, index of the second}. A sequence is the first of a pair
/// where first[i] >= 0; its second is the next one that is not padding.
std::vector<std::pair<std::size_t, std::size_t>> pairs_of(const EmbeddingCase& one) {
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  for (std::size_t i = 0; i < one.first.size(); ++i) {
    if (one.first[i] < 0) continue;
    std::size_t j = i + 1;
    while (j < one.first.size() && one.first[j] < 0 && one.second[j] < 0) ++j;
    if (j < one.first.size() && one.second[j] >= 0) pairs.emplace_back(i, j);
  }
  return pairs;
}

double reference_loss(const EmbeddingCase& one, const Values& states, bool mean, double temperature) {
  const std::vector<Values> vectors = pooled(one, states, mean);
  double loss = 0.0;
  for (const auto& [i, j] : pairs_of(one)) {
    if (!one.similarity.empty()) {
      loss += std::pow(cosine(vectors[i], vectors[j]) - one.similarity[i], 2);
      continue;
    }
    double sum = 0.0;
    for (std::size_t k = 0; k < vectors.size(); ++k)
      if (one.second[k] >= 0) sum += std::exp(cosine(vectors[i], vectors[k]) / temperature);
    loss += std::log(sum) - cosine(vectors[i], vectors[j]) / temperature;
  }
  return loss;
}

void expect_reference(const EmbeddingCase& one, bool mean, double temperature) {
  const std::int64_t rows = mean ? rows_of_case(one) : static_cast<std::int64_t>(one.lengths.size());
  Values states = contract::normal_values(rows * one.width, 11);
  const EmbeddingRun run = run_embedding(one, states);
  EXPECT_NEAR(std::accumulate(run.losses.begin(), run.losses.end(), 0.0),
              reference_loss(one, states, mean, temperature), 1e-9);
  ASSERT_EQ(run.gradients.size(), states.size());
  for (std::size_t i = 0; i < states.size(); ++i) {
    constexpr double step = 1e-5;
    const double kept = states[i];
    states[i] = kept + step;
    const double above = reference_loss(one, states, mean, temperature);
    states[i] = kept - step;
    const double below = reference_loss(one, states, mean, temperature);
    states[i] = kept;
    EXPECT_NEAR(run.gradients[i], scale * (above - below) / (2.0 * step), 1e-6) << "element " << i;
  }
}

/// Returns three pairs with odd lengths; the second pair has padding between its sequences and after them.
EmbeddingCase pairs(const Settings& settings = {}, const Values& similarity = {}) {
  return {.lengths = {3, 1, 2, 2, 5, 1, 4, 2},
          .width = 5,
          .first = {0, none, 0, none, none, none, 0, none},
          .second = {none, 0, none, none, 0, none, none, 0},
          .similarity = similarity,
          .settings = settings};
}

TEST(EmbeddingHead, GivesTheMeanOrTheFirstRowOfEachSequence) {
  const EmbeddingCase mean = {.lengths = {3, 1}, .width = 2, .first = {none, none}, .second = {none, none}};
  EXPECT_EQ(run_embedding(mean, {0, 3, 3, 0, 6, 6, -1, 5}).embedding, (Values{3, 3, -1, 5}));
  EmbeddingCase first = mean;
  first.settings = {{"pooling", std::string("cls")}, {"normalize", true}};
  const Values unit = run_embedding(first, {3, 4, 0, 2}).embedding;
  ASSERT_EQ(unit.size(), 4U);
  EXPECT_NEAR(unit[0], 0.6, 1e-7);
  EXPECT_NEAR(unit[1], 0.8, 1e-7);
  EXPECT_EQ(unit[3], 1.0);
}

TEST(EmbeddingHead, LearnsWhichSecondTextBelongsToAFirstOne) {
  expect_reference(pairs(), true, 0.05);
  expect_reference(pairs({{"temperature", 0.5}, {"pooling", std::string("cls")}}), false, 0.5);
  const Values losses = run_embedding(pairs(), contract::normal_values(20 * 5, 11)).losses;
  for (const std::size_t other : {1, 3, 4, 5, 7}) EXPECT_EQ(losses[other], 0.0) << "is not a first text";
}

TEST(EmbeddingHead, NegativesAreWrongForEveryFirstText) {
  EmbeddingCase with_negatives = pairs();
  with_negatives.second[2] = with_negatives.second[5] = 0;  // behind the second inputs of two pairs
  with_negatives.first[2] = none;
  with_negatives.first[3] = 0;
  expect_reference(with_negatives, true, 0.05);
  with_negatives.settings = {{"temperature", 0.5}, {"pooling", std::string("cls")}};
  expect_reference(with_negatives, false, 0.5);
}

TEST(EmbeddingHead, LearnsTheSimilarityOfAPair) {
  expect_reference(pairs({}, {0.25, 0, 1, 0, 0, 0, 0, 0}), true, 0.05);
  expect_reference(pairs({{"pooling", std::string("cls")}}, {0.25, 0, 1, 0, 0, 0, 0.5, 0}), false, 0.05);
}

/// Returns pairs() with windows: the first input has two, the last second input has two with padding between.
EmbeddingCase windows(const Settings& settings = {}, const Values& similarity = {}) {
  return {.lengths = {3, 1, 2, 2, 5, 1, 4, 2},
          .width = 5,
          .first = {0, none, none, 0, none, none, none, none},
          .second = {none, none, 0, none, 0, none, none, none},
          .similarity = similarity,
          .settings = settings,
          .windows = {0, 1, 0, 0, 0, none, 1, 2},
          .own_tokens = {1, 2, 4, 1, 3, none, 5, 2}};
}

TEST(EmbeddingHead, MergesTheWindowsOfAnInput) {
  const Values numbers = {0.25, 0, 0, 1, 0, 0, 0, 0};
  expect_reference(windows(), true, 0.05);
  expect_reference(windows({{"temperature", 0.5}, {"pooling", std::string("cls")}}), false, 0.5);
  expect_reference(windows({}, numbers), true, 0.05);
  expect_reference(windows({{"pooling", std::string("cls")}}, numbers), false, 0.05);
  const Values states = contract::normal_values(20 * 5, 11);
  const std::vector<Values> expected = pooled(windows(), states, true);
  const Values embedding = run_embedding(windows(), states).embedding;
  for (const std::size_t first : {0, 2, 3, 4})
    for (std::size_t c = 0; c < 5; ++c) EXPECT_NEAR(embedding[5 * first + c], expected[first][c], 1e-6);
}

TEST(EmbeddingHead, AnInputOfOneWindowKeepsItsBits) {
  EmbeddingCase single = pairs();
  single.windows = {0, 0, 0, none, 0, none, 0, 0};
  single.own_tokens = {3, 0, 7, none, 5, none, 11, 3};
  const Values states = contract::normal_values(20 * 5, 11);
  for (const DType type : {DType::float64, DType::float32, DType::bfloat16}) {
    const EmbeddingRun with = run_embedding(single, states, type),
                       without = run_embedding(pairs(), states, type);
    EXPECT_EQ(with.losses, without.losses) << name_of(type);
    EXPECT_EQ(with.gradients, without.gradients) << name_of(type);
    for (const std::size_t input : {0, 1, 2, 4, 6, 7})
      for (std::size_t c = 5 * input; c < 5 * (input + 1); ++c)
        EXPECT_EQ(with.embedding[c], without.embedding[c]) << name_of(type);
  }
}

TEST(EmbeddingHead, LearnsNothingWithoutPairs) {
  EmbeddingCase alone = pairs();
  alone.first.assign(8, none);
  alone.second.assign(8, none);
  const EmbeddingRun run = run_embedding(alone, contract::normal_values(20 * 5, 11));
  EXPECT_EQ(run.losses, Values(8, 0.0));
  EXPECT_EQ(run.gradients, Values(20 * 5, 0.0));
  EXPECT_EQ(run_embedding(pairs(), Values(20 * 5, 0.0)).gradients, Values(20 * 5, 0.0))
      << "vectors of zeros have no direction";
}

TEST(EmbeddingHead, LossesOfLowerPrecisionsAreCloseToFloat64) {
  const Values states = contract::normal_values(20 * 5, 11);
  const EmbeddingRun exact = run_embedding(pairs(), states);
  for (const auto& [type, tolerance] : {std::pair{DType::float32, 1e-4}, {DType::bfloat16, 0.3}}) {
    const EmbeddingRun run = run_embedding(pairs(), states, type);
    for (std::size_t i = 0; i < exact.losses.size(); ++i)
      EXPECT_NEAR(run.losses[i], exact.losses[i], tolerance) << name_of(type);
  }
}

TEST(EmbeddingHead, CouplesTheSequencesOfABatchOnlyInTheContrastiveLoss) {
  const auto couples = [](const std::vector<ColumnRule>& columns) {
    const HeadContext context{.width = 4, .columns = columns};
    const auto head = make_built_in<Kind::head>("embedding_head", "embedding", {}, context);
    HeadPlan plan(4);
    head->declare(plan);
    EXPECT_TRUE(plan.parameters().empty());
    return plan.couples_sequences();
  };
  EXPECT_TRUE(couples({}));
  EXPECT_FALSE(couples({{.name = "similarity", .space = Space::sequences, .type = ColumnType::numbers}}));
}

TEST(EmbeddingHead, RefusesLabelSmoothing) {
  const HeadContext smoothed = {.width = 2, .label_smoothing = 0.1};
  EXPECT_EQ(testing::message_of<Error>(
                [&] { make_built_in<Kind::head>("embedding_head", "embedding", {}, smoothed); }),
            "the embedding head has no labels to smooth: set train.label_smoothing = 0");
}

}  // namespace
}  // namespace encore::test
