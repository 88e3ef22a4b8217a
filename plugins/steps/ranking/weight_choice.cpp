// SPDX-License-Identifier: BSD-3-Clause
// Weights and bootstrap intervals of rankings. Draws come from std::mt19937_64 and a multiplication, whose
// values are the same in every standard library. Read weight_choice.hpp first.
#include "weight_choice.hpp"

#include <algorithm>
#include <cmath>
#include <random>

namespace encore::ranking {
namespace {

constexpr std::size_t resamples = 2000, weight_steps = 20;

/// Returns the sum over the queries that are not in a part.
double sum_of_others(const Gains& gains, std::size_t part, std::size_t parts) {
  double sum = 0.0;
  for (std::size_t i = 0; i < gains.size(); ++i) sum += i % parts == part ? 0.0 : gains[i];
  return sum;
}

/// Returns the number of the list with the largest value; of equal ones the first.
template <class Value>
std::size_t best_of(const std::vector<Gains>& lists, const Value& value) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < lists.size(); ++i)
    if (value(lists[i]) > value(lists[best])) best = i;
  return best;
}

}  // namespace

double mean(const Gains& gains) {
  double sum = 0.0;
  for (const double gain : gains) sum += gain;
  return sum / static_cast<double>(gains.size());
}

WeightedGains best_weight(const std::function<Gains(double weight)>& gains, std::size_t parts) {
  const auto weight_of = [](std::size_t step) { return static_cast<double>(step) / weight_steps; };
  std::vector<Gains> weighted;  // by the step of the weight, from 1
  for (std::size_t step = 1; step < weight_steps; ++step) weighted.push_back(gains(weight_of(step)));
  WeightedGains best{.weight = weight_of(1 + best_of(weighted, mean)), .unseen = weighted.front()};
  for (std::size_t part = 0; part < parts; ++part) {
    const std::size_t chosen =
        best_of(weighted, [&](const Gains& all) { return sum_of_others(all, part, parts); });
    for (std::size_t i = part; i < best.unseen.size(); i += parts) best.unseen[i] = weighted[chosen][i];
  }
  return best;
}

GainInterval gain_over(const Gains& gains, const Gains& other, std::uint64_t seed) {
  Gains differences;
  for (std::size_t i = 0; i < gains.size(); ++i) differences.push_back(gains[i] - other[i]);
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
  return {.mean = mean(differences), .low = percentile(0.025), .high = percentile(0.975), .queries = count};
}

}  // namespace encore::ranking
