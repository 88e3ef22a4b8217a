// SPDX-License-Identifier: BSD-3-Clause
// Metrics: what the metrics of runs mean, which is their unit, direction, and how to compute them. A worker
// writes the meanings into its spool, merge.cpp stores them with the attempt, and all code that shows or
// compares numbers asks here, instead of knowing names. Ask for the runs at hand: in runs of another task, f1
// may be another measure.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/metric.hpp"
#include "store/database.hpp"
#include "store/run_rows.hpp"

namespace encore::store {

/// Returns a metric from its name and the JSON of its measure in the table `measure`; empty JSON: unknown.
Metric metric_row(const std::string& name, std::string_view description);

/// Returns a metric as a spool defines it. `meaning` is a measure as JSON, or empty for a worker of an older
/// version.
Metric metric_from(const std::string& name, const std::string& unit, std::string_view meaning);

// Inside a transaction:
/// Returns the number of the metric of that name.
std::int64_t add_metric(Database& database, const std::string& name);
/// Adds what an attempt says of the metric that has the number `number` in its spool.
void add_spool_metric(Database& database, std::int64_t attempt, std::int64_t number, const Metric& metric);
/// Adds the measure to the table `measure` and returns its row number. Returns nothing if it is unknown.
std::optional<std::int64_t> add_measure(Database& database, const Measure& measure);

/// The metrics of some runs, in the order in which their workers name them.
class Metrics {
 public:
  Metrics() = default;
  /// If several metrics have one name, the meaning keeps only what they agree on: where they differ, there is
  /// no common title, unit or direction, and no way to compute the value from counts.
  explicit Metrics(std::vector<Metric> all);

  /// Returns the metric of that name, or one of unknown meaning.
  Metric of(const std::string& name) const;
  const std::vector<Metric>& all() const { return all_; }
  /// Returns the confusion matrices of that split.
  std::vector<Metric> matrices(const std::string& split) const;
  /// Returns the metrics of these splits in the order of a table: the measure of `first` ("dev/f1"), then the
  /// others. Leaves out matrices, and members of families such as recall by class.
  std::vector<Metric> in_order(const std::string& first, const std::vector<std::string>& splits) const;

 private:
  std::vector<Metric> all_;
  std::map<std::string, std::size_t> index_;
};

Metrics read_metrics(Database& database, const std::vector<RunRow>& runs);
/// Returns what each of these runs means by that name, keyed by row number. Runs without the metric are left
/// out.
std::map<std::int64_t, Metric> read_meanings(Database& database, const std::vector<RunRow>& runs,
                                             const std::string& name);

}  // namespace encore::store
