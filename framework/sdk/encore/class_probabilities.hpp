// SPDX-License-Identifier: BSD-3-Clause
// ClassProbabilities: the probabilities of classes from the outputs of a classifying head: logits, of which a
// softmax is taken, or probabilities that the head has computed on request, such as the marginals of a
// conditional random field. Task::scored_answer makes one from Outputs. The functions are pure and can be
// called by any thread. The names of the outputs are a contract between heads and tasks, so they never
// change.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include <encore/outputs.hpp>

namespace encore {

// Names of outputs that heads and tasks share: (rows, K) numbers over the space of `classes_output`.
inline constexpr const char* logits_output = "logits";        ///< before softmax
inline constexpr const char* marginals_output = "marginals";  ///< probabilities

/// Returns softmax(logits) in double; the largest logit is subtracted first. If the sum is not finite, all
/// classes get the same probability.
inline std::vector<double> softmax(std::span<const float> logits) {
  std::vector<double> shares(logits.size());
  double largest = -std::numeric_limits<double>::infinity(), sum = 0.0;
  for (const float logit : logits) largest = std::max(largest, static_cast<double>(logit));
  for (std::size_t k = 0; k < logits.size(); ++k)
    sum += shares[k] = std::exp(static_cast<double>(logits[k]) - largest);
  for (double& share : shares)
    share = std::isfinite(sum) ? share / sum : 1.0 / static_cast<double>(logits.size());
  return shares;
}

/// The probabilities of K classes on the rows of a set.
class ClassProbabilities {
 public:
  /// Reads `outputs`, which must outlive this object. If the head gives both outputs, its own probabilities
  /// are used. Throws Error if it gives neither.
  explicit ClassProbabilities(const Outputs& outputs) : values_(nullptr) {
    for (const char* name : {marginals_output, logits_output})
      for (const Outputs::Values& values : outputs.all())
        if (values_ == nullptr && values.rule.name == name) values_ = &values;
    if (values_ == nullptr) throw Error(none());
  }

  /// Returns what Task::no_scores returns for a task that reads the probabilities of `classes` classes over
  /// this space: "" if the head gives them, else the reason.
  static std::string missing(std::span<const OutputRule> given, Space space, std::size_t classes) {
    for (const OutputRule& rule : given)
      if ((rule.name == logits_output || rule.name == marginals_output) && rule.space == space &&
          rule.type == ColumnType::numbers && rule.width == static_cast<std::int64_t>(classes))
        return {};
    return none();
  }

  /// Returns the K probabilities of one row, which sum to 1. `row` counts from 0 within the sequence.
  std::vector<double> of(const ExampleSet& set, std::size_t sequence, std::size_t row) const {
    const auto classes = static_cast<std::size_t>(values_->rule.width);
    const std::size_t first = set.rows(values_->rule.space, sequence).first + row;
    const std::span<const float> numbers = std::span(values_->numbers).subspan(first * classes, classes);
    if (values_->rule.name == logits_output) return softmax(numbers);
    std::vector<double> shares(numbers.begin(), numbers.end());
    double sum = 0.0;  // 1 but for the rounding of float32
    for (const double share : shares) sum += share;
    for (double& share : shares) share = sum > 0.0 ? share / sum : 1.0 / static_cast<double>(classes);
    return shares;
  }

 private:
  static std::string none() {
    return std::string("the head gives neither \"") + logits_output + "\" nor \"" + marginals_output +
           "\" of its classes";
  }

  const Outputs::Values* values_;
};

}  // namespace encore
