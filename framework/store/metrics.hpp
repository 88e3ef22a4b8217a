// What metrics mean. Place in the flow: workers say it in their spools, merging keeps it beside the attempt
// that said it, and everything that shows or compares numbers asks here for the runs at hand, instead of
// knowing names. Runs of other tasks in the same database have no say: their f1 may be another.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/metric.hpp"
#include "store/database.hpp"
#include "store/run_rows.hpp"

namespace encore {

/// A metric by its name and the description of its measure, as the table `measure` has it; empty: unknown.
Metric metric_row(const std::string& name, std::string_view description);

/// A metric as a spool defines it: `meaning` is a measure as JSON, or empty, from a worker that did not say
/// it yet.
Metric metric_from(const std::string& name, const std::string& unit, std::string_view meaning);

// Inside a transaction:
/// The number of the metric of that name.
std::int64_t add_metric(Database& database, const std::string& name);
/// What attempt `attempt` says of the metric that its spool calls `number`.
void add_spool_metric(Database& database, std::int64_t attempt, std::int64_t number, const Metric& metric);
/// Writes what a metric means into the table `measure`; nothing where it is unknown.
std::optional<std::int64_t> add_measure(Database& database, const Measure& measure);

/// The metrics of some runs, in the order in which their workers name them.
class Metrics {
 public:
  Metrics() = default;
  /// Where several have one name, what they agree on is its meaning: numbers of two meanings have no common
  /// title, unit or direction, and nothing that is counted in examples gives both.
  explicit Metrics(std::vector<Metric> all);

  /// One of unknown meaning where there is none of that name.
  Metric of(const std::string& name) const;
  const std::vector<Metric>& all() const { return all_; }
  /// Tables of what was taken for what, on that split.
  std::vector<Metric> matrices(const std::string& split) const;
  /// On these splits, as a table shows them: the measure of `first` ("dev/f1"), then the others as they came
  /// in; no members of families, and no tables.
  std::vector<Metric> in_order(const std::string& first, const std::vector<std::string>& splits) const;

 private:
  std::vector<Metric> all_;
  std::map<std::string, std::size_t> index_;
};

Metrics read_metrics(Database& database, const std::vector<RunRow>& runs);
/// What each of these runs means by that name; runs that know none of it are left out.
std::map<std::int64_t, Metric> read_meanings(Database& database, const std::vector<RunRow>& runs,
                                             const std::string& name);

}  // namespace encore
