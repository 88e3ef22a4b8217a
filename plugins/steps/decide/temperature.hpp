// SPDX-License-Identifier: BSD-3-Clause
// The temperature that makes the probabilities of a classifier fit its errors (Guo et al. 2017), and the
// log-odds of a class at a temperature. fitting.cpp and knowledge.cpp call these pure functions. Stored runs
// depend on the values, so a change needs a new version of the step.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace encore::decide {

using Scores = std::map<std::string, double>;  ///< the probability of every class

/// The log-odds are held within this range, also where a class has the probability 0 or 1.
constexpr double most_log_odds = 40.0;

/// Returns the log-odds of a class of `scores` among all of them at the temperature: log p - log (1 - p),
/// where p is proportional to probability^(1 / temperature). A class alone has the largest log-odds.
double log_odds(const Scores& scores, const std::string& label, double temperature);

/// One answer whose true class the classifier knows.
struct KnownTruth {
  const Scores* scores = nullptr;
  const std::string* truth = nullptr;
};

/// Returns the temperature T in [exp(-3), exp(3)] with the smallest sum of the log-losses of the true classes
/// and (1 / T - 1)^2 / 2; 1 if there are no answers. The second term counts like one answer: without it a few
/// answers without a mistake would call for the smallest temperature.
double fit_temperature(std::span<const KnownTruth> answers);

}  // namespace encore::decide
