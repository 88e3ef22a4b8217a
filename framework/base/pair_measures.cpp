// SPDX-License-Identifier: BSD-3-Clause
// Computes ROC areas, correlations, Cohen's kappa and Matthews' coefficient for measure_cells.cpp. Cells are
// sorted once; then each selection of examples costs one pass over them. Stored scores depend on the order of
// the operations, so it must not change. Read pair_measures.hpp first.
#include "base/pair_measures.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <tuple>

#include <encore/error.hpp>

namespace encore {

namespace {

constexpr double no_number = std::numeric_limits<double>::quiet_NaN();

/// Mixes the bits (Steele et al. 2014), since scores differ in few of them.
std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
  return x ^ (x >> 31);
}

}  // namespace

std::size_t NumberPairs::Hash::operator()(const Pair& pair) const {
  const auto bits = [](double value) { return std::bit_cast<std::uint64_t>(value); };
  return mixed(mixed(mixed(pair.key) + bits(pair.first)) + bits(pair.second));
}

std::uint32_t NumberPairs::cell(std::uint32_t key, double first, double second) {
  const auto next = static_cast<std::uint32_t>(pairs_.size());
  const auto [found, is_new] = cells_.emplace(Pair{.key = key, .first = first, .second = second}, next);
  if (is_new) pairs_.push_back(found->first);
  return found->second;
}

void NumberPairs::arrange() {
  by_first_.clear();
  no_numbers_.clear();
  for (std::uint32_t cell = 0; cell < pairs_.size(); ++cell) {
    const Pair& pair = pairs_[cell];
    (std::isnan(pair.first) || std::isnan(pair.second) ? no_numbers_ : by_first_).push_back(cell);
  }
  by_second_ = by_first_;
  const auto by = [&](double Pair::*number) {
    return [this, number](std::uint32_t a, std::uint32_t b) {
      return std::tuple(pairs_[a].key, pairs_[a].*number, a) <
             std::tuple(pairs_[b].key, pairs_[b].*number, b);
    };
  };
  std::sort(by_first_.begin(), by_first_.end(), by(&Pair::first));
  std::sort(by_second_.begin(), by_second_.end(), by(&Pair::second));
}

bool NumberPairs::is_nan(std::span<const double> counts) const {
  ENCORE_REQUIRE(counts.size() == size() && by_first_.size() + no_numbers_.size() == size(),
                 "the cells are arranged, and each has a count");
  return std::ranges::any_of(no_numbers_, [&](std::uint32_t cell) { return counts[cell] != 0.0; });
}

std::vector<double> NumberPairs::areas(std::span<const double> counts) const {
  if (is_nan(counts)) return {no_number};
  std::vector<double> areas;
  for (std::size_t i = 0; i < by_first_.size();) {
    const std::uint32_t key = pairs_[by_first_[i]].key;
    const auto goes_on = [&] { return i < by_first_.size() && pairs_[by_first_[i]].key == key; };
    double positives = 0.0, negatives = 0.0, ordered = 0.0;
    while (goes_on()) {
      const double score = pairs_[by_first_[i]].first;
      double equal_positives = 0.0, equal_negatives = 0.0;
      for (; goes_on() && pairs_[by_first_[i]].first == score; ++i)
        (pairs_[by_first_[i]].second > 0.0 ? equal_positives : equal_negatives) += counts[by_first_[i]];
      ordered += equal_positives * (negatives + 0.5 * equal_negatives);
      positives += equal_positives;
      negatives += equal_negatives;
    }
    if (positives > 0.0 && negatives > 0.0) areas.push_back(ordered / (positives * negatives));
  }
  return areas;
}

double NumberPairs::correlation(std::span<const double> counts) const {
  std::vector<double> x, y;
  for (const Pair& pair : pairs_) {
    x.push_back(pair.first);
    y.push_back(pair.second);
  }
  return correlation(x, y, counts);
}

