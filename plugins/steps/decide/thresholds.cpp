// SPDX-License-Identifier: BSD-3-Clause
// Fixed sequence testing with exact binomial bounds, also for another share of requests out of scope, and the
// cheapest pair of thresholds by sums over a grid. The order of candidates and of sums decides the bits of
// stored thresholds. Read thresholds.hpp first, which says why the two parts are kept apart.
#include "thresholds.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <numbers>
#include <vector>

#include <encore/binomial.hpp>

namespace encore::decide {
namespace {

constexpr std::size_t tested_thresholds = 50;  // at most
constexpr std::size_t priced_thresholds = 200;
constexpr double rounding = 1e-12;  // costs that differ less are equal
constexpr double infinity = std::numeric_limits<double>::infinity();

// With a stated share of requests out of scope an error has three uncertain sources, which share the
// probability 1 - confidence that a bound is wrong. Development sets have few requests out of scope, so these
// get the most.
constexpr double part_of_out = 0.6, part_of_wrong = 0.3, part_of_scope = 0.1;

/// What a threshold takes: requests that are answered, or refused.
struct Counts {
  double in_scope = 0.0, out_of_scope = 0.0;               ///< all requests of the part
  double taken_in = 0.0, wrong_in = 0.0, taken_out = 0.0;  ///< taken in scope, wrongly so, out of scope

  Counts scaled(double factor) const {
    return {in_scope * factor, out_of_scope * factor, taken_in * factor, wrong_in * factor,
            taken_out * factor};
  }
  double taken() const { return taken_in + taken_out; }
};

/// Returns the upper end of the share of errors among answered requests.
double answer_bound(const Counts& counts, const Promise& promise) {
  if (!promise.share)
    return binomial::upper_end(counts.wrong_in + counts.taken_out, counts.taken(), promise.confidence);
  if (*promise.share == 0.0) return binomial::upper_end(counts.wrong_in, counts.taken_in, promise.confidence);
  const double doubt = 1.0 - promise.confidence;
  const double wrong = binomial::upper_end(counts.wrong_in, counts.taken_in, 1.0 - part_of_wrong * doubt),
               in = binomial::lower_end(counts.taken_in, counts.in_scope, 1.0 - part_of_scope * doubt),
               out = binomial::upper_end(counts.taken_out, counts.out_of_scope, 1.0 - part_of_out * doubt);
  const double from_in = (1.0 - *promise.share) * in, from_out = *promise.share * out;
  return from_in > 0.0 ? (from_in * wrong + from_out) / (from_in + from_out) : 1.0;
}

/// Returns the upper end of the share of requests in scope among refused ones.
double refusal_bound(const Counts& counts, const Promise& promise) {
  if (!promise.share) return binomial::upper_end(counts.taken_in, counts.taken(), promise.confidence);
  const double level = 1.0 - 0.5 * (1.0 - promise.confidence);
  const double in = binomial::upper_end(counts.taken_in, counts.in_scope, level),
               out = binomial::lower_end(counts.taken_out, counts.out_of_scope, level);
  const double from_in = (1.0 - *promise.share) * in, from_out = *promise.share * out;
  return from_out > 0.0 ? from_in / (from_in + from_out) : 1.0;
}

/// One kind of decision: which requests it may take, by which score, and the bound of its errors.
struct Rule {
  std::function<bool(const Outcome&)> may_take;
  bool (*is_error)(const Outcome&);
  double most_raised;  ///< the largest count of errors that a normal distribution may replace
  double Outcome::*score;
  double (*bound)(const Counts&, const Promise&);
  /// The lowest candidate, which takes every request that may be taken; none: the lowest score.
  std::optional<double> lowest;
};

/// Returns the scores of the requests that the rule may take, from the highest down, thinned to the
/// candidates.
std::vector<double> candidates(Outcomes outcomes, const Rule& rule) {
  std::vector<double> scores, chosen;
  for (const Outcome& one : outcomes)
    if (rule.may_take(one)) scores.push_back(one.*rule.score);
  std::sort(scores.begin(), scores.end(), std::greater<>());
  const std::size_t count = std::min(tested_thresholds, scores.size());
  for (std::size_t j = 1; j <= count; ++j) {
    const double score = scores[j * scores.size() / count - 1];
    if (chosen.empty() || score < chosen.back()) chosen.push_back(score);
  }
  if (rule.lowest && (chosen.empty() || *rule.lowest < chosen.back())) chosen.push_back(*rule.lowest);
  return chosen;
}

/// Counts for each candidate, in falling order.
std::vector<Counts> counts_from(const std::vector<double>& thresholds, Outcomes outcomes, const Rule& rule) {
  std::vector<Counts> counts(thresholds.size());
  Counts all;
  for (const Outcome& one : outcomes) {
    (one.in_scope ? all.in_scope : all.out_of_scope) += 1.0;
    if (!rule.may_take(one)) continue;
    const auto first =
        std::lower_bound(thresholds.begin(), thresholds.end(), one.*rule.score, std::greater<>());
    if (first == thresholds.end()) continue;
    Counts& at = counts[static_cast<std::size_t>(first - thresholds.begin())];
    (one.in_scope ? at.taken_in : at.taken_out) += 1.0;
    if (one.in_scope && !one.is_right) at.wrong_in += 1.0;
  }
  for (std::size_t j = 0; j < counts.size(); ++j) {
    counts[j].in_scope = all.in_scope;
    counts[j].out_of_scope = all.out_of_scope;
    if (j == 0) continue;
    counts[j].taken_in += counts[j - 1].taken_in;
    counts[j].wrong_in += counts[j - 1].wrong_in;
    counts[j].taken_out += counts[j - 1].taken_out;
  }
  return counts;
}

/// The log-odds of the scores of errors as a normal distribution. A count alone shows no error at all above
/// the highest score of an error, and cannot say how far above it another one is unlikely.
class Tail {
 public:
  void add(double score) {
    constexpr double least = 1e-12;
    const double bounded = std::clamp(score, least, 1.0 - least), x = std::log(bounded / (1.0 - bounded));
    count_ += 1.0;
    const double step = x - mean_;
    mean_ += step / count_;
    squares_ += step * (x - mean_);
  }
  /// Returns how many of the requests are expected at this score or above.
  double expected(double score) const {
    if (count_ == 0.0) return 0.0;
    if (score <= 0.0) return count_;
    const double deviation = std::max(1.0, std::sqrt(squares_ / count_));
    const double x = std::log(score) - std::log1p(-std::min(score, 1.0 - 1e-12));
    return 0.5 * count_ * std::erfc((x - mean_) / (deviation * std::numbers::sqrt2));
  }

