// SPDX-License-Identifier: BSD-3-Clause
// RunBatch reads settings, attempts, curves and digests of many runs, with one query for each kind of row
// instead of one per run. report/ and analysis/factors.hpp use it, because a report may have a thousand runs.
// queries.cpp reads one run; both must give the same rows. A point or digest counts if no later attempt has
// overruled it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "store/store.hpp"

namespace encore::store {

/// An experiment file as it was when runs were planned from it.
struct SweepRow {
  std::string name, file, content;
  double created = 0.0;
  /// The files that the experiment file builds on, the nearest first: name and text. Empty if they were not
  /// recorded.
  std::vector<std::pair<std::string, std::string>> bases = {};
  /// The experiment files of the runs that these start from, with their bases, in the same form.
  std::vector<std::pair<std::string, std::string>> parents = {};
  std::vector<std::string> overrides = {};  ///< overrides of the command line: "train.epochs=2"
  std::vector<std::string> grid = {};       ///< grids of the command line: "model.layers=2,4"
  std::string seeds = {};                   ///< seeds of the command line: "1-5"; empty: none given there
};

/// The mean and extremes of a curve in one bin of steps.
struct CurveBin {
  std::int64_t bin = 0;
  double mean = 0.0;  ///< NaN if the bin holds a value that is not finite
  std::int64_t points = 0;
};

/// Curves that share one axis of bins: bin i holds the steps from `first` + i * `width` on.
struct BinnedCurves {
  std::int64_t first = 0, width = 1;
  std::map<std::int64_t, std::vector<CurveBin>> runs = {};  ///< by row number of the run; bins rise

  /// Returns the middle of a bin, which is its step if it holds only one.
  double step(std::int64_t bin) const {
    // Computed in double: a modified database may hold any step.
    return static_cast<double>(first) + static_cast<double>(bin) * static_cast<double>(width) +
           0.5 * (static_cast<double>(width) - 1.0);
  }
};

class RunBatch {
 public:
  /// Maps the row number of a run to its rows; runs without rows are left out.
  template <class Row>
  using ByRun = std::map<std::int64_t, std::vector<Row>>;

  RunBatch(Store& store, const std::vector<RunRow>& runs);

  ByRun<ParamRow> params();
  ByRun<DatasetRow> datasets();
  /// Returns attempts with plugins. An attempt without an end is lost, unless it is the last one of a running
  /// run.
  ByRun<AttemptRow> attempts();
  ByRun<ArtifactRow> artifacts();
  /// Returns the verifications, oldest first.
  ByRun<VerificationRow> verifications();
  /// Returns the digests of the last step that has digests.
  ByRun<DigestRow> last_digests();
  /// Returns the number of digests that count, over all steps.
  std::map<std::int64_t, std::int64_t> digest_counts();
  /// Returns the sweeps of these runs, by name, then oldest first.
  std::vector<SweepRow> sweeps();
  /// Returns the number of runs of these sweeps that are not hidden and not among the chosen ones.
  std::size_t runs_beside(const std::vector<SweepRow>& sweeps);
  /// Returns the metrics that have points in at least one run; leaves `points` unset.
  std::vector<Metric> metrics();
  /// Returns the points that count. If a run has more than `most`, all curves are reduced to at most `most`
  /// bins.
  BinnedCurves curves(const std::string& metric, std::int64_t most);

 private:
  std::string numbers(bool several_attempts) const;
  /// Returns the statement: `before` IN (the runs) `after`, with the numbers bound.
  Statement& ask(const std::string& before, const std::string& after);

  Store& store_;
  std::vector<RunRow> runs_;
  std::string all_;  ///< row numbers of the runs as a JSON array
};

}  // namespace encore::store
