// SPDX-License-Identifier: BSD-3-Clause
// TrialDensity: computes widths and weights of the kernels, and the density and samples of their mixture.
// tpe.cpp uses it. Proposals of stored searches are recomputed, so results must keep their bits. Read
// parzen.hpp first.
#include "plan/search/parzen.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "plan/search/search_math.hpp"

namespace encore::plan::search {

namespace {

using Kind = AxisShape::Kind;

constexpr double prior_weight = 1.0;
/// The number of newest kernels that keep their full weight.
constexpr std::size_t recent = 25;
/// A normal distribution is cut off at this many widths.
constexpr double normal_end = 8.0;
/// A kernel below e^-20 is skipped, since the prior is about 1.
constexpr double faint = 20.0;

/// Returns the normal distribution function, and saves its cost at the far ends.
double below(double distance) {
  if (distance <= -normal_end) return 0.0;
  return distance >= normal_end ? 1.0 : normal_below(distance);
}

double squared(double x) {
  return x * x;
}

}  // namespace

std::vector<double> recency_weights(std::size_t count) {
  std::vector<double> weights(count, 1.0);
  if (count <= recent) return weights;
  const std::size_t old = count - recent;
  const double first = 1.0 / static_cast<double>(count);
  for (std::size_t i = 0; i < old; ++i)
    weights[i] =
        old == 1 ? first : first + (1.0 - first) * static_cast<double>(i) / static_cast<double>(old - 1);
  return weights;
}

TrialDensity::TrialDensity(std::vector<AxisShape> axes, const std::vector<std::vector<Cell>>& trials)
    : axes_(std::move(axes)),
      weights_(recency_weights(trials.size())),
      numbers_(axes_.size()),
      choices_(axes_.size()) {
  weights_.push_back(prior_weight);
  const double sum = std::accumulate(weights_.begin(), weights_.end(), 0.0);
  for (double& weight : weights_) weight /= sum;
  heights_ = weights_;
  for (std::size_t axis = 0; axis < axes_.size(); ++axis) {
    if (axes_[axis].kind != Kind::choice) {
      add_numbers(axis, trials);
      continue;
    }
    for (const std::vector<Cell>& trial : trials)
      choices_[axis].push_back(trial[axis].absent ? -1 : static_cast<int>(trial[axis].low));
    choices_[axis].push_back(-1);
  }
  for (const double height : heights_) reach_.push_back(2.0 * (logarithm(height) + faint));
}

/// Adds the kernels of an axis of numbers. A kernel is as wide as the wider gap to its neighbours, within
/// limits.
void TrialDensity::add_numbers(std::size_t axis, const std::vector<std::vector<Cell>>& trials) {
  std::vector<Kernel>& kernels = numbers_[axis];
  kernels.resize(trials.size() + 1);
  std::vector<std::pair<double, std::size_t>> sorted;
  for (std::size_t k = 0; k < trials.size(); ++k)
    if (!trials[k][axis].absent) sorted.emplace_back(trials[k][axis].center(), k);
  std::ranges::sort(sorted);
  const double narrowest = 1.0 / std::min(100.0, 2.0 + static_cast<double>(sorted.size()));
  for (std::size_t rank = 0; rank < sorted.size(); ++rank) {
    const double center = sorted[rank].first;
    const bool alone = sorted.size() == 1;
    const double left = rank > 0 ? center - sorted[rank - 1].first : alone ? center : 0.0;
    const double right = rank + 1 < sorted.size() ? sorted[rank + 1].first - center
                         : alone                  ? 1.0 - center
                                                  : 0.0;
    kernels[sorted[rank].second] = {.center = center,
                                    .width = std::clamp(std::max(left, right), narrowest, 1.0)};
  }
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    Kernel& kernel = kernels[k];
    kernel.below = below(-kernel.center / kernel.width);
    kernel.inside = below((1.0 - kernel.center) / kernel.width) - kernel.below;
    if (axes_[axis].kind == Kind::number) heights_[k] /= kernel.inside * kernel.width * 2.5066282746310002;
  }
}

std::vector<double> TrialDensity::sample(const Shares& shares) const {
  std::size_t chosen = weights_.size() - 1;
  double share = shares(axes_.size());
  for (std::size_t k = 0; k + 1 < weights_.size(); ++k) {
    share -= weights_[k];
    if (share >= 0.0) continue;
    chosen = k;
    break;
  }
  std::vector<double> places;
  for (std::size_t axis = 0; axis < axes_.size(); ++axis) {
    double left = shares(axis);
    if (axes_[axis].kind == Kind::choice) {
      std::size_t value = 0;
      while (value + 1 < axes_[axis].choices && left >= probability(axis, chosen, static_cast<double>(value)))
        left -= probability(axis, chosen, static_cast<double>(value++));
      places.push_back(static_cast<double>(value));
      continue;
    }
    const Kernel& kernel = numbers_[axis][chosen];
    const double low = std::max(-kernel.center / kernel.width, -normal_end);
    const double high = std::min((1.0 - kernel.center) / kernel.width, normal_end);
    const double distance = normal_quantile(kernel.below + left * kernel.inside, low, high);
    places.push_back(std::clamp(kernel.center + distance * kernel.width, 0.0, 1.0));
  }
  return places;
}

double TrialDensity::log_density(const std::vector<Cell>& values) const {
  double sum = 0.0;
  for (std::size_t k = 0; k < weights_.size(); ++k) {
    double distance = 0.0;
    double outside = 0.0;  // of whole numbers, from the kernel to the nearest border
    for (std::size_t axis = 0; axis < axes_.size() && distance + outside <= reach_[k]; ++axis) {
      if (axes_[axis].kind == Kind::choice) continue;
      const Kernel& kernel = numbers_[axis][k];
      if (axes_[axis].kind == Kind::number)
        distance += squared((values[axis].low - kernel.center) / kernel.width);
      else
        outside +=
            squared(std::max({0.0, values[axis].low - kernel.center, kernel.center - values[axis].high}) /
                    kernel.width);
    }
    if (distance + outside > reach_[k]) continue;
    double term = heights_[k] * exponential(-0.5 * distance);
    for (std::size_t axis = 0; axis < axes_.size(); ++axis)
      if (axes_[axis].kind == Kind::whole)
        term *= mass(numbers_[axis][k], values[axis]);
      else if (axes_[axis].kind == Kind::choice)
        term *= probability(axis, k, values[axis].low);
    sum += term;
  }
  return logarithm(std::max(sum, 1e-300));
}

double TrialDensity::mass(const Kernel& kernel, const Cell& cell) const {
  return (below((cell.high - kernel.center) / kernel.width) -
          below((cell.low - kernel.center) / kernel.width)) /
         kernel.inside;
}

/// Returns the probability of a choice under a kernel: the value of its trial has most of the probability,
/// every other value has a little.
double TrialDensity::probability(std::size_t axis, std::size_t kernel, double value) const {
  const double count = static_cast<double>(axes_[axis].choices);
  const int seen = choices_[axis][kernel];
  if (seen < 0) return 1.0 / count;
  const double others = prior_weight / static_cast<double>(weights_.size());
  return (others + (seen == static_cast<int>(value) ? 1.0 : 0.0)) / (1.0 + others * count);
}

}  // namespace encore::plan::search
