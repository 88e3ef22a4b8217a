// Metrics: what is counted while models are served, and as Prometheus reads it (text format 0.0.4). Place in
// the flow: service.cpp and model_pool.cpp count, GET /metrics shows.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace encore {

/// Counts values below or at each of some bounds.
class BucketHistogram {
 public:
  explicit BucketHistogram(std::vector<double> bounds)
      : bounds_(std::move(bounds)), counts_(bounds_.size() + 1) {}

  void add(double value);
  /// "NAME_bucket{LABELS,le="0.1"} 7" and so on, with the sum and the count; `labels` may be empty.
  std::string text(const std::string& name, const std::string& labels) const;

 private:
  std::vector<double> bounds_;
  std::vector<std::uint64_t> counts_;  ///< of each bound alone, and behind them of what is above
  double sum_ = 0.0;
};

/// Of one model.
struct ModelMetrics {
  std::uint64_t texts = 0;    ///< answered
  std::uint64_t tokens = 0;   ///< that were read for them
  std::uint64_t batches = 0;  ///< given to workers
  std::uint64_t again = 0;    ///< texts that were given to another worker because theirs had ended
  std::uint64_t lost = 0;     ///< texts that ended two workers
  std::uint64_t late = 0;     ///< jobs whose time was over
  std::uint64_t ends = 0;     ///< workers that ended unasked
  std::size_t waiting = 0;    ///< texts in the queue
  std::size_t workers = 0;    ///< that are ready
  BucketHistogram batch_texts{{1, 2, 4, 8, 16, 32, 64, 128}};
  BucketHistogram wait_seconds{
      {0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5}};  ///< in the queue
};

struct ServeMetrics {
  /// Of requests by route and status.
  std::map<std::pair<std::string, int>, std::uint64_t> requests = {};
  /// From the whole request to its answer, by route.
  std::map<std::string, BucketHistogram> seconds = {};
  std::map<std::string, ModelMetrics> models = {};
  std::size_t connections = 0;            ///< open
  std::uint64_t refused_connections = 0;  ///< beyond the limit

  void add_request(const std::string& route, int status, double seconds);
  std::string text() const;
};

}  // namespace encore
