// SPDX-License-Identifier: BSD-3-Clause
// Writes the counters of a server in the text format of Prometheus, for GET /metrics (service.cpp).
// Dashboards read the names of the metrics, so they must not change, even where the help text has a better
// word: encore_texts_total counts inputs, encore_pieces_total tokens. Read metrics.hpp first.
#include "serve/metrics.hpp"

#include <algorithm>
#include <charconv>
#include <functional>

namespace encore::serve {
namespace {

const std::vector<double> seconds_bounds = {0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.5, 1, 2.5, 5, 10, 30};

std::string shortest(double value) {
  char digits[32];
  return {digits, std::to_chars(digits, digits + sizeof digits, value).ptr};
}

std::string label(const std::string& name, const std::string& value) {
  std::string escaped;
  for (const char letter : value) {
    if (letter == '\n') escaped += "\\n";
    if (letter == '\\' || letter == '"') escaped += '\\';
    if (letter != '\n') escaped += letter;
  }
  return name + "=\"" + escaped + "\"";
}

std::string head(const std::string& name, const std::string& type, const std::string& help) {
  return "# HELP " + name + ' ' + help + "\n# TYPE " + name + ' ' + type + '\n';
}

std::string line(const std::string& name, const std::string& labels, std::uint64_t value) {
  return name + (labels.empty() ? "" : "{" + labels + "}") + ' ' + std::to_string(value) + '\n';
}

}  // namespace

void BucketHistogram::add(double value) {
  const auto bound = std::ranges::lower_bound(bounds_, value);
  ++counts_[static_cast<std::size_t>(bound - bounds_.begin())];
  sum_ += value;
}

std::string BucketHistogram::text(const std::string& name, const std::string& labels) const {
  const std::string before = labels.empty() ? "" : labels + ",";
  std::string text;
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    count += counts_[i];
    text += line(name + "_bucket", before + label("le", i < bounds_.size() ? shortest(bounds_[i]) : "+Inf"),
                 count);
  }
  text += name + "_sum" + (labels.empty() ? "" : "{" + labels + "}") + ' ' + shortest(sum_) + '\n';
  return text + line(name + "_count", labels, count);
}

void ServeMetrics::add_request(const std::string& route, int status, double taken) {
  ++requests[{route, status}];
  seconds.try_emplace(route, seconds_bounds).first->second.add(taken);
}

std::string ServeMetrics::text() const {
  std::string text = head("encore_requests_total", "counter", "Requests by route and status.");
  for (const auto& [of, count] : requests)
    text += line("encore_requests_total",
                 label("route", of.first) + "," + label("status", std::to_string(of.second)), count);
  text += head("encore_request_seconds", "histogram", "Time from the whole request to its answer.");
  for (const auto& [route, histogram] : seconds)
    text += histogram.text("encore_request_seconds", label("route", route));
  text +=
      head("encore_connections", "gauge", "Open connections.") + line("encore_connections", "", connections);
  text += head("encore_refused_connections_total", "counter", "Connections beyond the limit.") +
          line("encore_refused_connections_total", "", refused_connections);

  struct Number {
    const char *name, *type, *help;
    std::function<std::uint64_t(const ModelMetrics&)> of;
  };
  const std::vector<Number> numbers = {
      {"encore_texts_total", "counter", "Inputs that were answered.", [](const auto& m) { return m.texts; }},
      {"encore_pieces_total", "counter", "Tokens that were read for them.",
       [](const auto& m) { return m.tokens; }},
      {"encore_batches_total", "counter", "Batches given to workers.",
       [](const auto& m) { return m.batches; }},
      {"encore_texts_again_total", "counter", "Inputs given to another worker because theirs had ended.",
       [](const auto& m) { return m.again; }},
      {"encore_texts_lost_total", "counter", "Inputs that ended two workers and were answered with 503.",
       [](const auto& m) { return m.lost; }},
      {"encore_requests_late_total", "counter", "Requests that exceeded their time.",
       [](const auto& m) { return m.late; }},
      {"encore_worker_ends_total", "counter", "Workers that ended without a request to end.",
       [](const auto& m) { return m.ends; }},
      {"encore_waiting_texts", "gauge", "Inputs in the queue.", [](const auto& m) { return m.waiting; }},
      {"encore_workers_ready", "gauge", "Workers that have their model.",
       [](const auto& m) { return m.workers; }}};
  for (const Number& number : numbers) {
    text += head(number.name, number.type, number.help);
    for (const auto& [name, model] : models)
      text += line(number.name, label("model", name), number.of(model));
  }
  text += head("encore_batch_texts", "histogram", "Inputs of a batch.");
  for (const auto& [name, model] : models)
    text += model.batch_texts.text("encore_batch_texts", label("model", name));
  text += head("encore_wait_seconds", "histogram", "Time of an input in the queue.");
  for (const auto& [name, model] : models)
    text += model.wait_seconds.text("encore_wait_seconds", label("model", name));
  return text;
}

}  // namespace encore::serve
