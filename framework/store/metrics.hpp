// What the metrics of a database mean. Place in the flow: workers say it in their spools, merging keeps it in
// the table `metric`, and everything that shows or compares numbers asks here instead of knowing names.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/metric.hpp"
#include "store/database.hpp"

namespace encore {

/// The columns of the table `metric` that metric_row reads, from `first` on.
inline constexpr const char* metric_columns =
    "metric.name, metric.unit, metric.measure, metric.title, metric.fraction, metric.better, metric.reducer, "
    "metric.columns";
Metric metric_row(const Statement& row, int first);

/// A metric as a spool defines it: `meaning` is a measure as JSON, or empty, from a worker that did not say
/// it yet.
Metric metric_from(const std::string& name, const std::string& unit, std::string_view meaning);
/// The row of a metric that a spool defines, made or brought up to date. Inside a transaction.
std::int64_t add_metric(Database& database, const std::string& name, const std::string& unit,
                        std::string_view meaning);

/// All metrics of a database, in the order in which they came in.
class Metrics {
 public:
  Metrics() = default;
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

Metrics read_metrics(Database& database);

}  // namespace encore
