// SPDX-License-Identifier: BSD-3-Clause
// The choice between words, vectors and both. Draws of the bootstrap come from std::mt19937_64 and a
// multiplication, whose values are the same in every standard library. Read fusion_choice.hpp first.
#include "fusion_choice.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <random>

#include <encore/error.hpp>

#include "ranking/ranking_measures.hpp"

namespace encore::search {
namespace {

constexpr std::size_t resamples = 2000;
constexpr int weight_steps = 20;
/// The interval of fewer differences is too narrow to be relied on.
constexpr std::size_t fewest_queries = 20;

using Gains = std::vector<double>;  ///< nDCG@10 of each query

Gains gains_of(const std::vector<JudgedQuery>& queries, const Fusion& fusion) {
  Gains gains;
  for (const JudgedQuery& query : queries)
    gains.push_back(query.gain(fuse(query.words, query.vectors, fusion, ranking::measured_depth)));
  return gains;
}

double mean(const Gains& gains) {
  double sum = 0.0;
  for (const double gain : gains) sum += gain;
  return sum / static_cast<double>(gains.size());
}

/// Returns the sum over the queries with even or odd numbers.
double sum_of_half(const Gains& gains, std::size_t half) {
  double sum = 0.0;
  for (std::size_t i = half; i < gains.size(); i += 2) sum += gains[i];
  return sum;
}

double weight_of(std::size_t step) {
  return static_cast<double>(step) / weight_steps;
}

/// Returns the number of the list with the largest value; of equal ones the first.
template <class Value>
std::size_t best_of(const std::vector<Gains>& lists, const Value& value) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < lists.size(); ++i)
    if (value(lists[i]) > value(lists[best])) best = i;
  return best;
}

struct Interval {
  double low = 0.0, high = 0.0;
};

/// The 95 % interval of the mean of paired differences.
Interval interval_of(const Gains& differences, std::uint64_t seed) {
  std::mt19937_64 words(seed);
  const std::uint64_t count = differences.size();
  Gains means(resamples);
  for (double& value : means) {
    double sum = 0.0;
    for (std::uint64_t draw = 0; draw < count; ++draw) sum += differences[((words() >> 32U) * count) >> 32U];
    value = sum / static_cast<double>(count);
  }
  std::ranges::sort(means);
  const auto percentile = [&](double share) {
    return means[static_cast<std::size_t>(std::lround(share * static_cast<double>(resamples - 1)))];
  };
  return {.low = percentile(0.025), .high = percentile(0.975)};
}

}  // namespace

FusionChoice choose_fusion(const std::vector<JudgedQuery>& queries, std::uint64_t seed) {
  ENCORE_REQUIRE(!queries.empty(), "a choice needs queries");
  const Gains words = gains_of(queries, {.method = SearchMethod::words});
  const Gains vectors = gains_of(queries, {.method = SearchMethod::vectors});
  const Gains ranks = gains_of(queries, {.method = SearchMethod::ranks});
  std::vector<Gains> weighted;  // by the step of the weight, from 1
  for (int step = 1; step < weight_steps; ++step)
    weighted.push_back(gains_of(
        queries, {.method = SearchMethod::weighted, .weight = weight_of(static_cast<std::size_t>(step))}));

  Gains unseen(queries.size());  // each half with the weight that the other half chose
  for (const std::size_t half : {0, 1}) {
    const std::size_t other = best_of(weighted, [&](const Gains& all) { return sum_of_half(all, 1 - half); });
    for (std::size_t i = half; i < queries.size(); i += 2) unseen[i] = weighted[other][i];
  }
  const double weight = weight_of(1 + best_of(weighted, mean));

  FusionChoice choice{.words = mean(words), .vectors = mean(vectors)};
  choice.single = choice.vectors > choice.words ? SearchMethod::vectors : SearchMethod::words;
  const bool takes_weight = mean(unseen) > mean(ranks);
  choice.joined = takes_weight ? Fusion{.method = SearchMethod::weighted, .weight = weight}
                               : Fusion{.method = SearchMethod::ranks};
  const Gains& fused = takes_weight ? unseen : ranks;
  const Gains& single = choice.single == SearchMethod::words ? words : vectors;
  Gains differences;
  for (std::size_t i = 0; i < queries.size(); ++i) differences.push_back(fused[i] - single[i]);
  const Interval interval = interval_of(differences, seed);
  choice.fused = mean(fused);
  choice.gain = mean(differences);
  choice.low = interval.low;
  choice.high = interval.high;
  const bool helps = choice.low > 0.0 && queries.size() >= fewest_queries;
  choice.fusion = helps ? choice.joined : Fusion{.method = choice.single};
  return choice;
}

}  // namespace encore::search
