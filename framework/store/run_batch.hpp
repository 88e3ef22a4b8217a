// SPDX-License-Identifier: BSD-3-Clause
// RunBatch asks the questions of queries.cpp for many runs at once, with one query for each question. report/
// uses it, because a report may have a thousand runs.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "store/store.hpp"

namespace encore {

/// An experiment file as it was when runs were planned from it.
struct SweepRow {
  std::string name, file, content;
  double created = 0.0;
  /// The files that it builds on, the nearest first: name and text. Empty if they were not recorded.
  std::vector<std::pair<std::string, std::string>> bases = {};
  /// The files of the runs that these start from, with the files that they build on, in the same form.
  std::vector<std::pair<std::string, std::string>> parents = {};
  std::vector<std::string> overrides = {};  ///< "train.epochs=2", of the command line
  std::vector<std::string> grid = {};       ///< "model.layers=2,4", of the command line
  std::string seeds = {};                   ///< "1-5", of the command line; empty: not set there
};

/// The points of a curve in one bin of steps.
struct CurveBin {
  std::int64_t bin = 0;
  double mean = 0.0;  ///< NaN where the bin holds a value that is not finite
  std::int64_t points = 0;
};

/// Curves over a common axis of bins: bin i holds the steps from `first` + i * `width` on.
struct BinnedCurves {
  std::int64_t first = 0, width = 1;
  std::map<std::int64_t, std::vector<CurveBin>> runs = {};  ///< by number of the run; rising bins

  /// Returns the middle of a bin, which is its step if it holds only one.
  double step(std::int64_t bin) const {
    // Computed in double: a changed database may hold any step.
    return static_cast<double>(first) + static_cast<double>(bin) * static_cast<double>(width) +
           0.5 * (static_cast<double>(width) - 1.0);
  }
};

class RunBatch {
 public:
  /// Maps the number of a run to its rows; runs without rows are not in it.
  template <class Row>
  using ByRun = std::map<std::int64_t, std::vector<Row>>;

  RunBatch(Store& store, const std::vector<RunRow>& runs);

  ByRun<ParamRow> params();
  ByRun<DatasetRow> datasets();
  /// Returns attempts with plugins. One that never ended is lost, unless it is the last of a running run.
  ByRun<AttemptRow> attempts();
  ByRun<ArtifactRow> artifacts();
  /// Returns them oldest first.
  ByRun<VerificationRow> verifications();
  /// Returns the digests of the last step that has any.
  ByRun<DigestRow> last_digests();
  /// Returns how many digests count, of any step.
  std::map<std::int64_t, std::int64_t> digest_counts();
  /// Returns the sweeps by name, then oldest first.
  std::vector<SweepRow> sweeps();
  /// Returns the metrics of which at least one run has points; `points` is not filled in.
  std::vector<Metric> metrics();
  /// Returns the points that count: each if no run has more than `most`, otherwise in at most `most` bins.
  BinnedCurves curves(const std::string& metric, std::int64_t most);

 private:
  std::string numbers(bool several_attempts) const;
  /// Prepares the statement `before` IN (the runs) `after`.
  Statement& ask(const std::string& before, const std::string& after);

  Store& store_;
  std::vector<RunRow> runs_;
  std::string all_;  ///< numbers of the runs as a JSON array, which SQLite reads as a table
};

}  // namespace encore
