// SPDX-License-Identifier: BSD-3-Clause
// compare_scores(): tests whether a training that was repeated scores as the run did: every value of the
// development and test sets, bit by bit. Equal digests show equal parameters; only this shows that the scores
// in a table belong to them. verifier.cpp calls it if it has trained to the end. It tolerates no difference.
// RecordedScore is stored with the verification, so the names in its list() do not change.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/json_fields.hpp"
#include "base/metric.hpp"
#include "store/store.hpp"

namespace encore::runner {

/// The first value that differs.
struct ScoreDifference {
  std::string metric;
  std::int64_t step = 0;
  double run = 0.0;
  std::optional<double> verification;  ///< none: it has no such score
};

/// How many values were compared and how many of them differ.
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

/// The same as a verification records and prints it, with where a run with one more seed would lie.
struct RecordedScore {
  std::string metric;
  bool fraction = false;
  double run = 0.0, verification = 0.0;
  std::optional<std::size_t> seeds = {};      ///< number of seeds from which the interval was computed
  std::optional<double> low = {}, high = {};  ///< the interval in which a run with one more seed would lie
};
void list(auto& field, A<RecordedScore> auto& score) {
  field("metric", score.metric);
  field("fraction", score.fraction);
  field("run", score.run);
  field("verification", score.verification);
  field.optional("seeds", score.seeds);
  field.optional("low", score.low);
  field.optional("high", score.high);
}

/// Returns the scores that both the run and its verification have in their results, without those of single
/// labels. `verification` is the folder in which it was trained again.
std::vector<FinalScore> final_scores(store::Store& store, const store::RunRow& run,
                                     const std::filesystem::path& verification);

/// Returns whether both values have equal bits or both are NaN.
bool same_value(double a, double b);

/// Compares the scores of the steps after `from`. Measures of the training itself, such as speed, are not
/// scores.
ScoreComparison compare_scores(store::Store& store, std::int64_t run,
                               const std::filesystem::path& verification, std::int64_t from);

}  // namespace encore::runner
