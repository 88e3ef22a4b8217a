// SPDX-License-Identifier: BSD-3-Clause
// The temperature by a golden-section search over its logarithm with a fixed number of steps. The loss has
// one minimum there, because it is convex in 1 / temperature. fitting.cpp calls it. The number of steps
// decides the bits of stored temperatures. Read temperature.hpp first.
#include "temperature.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include <encore/error.hpp>

namespace encore::decide {
namespace {

constexpr double least_probability = 1e-30;  // smaller ones have no finite logarithm, or one without meaning
constexpr double widest = 3.0;               // of the logarithm of the temperature
constexpr int golden_steps = 40;             // 6 * 0.618^40 is below 3e-8

double bounded_log(double probability) {
  return std::log(std::max(probability, least_probability));
}

/// The loss of a temperature. The logarithms are taken once.
class Loss {
 public:
  explicit Loss(std::span<const KnownTruth> answers) {
    for (const KnownTruth& answer : answers) {
      const double truth = bounded_log(answer.scores->at(*answer.truth));
      for (const auto& [label, probability] : *answer.scores)
        differences_.push_back(bounded_log(probability) - truth);
      ends_.push_back(differences_.size());
    }
  }
  /// Returns the sum over the answers of log(sum over classes of exp((log p - log p_truth) / T)), and the
  /// term that keeps T near 1.
  double at(double log_temperature) const {
    const double factor = std::exp(-log_temperature);
    double loss = 0.5 * (factor - 1.0) * (factor - 1.0);
    std::size_t i = 0;
    for (const std::size_t end : ends_) {
      const std::size_t begin = i;
      const double largest = *std::max_element(differences_.begin() + static_cast<std::ptrdiff_t>(begin),
                                               differences_.begin() + static_cast<std::ptrdiff_t>(end));
      double sum = 0.0;
      for (; i < end; ++i) sum += std::exp(factor * (differences_[i] - largest));
      loss += std::log(sum) + factor * largest;
    }
    return loss;
  }

 private:
  std::vector<double> differences_;
  std::vector<std::size_t> ends_;
};

}  // namespace

double log_odds(const Scores& scores, const std::string& label, double temperature) {
  const auto found = scores.find(label);
  ENCORE_REQUIRE(found != scores.end(), "the class is among those with a probability");
  const double own = bounded_log(found->second);
  double largest = -most_log_odds * temperature;
  for (auto other = scores.begin(); other != scores.end(); ++other)
    if (other != found) largest = std::max(largest, bounded_log(other->second) - own);
  double others = 0.0;
  for (auto other = scores.begin(); other != scores.end(); ++other)
    if (other != found) others += std::exp((bounded_log(other->second) - own - largest) / temperature);
  if (others == 0.0) return most_log_odds;
  return std::clamp(-(std::log(others) + largest / temperature), -most_log_odds, most_log_odds);
}

double fit_temperature(std::span<const KnownTruth> answers) {
  if (answers.empty()) return 1.0;
  const Loss loss(answers);
  constexpr double ratio = 1.0 / std::numbers::phi;
  double low = -widest, high = widest;
  double left = high - ratio * (high - low), right = low + ratio * (high - low);
  double left_loss = loss.at(left), right_loss = loss.at(right);
  for (int i = 0; i < golden_steps; ++i) {
    if (left_loss <= right_loss) {
      high = right;
      right = left, right_loss = left_loss;
      left = high - ratio * (high - low), left_loss = loss.at(left);
    } else {
      low = left;
      left = right, left_loss = right_loss;
      right = low + ratio * (high - low), right_loss = loss.at(right);
    }
  }
  return std::exp(0.5 * (low + high));
}

}  // namespace encore::decide
