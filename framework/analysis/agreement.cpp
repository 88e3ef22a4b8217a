// SPDX-License-Identifier: BSD-3-Clause
// Cohen's kappa with its interval, and shares over sampled parts; app/review.cpp calls them. Sums run in the
// order of the labels, so that equal counts give equal bits. tests/unit/analysis/agreement_test.cpp has
// values that were computed by hand or with scipy. Read agreement.hpp first.
#include "analysis/agreement.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include <boost/math/distributions/normal.hpp>

#include "analysis/in_double.hpp"
#include "analysis/shares.hpp"

namespace encore::analysis {

Agreement agreement_of(std::span<const std::pair<std::string, std::string>> pairs, double level) {
  Agreement result{.pairs = static_cast<std::int64_t>(pairs.size())};
  if (pairs.empty()) return result;
  const auto n = static_cast<double>(pairs.size());
  std::map<std::pair<std::string, std::string>, double> cells;
  std::map<std::string, double> first, second;  // marginal shares
  for (const auto& pair : pairs) cells[pair] += 1.0;
  for (auto& [pair, share] : cells) {
    share /= n;
    first[pair.first] += share;
    second[pair.second] += share;
    first.try_emplace(pair.second);
    second.try_emplace(pair.first);
  }
  for (const auto& [pair, share] : cells)
    if (pair.first == pair.second) result.observed += share;
  for (const auto& [label, share] : first) result.expected += share * second.at(label);
  const double by_chance = result.expected;
  if (first.size() < 2) return result;  // both always chose the same label
  const double kappa = (result.observed - by_chance) / (1.0 - by_chance);
  double equal = 0.0, unequal = 0.0;
  for (const auto& [pair, share] : cells) {
    const double marginal = second.at(pair.first) + first.at(pair.second);
    if (pair.first == pair.second)
      equal += share * std::pow(1.0 - marginal * (1.0 - kappa), 2);
    else
      unequal += share * marginal * marginal;
  }
  const double variance =
      (equal + (1.0 - kappa) * (1.0 - kappa) * unequal - std::pow(kappa - by_chance * (1.0 - kappa), 2)) /
      (n * (1.0 - by_chance) * (1.0 - by_chance));
  const double z =
      boost::math::quantile(boost::math::normal_distribution<double, InDouble>(), 1.0 - (1.0 - level) / 2.0);
  const double half = z * std::sqrt(std::max(variance, 0.0));
  result.kappa = kappa;
  result.interval = Interval{std::max(-1.0, kappa - half), std::min(1.0, kappa + half)};
  return result;
}

std::optional<WeightedShare> weighted_share(std::span<const SampledPart> parts, double level) {
  double all = 0.0, uncertain = 0.0;
  for (const SampledPart& part : parts) {
    if (part.size > 0 && part.sample == 0) return std::nullopt;
    all += static_cast<double>(part.size);
    uncertain += part.is_random && part.sample < part.size ? 1.0 : 0.0;
  }
  if (all == 0.0) return std::nullopt;
  WeightedShare result;
  for (const SampledPart& part : parts) {
    if (part.size == 0) continue;
    const auto size = static_cast<double>(part.size), hits = static_cast<double>(part.hits),
               open = static_cast<double>(part.size - part.sample);
    const double weight = size / all;
    result.share += weight * hits / static_cast<double>(part.sample);
    const Interval interval = part.is_random && open > 0.0
                                  ? exact_interval({.part = hits, .all = static_cast<double>(part.sample)},
                                                   1.0 - (1.0 - level) / uncertain)
                                  : Interval{hits / size, (hits + open) / size};
    result.interval.low += weight * interval.low;
    result.interval.high += weight * interval.high;
  }
  return result;
}

}  // namespace encore::analysis
