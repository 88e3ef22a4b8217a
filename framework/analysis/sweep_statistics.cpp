// SPDX-License-Identifier: BSD-3-Clause
// Computes the main effect of one parameter of a sweep, and the expected best of n trials with its interval.
// report/sweep_pictures.cpp, report/trials.cpp and report/search_budget.cpp call it. Random draws have a
// fixed seed, so that equal databases give equal reports. Read sweep_statistics.hpp first.
#include "analysis/sweep_statistics.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include <boost/math/distributions/fisher_f.hpp>
#include <encore/error.hpp>

#include "analysis/in_double.hpp"
#include "analysis/statistics.hpp"

namespace encore::analysis {

using FisherF = boost::math::fisher_f_distribution<double, InDouble>;

std::optional<MainEffect> main_effect(std::span<const double> values, std::span<const std::size_t> level) {
  ENCORE_REQUIRE(values.size() == level.size(), "each value has a level");
  if (values.size() < 3 || !has_spread(values)) return std::nullopt;
  std::vector<double> sums(*std::max_element(level.begin(), level.end()) + 1, 0.0);
  std::vector<std::size_t> counts(sums.size(), 0);
  for (std::size_t i = 0; i < values.size(); ++i) {
    sums[level[i]] += values[i];
    ++counts[level[i]];
  }
  const double mean = mean_of(values);
  double total = 0.0, between = 0.0;
  for (const double value : values) total += (value - mean) * (value - mean);
  MainEffect effect;
  effect.values = values.size();
  for (std::size_t i = 0; i < sums.size(); ++i) {
    if (counts[i] == 0) continue;
    ++effect.levels;
    const double difference = sums[i] / static_cast<double>(counts[i]) - mean;
    between += static_cast<double>(counts[i]) * difference * difference;
  }
  if (effect.levels < 2) return std::nullopt;
  effect.share = std::min(1.0, between / total);
  effect.adjusted = effect.share;
  if (effect.values == effect.levels) return effect;
  const double above = static_cast<double>(effect.levels - 1);
  const double below = static_cast<double>(effect.values - effect.levels);
  const double within = std::max(0.0, total - between) / below;
  effect.adjusted = (between - above * within) / total;
  if (effect.share > 1.0 - 1e-12) return effect;
  effect.f = between / above / within;
  effect.p = boost::math::cdf(boost::math::complement(FisherF(above, below), *effect.f));
  return effect;
}

namespace {

/// Returns, for the values from the worst to the best, the probability that the best of n draws is the i-th.
std::vector<std::vector<double>> best_weights(std::size_t count, std::size_t most) {
  std::vector<std::vector<double>> weights(most);
  for (std::size_t n = 1; n <= most; ++n) {
    double before = 0.0;
    for (std::size_t i = 0; i < count; ++i) {
      const double upto =
          std::pow(static_cast<double>(i + 1) / static_cast<double>(count), static_cast<double>(n));
      weights[n - 1].push_back(upto - before);
      before = upto;
    }
  }
  return weights;
}

std::vector<double> expected_best(std::vector<double> values, bool maximize,
                                  const std::vector<std::vector<double>>& weights) {
  if (maximize)
    std::sort(values.begin(), values.end());
  else
    std::sort(values.begin(), values.end(), std::greater<>());
  std::vector<double> best;
  for (const std::vector<double>& of_n : weights)
    best.push_back(std::inner_product(values.begin(), values.end(), of_n.begin(), 0.0));
  return best;
}

}  // namespace

std::vector<double> expected_best(std::span<const double> values, bool maximize, std::size_t most) {
  if (values.empty()) return {};
  return expected_best({values.begin(), values.end()}, maximize, best_weights(values.size(), most));
}

std::vector<Interval> expected_best_intervals(std::span<const double> values, bool maximize, std::size_t most,
                                              std::size_t resamples) {
  if (values.empty()) return {};
  const std::vector<std::vector<double>> weights = best_weights(values.size(), most);
  std::vector<std::vector<double>> by_n(most);
  for (std::size_t resample = 0; resample < resamples; ++resample) {
    std::vector<double> drawn;
    for (std::size_t i = 0; i < values.size(); ++i)
      drawn.push_back(values[random_word(resample, i) % values.size()]);
    const std::vector<double> best = expected_best(std::move(drawn), maximize, weights);
    for (std::size_t n = 0; n < most; ++n) by_n[n].push_back(best[n]);
  }
  std::vector<Interval> intervals;
  for (std::vector<double>& found : by_n) {
    std::sort(found.begin(), found.end());
    const auto at = [&](double share) {
      return found[static_cast<std::size_t>(std::lround(share * static_cast<double>(found.size() - 1)))];
    };
    intervals.push_back({at(0.025), at(0.975)});
  }
  return intervals;
}

}  // namespace encore::analysis
