// SPDX-License-Identifier: BSD-3-Clause
// Tests ServeMetrics (serve/metrics.hpp), the text of GET /metrics in the format that Prometheus reads.
// Dashboards use the names of the metrics, so they must not change.
#include "serve/metrics.hpp"

#include <gtest/gtest.h>

namespace encore::serve {
namespace {

bool has_line(const std::string& text, const std::string& line) {
  return ("\n" + text).find("\n" + line + "\n") != std::string::npos;
}

TEST(Metrics, AHistogramCountsWhatIsAtOrBelowEachBound) {
  BucketHistogram histogram({0.1, 1});
  for (const double value : {0.05, 0.1, 0.5, 2.0}) histogram.add(value);
  EXPECT_EQ(histogram.text("h", "a=\"b\""),
            "h_bucket{a=\"b\",le=\"0.1\"} 2\nh_bucket{a=\"b\",le=\"1\"} 3\nh_bucket{a=\"b\",le=\"+Inf\"} 4\n"
            "h_sum{a=\"b\"} 2.65\nh_count{a=\"b\"} 4\n");
}

TEST(Metrics, NameRoutesStatesAndModels) {
  ServeMetrics metrics;
  metrics.add_request("/v1/predict", 200, 0.02);
  metrics.add_request("/v1/predict", 429, 0.0);
  metrics.models["a\"b\\c\nd"].texts = 3;
  const std::string text = metrics.text();
  EXPECT_TRUE(has_line(text, "encore_requests_total{route=\"/v1/predict\",status=\"200\"} 1"));
  EXPECT_TRUE(has_line(text, "encore_requests_total{route=\"/v1/predict\",status=\"429\"} 1"));
  EXPECT_TRUE(has_line(text, "encore_request_seconds_count{route=\"/v1/predict\"} 2"));
  EXPECT_TRUE(has_line(text, "encore_texts_total{model=\"a\\\"b\\\\c\\nd\"} 3")) << text;
  EXPECT_TRUE(has_line(text, "# TYPE encore_texts_total counter"));
}

}  // namespace
}  // namespace encore::serve
