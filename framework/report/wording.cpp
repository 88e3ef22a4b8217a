// SPDX-License-Identifier: BSD-3-Clause
// Formats times, values, intervals and table cells for all sections, so that a number looks the same
// everywhere in a report; utc_from() reads a time. All files of report/ call it, and cli/ and app/ for the
// output of commands, which tests compare. Read wording.hpp first.
#include "report/wording.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>

#include "analysis/comparison.hpp"
#include "base/readable_text.hpp"

namespace encore::report {

std::string utc_text(double time) {
  const auto seconds = static_cast<std::time_t>(std::floor(time));
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  char text[40];
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", &parts);
  return text;
}

std::optional<double> utc_from(const std::string& text) {
  std::tm parts{};
  int read = 0, date = 0;
  const int found = std::sscanf(text.c_str(), "%4d-%2d-%2d%n %2d:%2d%n", &parts.tm_year, &parts.tm_mon,
                                &parts.tm_mday, &date, &parts.tm_hour, &parts.tm_min, &read);
  const bool whole = found == 5 && static_cast<std::size_t>(read) == text.size();
  const bool day = found == 3 && static_cast<std::size_t>(date) == text.size();
  if (!whole && !day) return std::nullopt;
  parts.tm_year -= 1900;
  parts.tm_mon -= 1;
  const std::tm asked = parts;
  const std::time_t time = ::timegm(&parts);
  // timegm() reads the 31st of February as the 3rd of March, so the date is compared with the text.
  if (parts.tm_mon != asked.tm_mon || parts.tm_mday != asked.tm_mday || parts.tm_hour != asked.tm_hour)
    return std::nullopt;
  return static_cast<double>(time);
}

std::string block_id(const std::string& name) {
  std::string id;
  for (const char letter : name) id += std::isalnum(static_cast<unsigned char>(letter)) != 0 ? letter : '-';
  return id;
}

std::string p_value_text(double p) {
  char text[32];
  std::snprintf(text, sizeof text, p < 0.001 ? "%.1e" : "%.3f", p);
  return text;
}

std::string percent_of(double alpha) {
  return document::number_text(100.0 * (1.0 - alpha)) + " %";
}

Unit unit_of(const Metric& metric) {
  return metric.is_fraction() ? Unit{100.0, "%"} : Unit{1.0, metric.meaning.unit};
}

std::string unit_of_differences(const Metric& metric) {
  return metric.is_fraction() ? "points" : metric.meaning.unit;
}

document::TableCell value_cell(const Metric& metric, double value) {
  if (std::isnan(value)) return {};
  return {analysis::metric_text(metric, value), unit_of(metric).factor * value};
}

document::TableCell value_cell(const Metric& metric, const analysis::MeanDigits& digits, double value) {
  if (std::isnan(value)) return {};
  return {digits.text(value), unit_of(metric).factor * value};
}

document::TableCell value_cell(const Metric& metric, std::optional<double> value) {
  return value ? value_cell(metric, *value) : document::TableCell();
}

document::TableCell mean_cell(const Metric& metric, const std::vector<double>& values) {
  const analysis::MeanDigits digits(metric, analysis::mean_of(values), analysis::deviation_of(values));
  document::TableCell cell = value_cell(metric, digits, analysis::mean_of(values));
  if (values.size() > 1) cell.text = cell.text.plain() + " ± " + digits.text(analysis::deviation_of(values));
  return cell;
}

document::TableCell count_cell(std::int64_t count) {
  return {thousands(count), static_cast<double>(count)};
}

document::TableCell number_cell(double number) {
  if (std::isnan(number)) return {};
  return {document::number_text(number), number};
}

document::TableCell seconds_cell(double seconds) {
  return {seconds < 100.0 ? fixed_text(seconds, 1) : thousands(std::llround(seconds)), seconds};
}

document::TableCell code_cell(const std::string& text) {
  return text.empty() ? document::TableCell() : document::TableCell(document::Text({code(text)}));
}

document::Span code(std::string text) {
  return {std::move(text), document::Span::Kind::code};
}

document::Span strong(std::string text) {
  return {std::move(text), document::Span::Kind::strong};
}

document::Span reference(std::string text, std::string target) {
  return {std::move(text), document::Span::Kind::reference, std::move(target)};
}

}  // namespace encore::report
