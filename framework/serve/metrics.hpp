// SPDX-License-Identifier: BSD-3-Clause
// ServeMetrics: the counters of a server, and their text for Prometheus (format 0.0.4). Place in the flow:
// service.cpp and model_pool.cpp count on the thread of the loop; GET /metrics returns text(). Dashboards
// read the names in metrics.cpp, so they never change; the members here may be renamed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace encore::serve {

/// A histogram with fixed upper bounds: it counts the values that are at most as large as each bound.
class BucketHistogram {
 public:
  explicit BucketHistogram(std::vector<double> bounds)
      : bounds_(std::move(bounds)), counts_(bounds_.size() + 1) {}

  void add(double value);
  /// Returns lines such as `NAME_bucket{LABELS,le="0.1"} 7`, then the sum and the count. `labels` may be
  /// empty.
  std::string text(const std::string& name, const std::string& labels) const;

 private:
  std::vector<double> bounds_;
  std::vector<std::uint64_t> counts_;  ///< for each bound alone, and at the end for values above all bounds
  double sum_ = 0.0;
};

/// The counters of one model.
struct ModelMetrics {
  std::uint64_t texts = 0;    ///< inputs that were answered
  std::uint64_t tokens = 0;   ///< tokens of these inputs
  std::uint64_t batches = 0;  ///< batches that were given to workers
  std::uint64_t again = 0;    ///< inputs that were given to a second worker because the first had ended
  std::uint64_t lost = 0;     ///< inputs that ended two workers
  std::uint64_t late = 0;     ///< jobs that exceeded their deadline
  std::uint64_t ends = 0;     ///< workers that ended without a request to end
  std::size_t waiting = 0;    ///< inputs in the queue
  std::size_t workers = 0;    ///< workers that are ready
  BucketHistogram batch_texts{{1, 2, 4, 8, 16, 32, 64, 128}};
  BucketHistogram wait_seconds{
      {0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5}};  ///< in the queue
};

struct ServeMetrics {
  /// Counts requests by route and status.
  std::map<std::pair<std::string, int>, std::uint64_t> requests = {};
  /// The time from the whole request to its answer, by route.
  std::map<std::string, BucketHistogram> seconds = {};
  std::map<std::string, ModelMetrics> models = {};  ///< by name
  std::size_t connections = 0;                      ///< open connections
  std::uint64_t refused_connections = 0;            ///< connections beyond the limit

  void add_request(const std::string& route, int status, double seconds);
  /// Returns all counters in Prometheus' text format.
  std::string text() const;
};

}  // namespace encore::serve
