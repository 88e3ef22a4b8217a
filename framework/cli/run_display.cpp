// SPDX-License-Identifier: BSD-3-Clause
// RunDisplay: shows a run in training as one live line, or as lines with a time, for session_screen.cpp and
// verify_verb.cpp. Words before numbers stay as they are, because users search logs for them. Read next:
// run_display.hpp.
#include "cli/run_display.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "analysis/comparison.hpp"
#include "cli/table.hpp"
#include "world/lease_clock.hpp"

namespace encore::cli {

namespace {

/// The shortest time between progress lines without a terminal.
constexpr std::chrono::seconds plain_interval(10);
/// The shortest time between these lines while a run makes no progress.
constexpr std::chrono::seconds silent_interval(60);

std::string rounded_count(std::int64_t number, const std::string& what) {
  return document::count_text(static_cast<double>(number)) + " " + what;
}

}  // namespace

std::string progress_text(const record::Progressed& progress) {
  std::string text = "step " + std::to_string(progress.step) + "/" + std::to_string(progress.total_steps);
  text += "  epoch " + std::to_string(progress.epoch);
  if (std::isfinite(progress.loss)) text += "  loss " + document::number_text(progress.loss);
  if (!progress.activity.empty())
    return text + "  " + progress.activity + "  " +
           std::to_string(static_cast<int>(100.0 * progress.activity_share)) + " %";
  text += "  " + document::count_text(progress.tokens_per_second) + " tokens/s";
  text += "  lr " + document::number_text(progress.learning_rate);
  return text + "  " + document::duration_text(progress.eta_seconds) + " left";
}

std::string inactivity_text(const runner::Inactivity& inactivity) {
  const std::string time = document::duration_text(std::floor(inactivity.seconds));
  if (!inactivity.stepped) return "no step yet, " + time + " after its start";
  if (inactivity.usual_step <= 0.0) return "no step for " + time;
  return "no step for " + time + ", usually " +
         (inactivity.usual_step < 1.0 ? document::number_text(inactivity.usual_step) + " s"
                                      : document::duration_text(inactivity.usual_step));
}

void define(std::vector<Metric>& metrics, const Metric& metric) {
  const auto known = std::ranges::find(metrics, metric.name, &Metric::name);
  if (known == metrics.end())
    metrics.push_back(metric);
  else
    *known = metric;
}

std::string measures_text(const record::MeasuredValues& measures, std::vector<Metric> metrics,
                          const std::string& selected) {
  const std::string leading = Metric{.name = selected}.measure_name();
  for (const record::MeasuredValue& measured : measures)
    if (std::ranges::find(metrics, measured.name, &Metric::name) == metrics.end())
      metrics.push_back({.name = measured.name});
  for (const char* split : {"dev", "test"}) {
    std::string first, others;
    for (const Metric& metric : metrics) {
      const auto measured = std::ranges::find(measures, metric.name, &record::MeasuredValue::name);
      if (measured == measures.end() || metric.split() != split || metric.key()) continue;
      std::string& text = metric.measure_name() == leading ? first : others;
      text += "  " + metric.title() + " " + analysis::metric_text(metric, measured->value);
    }
    if (const std::string text = first + others; !text.empty()) return split + text.substr(1);
  }
  return "";
}

std::string log_text(const record::Logged& line) {
  return (line.level == record::LogLevel::info ? "" : std::string(record::name_of(line.level)) + ": ") +
         line.text;
}

RunDisplay::RunDisplay(std::string title, Console& console, LiveLines& lines, int key, bool quiet,
                       std::string selected)
    : title_(std::move(title)),
      console_(console),
      lines_(lines),
      key_(key),
      quiet_(quiet),
      selected_(std::move(selected)),
      last_plain_line_(std::chrono::steady_clock::now()) {
  if (!quiet_) lines_.set(key_, title_ + "  starting");
}

RunDisplay::~RunDisplay() {
  lines_.remove(key_);
}

void RunDisplay::happened(const record::Event& event) {
  record::handle(
      event, [&](const record::Started& started) { show(started); },
      [&](const record::Progressed& progress) { show(progress); },
      [&](const record::Evaluated& scores) { show(scores); },
      [&](const record::Logged& line) { show(line); });
}

void RunDisplay::defined(const Metric& metric) {
  define(metrics_, metric);
}

void RunDisplay::stepped(std::int64_t, double loss) {
  loss_sum_ += loss;
  ++loss_count_;
}

void RunDisplay::show(const record::Started& started) {
  if (quiet_) return;
  std::string text = started.parameters ? rounded_count(*started.parameters, "parameters") : "";
  for (const char* split : {"train", "dev", "test"})
    if (const auto set = started.data.find(split); set != started.data.end())
      text += (text.empty() ? "" : ", ") + rounded_count(set->second.examples, split);
  if (started.threads)
    text += ", " + std::to_string(*started.threads) + (*started.threads == 1 ? " thread" : " threads");
  print(title_ + "  " + text);
}

void RunDisplay::show(const record::Progressed& progress) {
  progress_ = progress;
  silent_ = false;
  if (quiet_) return;
  lines_.set(key_, title_ + "  " + progress_text(progress));
  if (lines_.terminal().live) return lines_.refresh();
  const auto time = std::chrono::steady_clock::now();
  if (time - last_plain_line_ < plain_interval) return;
  print(title_ + "  " + progress_text(progress));
}

void RunDisplay::show(const record::Evaluated& scores) {
  const double loss_sum = std::exchange(loss_sum_, 0.0);
  const auto steps = static_cast<double>(std::exchange(loss_count_, 0));
  const std::string text = measures_text(scores.measures, metrics_, selected_);
  if (quiet_ || text.empty()) return;
  std::string line = title_ + "  step " + std::to_string(scores.step);
  const bool training = text.starts_with("dev");
  if (training && scores.epoch > 0) line += "  epoch " + std::to_string(scores.epoch);
  if (training && steps > 0.0) line += "  train loss " + document::number_text(loss_sum / steps);
  print(line + "  " + text);
}

void RunDisplay::show(const record::Logged& line) {
  if (quiet_ && line.level == record::LogLevel::info) return;
  print(title_ + "  " + printable(log_text(line)));
}

void RunDisplay::silent(const runner::Inactivity& inactivity) {
  if (quiet_) return;
  const std::string step =
      "step " + std::to_string(progress_.step) + "/" + std::to_string(progress_.total_steps);
  const std::string text =
      title_ + "  " + (inactivity.stepped ? step + "  " : "") + inactivity_text(inactivity);
  lines_.set(key_, text);
  if (lines_.terminal().live) return lines_.refresh();
  const auto time = std::chrono::steady_clock::now();
  if (time - last_plain_line_ < (silent_ ? silent_interval : plain_interval)) return;
  silent_ = true;
  print(text);
}

void RunDisplay::noticed(const std::string& text) {
  lines_.hide();
  console_.noticed(printable_lines(title_ + ": " + text));
}

void RunDisplay::say(const std::string& text) {
  if (!quiet_) print(text);
}

void RunDisplay::print(const std::string& text) {
  last_plain_line_ = std::chrono::steady_clock::now();
  lines_.print(lines_.terminal().live ? text : clock_text(world::now_seconds()) + " " + text);
}

}  // namespace encore::cli
