// SPDX-License-Identifier: BSD-3-Clause
// Finds and reads the stored predictions of a run. The worker wrote predictions/<split>.jsonl, one JSON
// object for each example (tasks/prediction_file.hpp), and every form that a version has written must stay
// readable. example_tests.cpp tests with the statistics, app/retraining_comparison.cpp compares two runs,
// report/classes.cpp counts confusions, report/examples.cpp shows examples.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <encore/statistics.hpp>

#include "store/store.hpp"

namespace encore::analysis {

/// Returns the path of a run's artifact, such as "predictions/test.jsonl". Throws Error if none was recorded,
/// if the file is gone, and if its SHA-256 is not the recorded one.
std::filesystem::path recorded_artifact(store::Store& store, const store::RunRow& run,
                                        const std::string& name);
/// Returns the name of the artifact: "predictions/test.jsonl" for "test".
std::string predictions_name(const std::string& split);

/// What each example of a file adds to the measures. Files from before schema 5 have no statistics: they are
/// counted from their labels (store/legacy_metrics.hpp).
struct PredictedStatistics {
  Statistics statistics = {};
  bool is_old = false;  ///< whether any line had no statistics
};
/// Reads a file of predictions. Throws Error that names the file and the line.
PredictedStatistics read_statistics(const std::filesystem::path& predictions);

/// One example for display.
struct PredictedExample {
  std::vector<std::pair<std::string, std::string>> input = {};  ///< fields of the record, as text
  std::string truth = {}, predicted = {};                       ///< as text
  /// Set if truth and prediction are one label per word. The prediction may have fewer labels, because its
  /// last words were cut.
  std::vector<std::string> words = {}, true_labels = {}, predicted_labels = {};

  bool has_labels() const { return !words.empty(); }
};
/// Reads one line of a file of predictions. Throws Error that says what is wrong with it.
PredictedExample read_prediction(const std::string& line);
/// Returns the predictions of a run on "dev" or "test". Throws Error like recorded_artifact() and
/// read_prediction().
std::vector<PredictedExample> read_predictions(store::Store& store, const store::RunRow& run,
                                               const std::string& split);

}  // namespace encore::analysis
