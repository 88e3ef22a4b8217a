// SPDX-License-Identifier: BSD-3-Clause
// compare_scores(): tests whether a training that was repeated scores as the run did: every value of the
// development and test sets, bit by bit. Equal digests show equal parameters; only this shows that the scores
// in a table belong to them. verifier.hpp calls it if it has trained to the end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/metric.hpp"
#include "store/store.hpp"

namespace encore {

struct ScoreDifference {
  std::string metric;
  std::int64_t step = 0;
  double run = 0.0;
  std::optional<double> verification;  ///< none: it has no such score
};

struct ScoreComparison {
  std::size_t compared = 0, different = 0;
  std::optional<ScoreDifference> first;  ///< by step, then by name
};

/// A score of the chosen checkpoint, on both sides.
struct FinalScore {
  Metric metric;
  double run = 0.0;
  double verification = 0.0;
};

/// Returns the scores that both the run and its verification have in their results, without those of single
/// labels.
std::vector<FinalScore> final_scores(Store& store, const RunRow& run,
                                     const std::filesystem::path& verification);

/// Returns whether both values have equal bits or both are NaN.
bool same_value(double a, double b);

/// Compares the scores of the steps after `from`. Measures of the training itself, such as speed, are not
/// scores.
ScoreComparison compare_scores(Store& store, std::int64_t run, const std::filesystem::path& verification,
                               std::int64_t from);

}  // namespace encore