 private:
  double count_ = 0.0, mean_ = 0.0, squares_ = 0.0;
};

/// Returns the candidate that is the likeliest to pass: the one with the lowest bound if the bound part has
/// as many errors as the calibration part lets expect.
std::size_t likeliest(const std::vector<double>& thresholds, const Parts& parts, const Promise& promise,
                      const Rule& rule) {
  const std::vector<Counts> counts = counts_from(thresholds, parts.calibration, rule);
  Tail in, out;
  for (const Outcome& one : parts.calibration)
    if (rule.may_take(one) && rule.is_error(one)) (one.in_scope ? in : out).add(one.*rule.score);
  const double factor =
      static_cast<double>(parts.bound.size()) / static_cast<double>(parts.calibration.size());
  std::size_t best = 0;
  double lowest = infinity;
  for (std::size_t j = 0; j < counts.size(); ++j) {
    Counts expected = counts[j];
    const auto raise = [&](double& taken, const Tail& tail) {
      taken = std::max(taken, std::min(rule.most_raised, tail.expected(thresholds[j])));
    };
    raise(expected.wrong_in, in);
    raise(expected.taken_out, out);
    raise(expected.taken_in, in);
    if (const double bound = rule.bound(expected.scaled(factor), promise); bound < lowest)
      lowest = bound, best = j;
  }
  return best;
}

/// Tests the candidates one after the other, from the likeliest on.
Tested test(const Parts& parts, const Promise& promise, const Rule& rule, double (*errors)(const Counts&)) {
  const std::vector<double> thresholds = candidates(parts.calibration, rule);
  const std::vector<Counts> counts = counts_from(thresholds, parts.bound, rule);
  Tested tested;
  if (parts.calibration.empty() || thresholds.empty()) return tested;
  for (std::size_t j = likeliest(thresholds, parts, promise, rule); j < thresholds.size(); ++j) {
    const double bound = rule.bound(counts[j], promise);
    const bool passes = bound <= promise.most;
    if (passes || !tested.threshold) {
      tested.taken = counts[j].taken();
      tested.errors = errors(counts[j]);
      tested.bound = bound;
    }
    (passes ? tested.threshold : tested.failed) = thresholds[j];
    if (!passes) break;
  }
  return tested;
}

}  // namespace

Tested test_answers(const Parts& parts, const Promise& promise) {
  return test(parts, promise,
              {.may_take = [](const Outcome& one) { return one.may_answer; },
               .is_error = [](const Outcome& one) { return !one.is_right; },
               .most_raised = infinity,
               .score = &Outcome::answer,
               .bound = answer_bound,
               .lowest = 0.0},
              [](const Counts& counts) { return counts.wrong_in + counts.taken_out; });
}

Tested test_refusals(const Parts& parts, const Promise& promise, std::optional<double> answered_from) {
  const double below = answered_from.value_or(infinity);
  return test(parts, promise,
              {.may_take = [below](const Outcome& one) { return !one.may_answer || one.answer < below; },
               .is_error = [](const Outcome& one) { return one.in_scope; },
               .most_raised = 1.0,  // most requests are in scope, so their counts are not small
               .score = &Outcome::scope,
               .bound = refusal_bound,
               .lowest = std::nullopt},
              [](const Counts& counts) { return counts.taken_in; });
}

double fewest_for(const Promise& promise) {
  return std::ceil(std::log(1.0 - promise.confidence) / std::log1p(-promise.most));
}

Band band_of(double answer, double scope, bool may_answer, const Thresholds& thresholds) {
  if (may_answer && thresholds.answer && answer >= *thresholds.answer) return Band::answer;
  const bool may_refuse = !may_answer || !thresholds.no_refusal || answer < *thresholds.no_refusal;
  return may_refuse && thresholds.refuse && scope >= *thresholds.refuse ? Band::refuse : Band::review;
}

namespace {

/// Returns at most `priced_thresholds` of the values from the highest down, the lowest among them.
std::vector<double> grid(std::vector<double> values) {
  std::sort(values.begin(), values.end(), std::greater<>());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  const std::size_t count = std::min(priced_thresholds, values.size());
  std::vector<double> chosen;
  for (std::size_t j = 1; j <= count; ++j) chosen.push_back(values[j * values.size() / count - 1]);
  return chosen;
}

/// The place of a score in a falling grid: the first threshold that takes it; the size of the grid if none
/// does.
std::size_t place_in(const std::vector<double>& grid, double score) {
  return static_cast<std::size_t>(std::lower_bound(grid.begin(), grid.end(), score, std::greater<>()) -
                                  grid.begin());
}

}  // namespace

Thresholds cheapest(Outcomes outcomes, const Costs& costs, std::optional<double> share) {
  std::vector<double> answers, scopes;
  double in = 0.0, out = 0.0;
  for (const Outcome& one : outcomes) {
    if (one.may_answer) answers.push_back(one.answer);
    if (costs.missed) scopes.push_back(one.scope);
    (one.in_scope ? in : out) += 1.0;
  }
  const std::vector<double> answer_grid = grid(std::move(answers)), scope_grid = grid(std::move(scopes));
  const std::size_t rows = answer_grid.size() + 1, columns = scope_grid.size() + 1;
  // Cells of requests by the first thresholds that take them: those that no threshold takes are in the last.
  std::vector<double> weights(rows * columns, 0.0), missed(rows * columns, 0.0), wrong(rows, 0.0);
  for (const Outcome& one : outcomes) {
    double weight = 1.0;
    if (share && in > 0.0 && out > 0.0) weight = one.in_scope ? (1.0 - *share) / in : *share / out;
    const std::size_t row = one.may_answer ? place_in(answer_grid, one.answer) : rows - 1;
    const std::size_t cell = row * columns + (costs.missed ? place_in(scope_grid, one.scope) : columns - 1);
    weights[cell] += weight;
    if (one.in_scope) missed[cell] += weight * costs.missed.value_or(0.0);
    if (!one.is_right && one.may_answer) wrong[row] += weight * costs.wrong;
  }
  // The policy (a, s) answers the rows before a, and refuses, of the others, the columns before s. Rising a
  // and s leave fewer reviews, so the first smallest cost is the one with the most of them.
  Thresholds best;
  double lowest = infinity, wrong_sum = 0.0;
  for (std::size_t a = 0; a < rows; ++a) {
    if (a > 0) wrong_sum += wrong[a - 1];
    std::vector<double> weight_of(columns, 0.0), missed_of(columns, 0.0);
    double reviewed = 0.0;
    for (std::size_t row = a; row < rows; ++row)
      for (std::size_t column = 0; column < columns; ++column) {
        weight_of[column] += weights[row * columns + column];
        missed_of[column] += missed[row * columns + column];
        reviewed += weights[row * columns + column];
      }
    double missed_sum = 0.0;
    for (std::size_t s = 0; s < columns; ++s) {
      if (s > 0) {
        missed_sum += missed_of[s - 1];
        reviewed -= weight_of[s - 1];
      }
      const double cost = wrong_sum + missed_sum + std::max(0.0, reviewed) * costs.review;
      if (cost >= lowest * (1.0 - rounding)) continue;
      lowest = std::max(cost, 0.0);
      best.answer = a > 0 ? std::optional(answer_grid[a - 1]) : std::nullopt;
      best.refuse = s > 0 ? std::optional(scope_grid[s - 1]) : std::nullopt;
    }
  }
  return best;
}

}  // namespace encore::decide
