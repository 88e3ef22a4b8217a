// SPDX-License-Identifier: BSD-3-Clause
// Implements monitored inputs for `exp monitor`: runs the test of shift_test.hpp over all stored inputs of a
// run, and describes the last window of them (measures, labels, shares of right answers, times).
// cli/monitor_verb.cpp and report/service.cpp call it. Fields of json_of() are read by scripts: add fields,
// but never rename one. Read monitoring.hpp first.
#include "monitor/monitoring.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include <nlohmann/json.hpp>

#include "analysis/shares.hpp"
#include "monitor/shift_test.hpp"

namespace encore::monitor {
namespace {

using Json = nlohmann::ordered_json;

constexpr double log10_of_e = 0.43429448190325182765;

/// Returns the mean of the values that were counted; nothing if there are none.
std::optional<double> mean_of(const record::StreamCounts& stream) {
  const std::int64_t count = stream.count();
  if (count == 0) return {};
  return stream.sum / static_cast<double>(count);
}

/// Returns the counts of the reference's labels, in its order.
std::vector<std::int64_t> label_counts(const record::TextHistograms& reference,
                                       const record::TextHistograms& of) {
  std::vector<std::int64_t> counts;
  for (const auto& [label, count] : reference.labels) {
    const auto found = of.labels.find(label);
    counts.push_back(found == of.labels.end() ? 0 : found->second);
  }
  return counts;
}

std::vector<LabelShares> shares_of(const record::TextHistograms& reference,
                                   const std::vector<std::int64_t>& reference_counts,
                                   const std::vector<std::int64_t>& live_counts) {
  const auto total = [](const std::vector<std::int64_t>& counts) {
    double sum = 0.0;
    for (const std::int64_t count : counts) sum += static_cast<double>(count);
    return std::max(sum, 1.0);
  };
  const double all = total(reference_counts), all_live = total(live_counts);
  std::vector<LabelShares> shares;
  for (const auto& [label, count] : reference.labels) {
    const std::size_t i = shares.size();
    shares.push_back({.label = label,
                      .reference = static_cast<double>(reference_counts[i]) / all,
                      .live = static_cast<double>(live_counts[i]) / all_live});
  }
  return shares;
}

/// Returns the value below which this share of `values` lies.
double quantile(std::vector<double>& values, double share) {
  if (values.empty()) return 0.0;
  const auto place = static_cast<std::ptrdiff_t>(std::ceil(share * static_cast<double>(values.size()))) - 1;
  const auto at = values.begin() + std::clamp<std::ptrdiff_t>(place, 0, std::ssize(values) - 1);
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

Json number_or_null(const std::optional<double>& value) {
  return value ? Json(*value) : Json();
}

}  // namespace

Monitoring monitor(const record::TextReference& reference, const std::vector<store::ServedText>& texts,
                   const store::ServedVerdicts& verdicts, const MonitorOptions& options) {
  const record::TextHistograms& before = reference.histograms;
  Monitoring said{.source = reference.source,
                  .reference_texts = before.texts,
                  .texts = std::ssize(texts),
                  .alpha = options.alpha,
                  .verdicts = verdicts};
  ShiftTest test(before, options.alpha);
  said.log10_path.reserve(texts.size());
  for (const store::ServedText& text : texts) {
    test.add(text.facts, text.request + "/" + std::to_string(text.text));
    said.log10_path.push_back(test.log_capital() * log10_of_e);
  }
  said.log10_evidence = test.log_peak() * log10_of_e;
  said.log10_evidence_now = test.log_capital() * log10_of_e;
  said.alarm = test.alarm();
  if (texts.empty()) return said;

  const std::span<const store::ServedText> window =
      std::span(texts).last(std::min(options.window, texts.size()));
  said.window = std::ssize(window);
  said.first = texts.front().time;
  said.last = texts.back().time;
  record::TextHistograms live;
  for (const auto& [label, count] : before.labels) live.labels[label] = 0;
  std::vector<double> seconds;
  for (const store::ServedText& text : window) {
    live.add(text.facts);
    seconds.push_back(text.seconds);
  }
  said.seconds_median = quantile(seconds, 0.5);
  said.seconds_95 = quantile(seconds, 0.95);
  said.seconds_99 = quantile(seconds, 0.99);
  const auto evidence_of = [&](const std::string& name) {
    const auto found = test.log_peaks().find(name);
    return found == test.log_peaks().end() ? 0.0 : found->second * log10_of_e;
  };
  for (const char* name :
       {record::tokens_stream, record::unknown_stream, record::confidence_stream, record::distance_stream}) {
    const auto known = before.streams.find(name);
    if (known == before.streams.end() || known->second.count() == 0) continue;
    const record::StreamCounts& now = live.streams[name];
    const std::vector<std::size_t> groups = grouped_bins(known->second.bins);
    said.measures.push_back(
        {.name = name,
         .reference = mean_of(known->second),
         .live = mean_of(now),
         .shift = shift_between(sums_of(known->second.bins, groups), sums_of(now.bins, groups)),
         .log10_evidence = evidence_of(name)});
  }
  if (!before.labels.empty()) {
    const std::vector<std::int64_t> counts = label_counts(before, before), now = label_counts(before, live);
    said.measures.push_back({.name = labels_measure,
                             .shift = shift_between(counts, now),
                             .log10_evidence = evidence_of(labels_measure)});
    said.labels = shares_of(before, counts, now);
  }
  return said;
}

analysis::Interval interval_of(const store::ServedVerdicts& verdicts) {
  if (verdicts.all == 0) return {.low = 0.0, .high = 1.0};
  return analysis::share_interval(
      {.part = static_cast<double>(verdicts.correct), .all = static_cast<double>(verdicts.all)});
}

Json json_of(const Monitoring& monitoring) {
  Json measures = Json::array(), labels = Json::array();
  for (const MeasuredShift& each : monitoring.measures)
    measures.push_back({{"name", each.name},
                        {"reference", number_or_null(each.reference)},
                        {"live", number_or_null(each.live)},
                        {"psi", each.shift.psi},
                        {"js", each.shift.js},
                        {"log10_evidence", each.log10_evidence}});
  for (const LabelShares& each : monitoring.labels)
    labels.push_back({{"label", each.label}, {"reference", each.reference}, {"live", each.live}});
  const analysis::Interval interval = interval_of(monitoring.verdicts);
  Json verdicts = {{"correct", monitoring.verdicts.correct}, {"texts", monitoring.verdicts.all}};
  if (monitoring.verdicts.all > 0) {
    verdicts["low"] = interval.low;
    verdicts["high"] = interval.high;
  }
  return {{"alert", monitoring.alert()},
          {"texts", monitoring.texts},
          {"window", monitoring.window},
          {"first", monitoring.first},
          {"last", monitoring.last},
          {"reference", {{"source", monitoring.source}, {"texts", monitoring.reference_texts}}},
          {"test",
           {{"alpha", monitoring.alpha},
            {"log10_evidence", monitoring.log10_evidence},
            {"log10_evidence_now", monitoring.log10_evidence_now},
            {"alarm_after", monitoring.alarm ? Json(*monitoring.alarm) : Json()}}},
          {"measures", measures},
          {"labels", labels},
          {"feedback", verdicts},
          {"seconds",
           {{"median", monitoring.seconds_median},
            {"p95", monitoring.seconds_95},
            {"p99", monitoring.seconds_99}}}};
}

}  // namespace encore::monitor
