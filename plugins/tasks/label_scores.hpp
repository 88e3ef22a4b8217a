// SPDX-License-Identifier: BSD-3-Clause
// The probabilities of labels as they appear in answers: tasks fill the fields `score`, `scores` and `shown`
// of Task::scored_answer with these functions. The values come from ClassProbabilities (SDK). Users and
// clients of `exp serve` see score_text() only within `shown`, so its form may change.
#pragma once

#include <cstddef>
#include <cstdio>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace encore::tasks {

/// Returns each label with its score; both arguments have the same size.
template <class Number>
std::map<std::string, double> scores_by_label(const std::vector<std::string>& labels,
                                              std::span<const Number> numbers) {
  std::map<std::string, double> scores;
  for (std::size_t k = 0; k < labels.size(); ++k) scores.emplace(labels[k], static_cast<double>(numbers[k]));
  return scores;
}

/// Returns a score with three digits: "0.983".
inline std::string score_text(double score) {
  char text[16];
  std::snprintf(text, sizeof(text), "%.3f", score);
  return text;
}

}  // namespace encore::tasks
