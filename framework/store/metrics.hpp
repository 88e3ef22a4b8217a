// SPDX-License-Identifier: BSD-3-Clause
// Says what metrics mean. Workers write it in their spools, merging keeps it beside the attempt, and all code
// that shows or compares numbers asks here for its runs, instead of knowing names. Runs of other tasks in the
// same database do not count: their f1 may be another.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/metric.hpp"
#include "store/database.hpp"
#include "store/run_rows.hpp"

namespace encore {

/// Returns a metric from its name and the description of its measure in the table `measure`; empty: unknown.
Metric metric_row(const std::string& name, std::string_view description);

/// Returns a metric as a spool defines it. `meaning` is a measure as JSON, or empty for a worker of an older
/// version.
Metric metric_from(const std::string& name, const std::string& unit, std::string_view meaning);

// Inside a transaction:
/// Returns the number of the metric of that name.
std::int64_t add_metric(Database& database, const std::string& name);
/// Adds what attempt `attempt` says of the metric that its spool calls `number`.
void add_spool_metric(Database& database, std::int64_t attempt, std::int64_t number, const Metric& metric);
/// Writes what a metric means into the table `measure`. Returns nothing if it is unknown.
std::optional<std::int64_t> add_measure(Database& database, const Measure& measure);

/// Holds the metrics of some runs, in the order in which their workers name them.
class Metrics {
 public:
  Metrics() = default;
  /// If several metrics have one name, its meaning is what they agree on: numbers of two meanings have no
  /// common title, unit or direction, and cannot be computed from counts of examples.
  explicit Metrics(std::vector<Metric> all);

  /// Returns a metric of unknown meaning if there is none of that name.
  Metric of(const std::string& name) const;
  const std::vector<Metric>& all() const { return all_; }
  /// Returns the confusion matrices of that split.
  std::vector<Metric> matrices(const std::string& split) const;
  /// Returns the metrics of these splits as a table shows them: the measure of `first` ("dev/f1"), then the
  /// others in their order. It leaves out members of families and matrices.
  std::vector<Metric> in_order(const std::string& first, const std::vector<std::string>& splits) const;

 private:
  std::vector<Metric> all_;
  std::map<std::string, std::size_t> index_;
};

Metrics read_metrics(Database& database, const std::vector<RunRow>& runs);
/// Returns what each of these runs means by that name. Runs without it are left out.
std::map<std::int64_t, Metric> read_meanings(Database& database, const std::vector<RunRow>& runs,
                                             const std::string& name);

}  // namespace encore
