// See sweep_statistics.hpp.
#include "report/sweep_statistics.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include <boost/math/distributions/fisher_f.hpp>
#include <encore/error.hpp>

#include "report/in_double.hpp"
#include "report/statistics.hpp"

namespace encore {

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

std::vector<double> expected_best(std::span<const double> values, bool maximize, std::size_t most) {
  std::vector<double> sorted(values.begin(), values.end());
  if (maximize)
    std::sort(sorted.begin(), sorted.end());
  else
    std::sort(sorted.begin(), sorted.end(), std::greater<>());
  const auto count = static_cast<double>(sorted.size());
  std::vector<double> best;
  if (sorted.empty()) return best;
  for (std::size_t n = 1; n <= most; ++n) {
    double sum = 0.0, before = 0.0;
    for (std::size_t i = 0; i < sorted.size(); ++i) {
      const double upto = std::pow(static_cast<double>(i + 1) / count, static_cast<double>(n));
      sum += sorted[i] * (upto - before);
      before = upto;
    }
    best.push_back(sum);
  }
  return best;
}

}  // namespace encore
