// The form of times, values and cells in a report: one wording for all sections. See also
// document/quantity.hpp.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/statistics.hpp"
#include "base/metric.hpp"
#include "base/readable_text.hpp"
#include "config/setting_text.hpp"
#include "document/document.hpp"
#include "document/quantity.hpp"

namespace encore {

class MeanDigits;

/// "2026-01-31 23:59:59 UTC"
std::string utc_text(double time);
/// Seconds since 1970 of the beginning of "2026-01-31" (UTC), or of "2026-01-31 23:59"; nothing for other
/// text.
std::optional<double> utc_from(const std::string& text);
/// The id of a block that is about `name`: all but letters and digits become "-" ("test-f1" of "test/f1").
std::string block_id(const std::string& name);
/// "0.034", "1.2e-05"
std::string p_value_text(double p);
/// The coverage of an interval: "95 %" for 0.05.
std::string percent_of(double alpha);

/// The form of a metric: fractions in percent.
struct Unit {
  double factor = 1.0;
  std::string name;  ///< "%", else the unit of the metric
};
Unit unit_of(const Metric& metric);
/// The unit of a difference: two values in percent differ by percentage points, "points".
std::string unit_of_differences(const Metric& metric);

TableCell value_cell(const Metric& metric, double value);  ///< empty for NaN
TableCell value_cell(const Metric& metric, std::optional<double> value);
/// A mean, or a value with the digits of a mean.
TableCell value_cell(const Metric& metric, const MeanDigits& digits, double value);
/// "91.18 ± 0.25": mean and standard deviation, sorted and exported by the mean.
TableCell mean_cell(const Metric& metric, const std::vector<double>& values);
TableCell count_cell(std::int64_t count);
TableCell number_cell(double number);
TableCell seconds_cell(double seconds);        ///< of a column in seconds
TableCell code_cell(const std::string& text);  ///< empty for empty text

Span code(std::string text);
Span strong(std::string text);
Span reference(std::string text, std::string target);

}  // namespace encore