double NumberPairs::quadratic_kappa(std::span<const double> counts) const {
  if (is_nan(counts)) return no_number;
  double count = 0.0, sum_x = 0.0, sum_y = 0.0, seen = 0.0;
  for (const std::uint32_t cell : by_first_) {
    const Pair& pair = pairs_[cell];
    count += counts[cell];
    sum_x += counts[cell] * pair.first;
    sum_y += counts[cell] * pair.second;
    seen += counts[cell] * (pair.first - pair.second) * (pair.first - pair.second);
  }
  if (count == 0.0) return 0.0;
  // E = variance of x + variance of y + (difference of the means)^2, both variances around their own mean.
  const double mean_x = sum_x / count, mean_y = sum_y / count;
  double by_chance = count * (mean_x - mean_y) * (mean_x - mean_y);
  for (const std::uint32_t cell : by_first_) {
    const double dx = pairs_[cell].first - mean_x, dy = pairs_[cell].second - mean_y;
    by_chance += counts[cell] * (dx * dx + dy * dy);
  }
  return by_chance > 0.0 ? 1.0 - seen / by_chance : 0.0;
}

double NumberPairs::rank_correlation(std::span<const double> counts) const {
  return correlation(ranks(by_first_, &Pair::first, counts), ranks(by_second_, &Pair::second, counts),
                     counts);
}

/// Returns ranks up to a constant: the number of smaller values plus half of the equal ones.
std::vector<double> NumberPairs::ranks(const std::vector<std::uint32_t>& order, double Pair::*number,
                                       std::span<const double> counts) const {
  std::vector<double> ranks(size(), 0.0);
  double below = 0.0;
  for (std::size_t i = 0; i < order.size();) {
    std::size_t end = i;
    double equal = 0.0;
    for (; end < order.size() && pairs_[order[end]].*number == pairs_[order[i]].*number; ++end)
      equal += counts[order[end]];
    for (; i < end; ++i) ranks[order[i]] = below + 0.5 * equal;
    below += equal;
  }
  return ranks;
}

double NumberPairs::correlation(std::span<const double> x, std::span<const double> y,
                                std::span<const double> counts) const {
  if (is_nan(counts)) return no_number;
  // A side is constant if its smallest number equals its largest. A rounded mean would leave a spread.
  double count = 0.0, sum_x = 0.0, sum_y = 0.0;
  double low_x = INFINITY, high_x = -INFINITY, low_y = INFINITY, high_y = -INFINITY;
  for (const std::uint32_t cell : by_first_) {
    if (counts[cell] == 0.0) continue;
    count += counts[cell];
    sum_x += counts[cell] * x[cell];
    sum_y += counts[cell] * y[cell];
    low_x = std::min(low_x, x[cell]), high_x = std::max(high_x, x[cell]);
    low_y = std::min(low_y, y[cell]), high_y = std::max(high_y, y[cell]);
  }
  if (!(low_x < high_x && low_y < high_y)) return 0.0;
  const double mean_x = sum_x / count, mean_y = sum_y / count;
  double xx = 0.0, yy = 0.0, xy = 0.0;
  for (const std::uint32_t cell : by_first_) {
    const double dx = x[cell] - mean_x, dy = y[cell] - mean_y;
    xx += counts[cell] * dx * dx;
    yy += counts[cell] * dy * dy;
    xy += counts[cell] * dx * dy;
  }
  return std::clamp(xy / (std::sqrt(xx) * std::sqrt(yy)), -1.0, 1.0);
}

std::uint32_t NamePairs::cell(const std::string& truth, const std::string& predicted) {
  const std::pair pair(number(truth), number(predicted));
  const auto [found, is_new] = cells_.emplace(pair, static_cast<std::uint32_t>(pairs_.size()));
  if (is_new) pairs_.push_back(pair);
  return found->second;
}

double NamePairs::matthews(std::span<const double> counts) const {
  ENCORE_REQUIRE(counts.size() == size(), "each cell has a count");
  std::vector<double> truths(names_.size(), 0.0), predictions(names_.size(), 0.0);
  double right = 0.0;
  for (std::size_t cell = 0; cell < pairs_.size(); ++cell) {
    const auto [truth, predicted] = pairs_[cell];
    truths[truth] += counts[cell];
    predictions[predicted] += counts[cell];
    if (truth == predicted) right += counts[cell];
  }
  const auto product = [](const std::vector<double>& a, const std::vector<double>& b) {
    return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
  };
  const double all = std::accumulate(truths.begin(), truths.end(), 0.0);
  const double spread_truth = all * all - product(truths, truths),
               spread_predicted = all * all - product(predictions, predictions);
  if (spread_truth == 0.0 || spread_predicted == 0.0) return 0.0;
  return (right * all - product(truths, predictions)) /
         (std::sqrt(spread_truth) * std::sqrt(spread_predicted));
}

}  // namespace encore
