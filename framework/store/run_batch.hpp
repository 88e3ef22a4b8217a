// RunBatch: what queries.cpp asks of one run, asked of many at once: one query for each question, however
// many runs. Place in the flow: report/ asks here, because a report is of a thousand runs as well as of one.
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
  /// The files that it builds on, the nearest first: their name and text. None where they were not recorded.
  std::vector<std::pair<std::string, std::string>> bases = {};
  /// The files of the runs that these start from, with the files that they build on; alike.
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

  /// The middle of a bin, which is its step where it holds one.
  double step(std::int64_t bin) const {
    // In double: a changed database may hold any step.
    return static_cast<double>(first) + static_cast<double>(bin) * static_cast<double>(width) +
           0.5 * (static_cast<double>(width) - 1.0);
  }
};

class RunBatch {
 public:
  /// By number of the run; runs without rows are not in it.
  template <class Row>
  using ByRun = std::map<std::int64_t, std::vector<Row>>;

  RunBatch(Store& store, const std::vector<RunRow>& runs);

  ByRun<ParamRow> params();
  ByRun<DatasetRow> datasets();
  /// With their plugins. An attempt that never ended is lost, unless it is the last of a run that is running.
  ByRun<AttemptRow> attempts();
  ByRun<ArtifactRow> artifacts();
  /// Oldest first.
  ByRun<VerificationRow> verifications();
  /// The digests of the last step that has any.
  ByRun<DigestRow> last_digests();
  /// How many digests count, of any step.
  std::map<std::int64_t, std::int64_t> digest_counts();
  /// By name, then oldest first.
  std::vector<SweepRow> sweeps();
  /// Of which at least one of the runs has points; `points` is not filled in.
  std::vector<Metric> metrics();
  /// The points that count, each by itself where no run has more than `most`, else in at most `most` bins.
  BinnedCurves curves(const std::string& metric, std::int64_t most);

 private:
  std::string numbers(bool several_attempts) const;
  /// The statement `before` IN (the runs) `after`.
  Statement& ask(const std::string& before, const std::string& after);

  Store& store_;
  std::vector<RunRow> runs_;
  std::string all_;  ///< numbers of the runs as a JSON array, which SQLite reads as a table
};

}  // namespace encore
