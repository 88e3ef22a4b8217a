// SPDX-License-Identifier: BSD-3-Clause
// The form of times, values and cells: one wording for all sections of a report and for the output of
// commands (cli/, app/). Pure functions. A change is visible in every report and in many tests. Read next:
// document/quantity.hpp, which has the form of numbers and units.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/statistics.hpp"
#include "base/metric.hpp"
#include "base/readable_text.hpp"
#include "config/option_text.hpp"
#include "document/document.hpp"
#include "document/quantity.hpp"

namespace encore::analysis {
class MeanDigits;
}

namespace encore::report {

/// Returns "2026-01-31 23:59:59 UTC" for a time in seconds since 1970.
std::string utc_text(double time);
/// Returns the seconds since 1970 of the beginning of "2026-01-31" (UTC), or of "2026-01-31 23:59"; nothing
/// for other text.
std::optional<double> utc_from(const std::string& text);
/// Returns the id of a block about `name`: all characters except letters and digits become "-" ("test-f1" for
/// "test/f1").
std::string block_id(const std::string& name);
/// Returns a p value as text: "0.034", "1.2e-05".
std::string p_value_text(double p);
/// Returns the coverage of an interval: "95 %" for 0.05.
std::string percent_of(double alpha);

/// The unit in which values of a metric are shown; fractions are shown in percent.
struct Unit {
  double factor = 1.0;
  std::string name;  ///< "%", else the unit of the metric
};
Unit unit_of(const Metric& metric);
/// Returns the unit of a difference: two values in percent differ by percentage points, "points".
std::string unit_of_differences(const Metric& metric);

document::TableCell value_cell(const Metric& metric, double value);  ///< empty for NaN
document::TableCell value_cell(const Metric& metric, std::optional<double> value);
/// Returns the cell of a mean, or of a value with the digits of a mean.
document::TableCell value_cell(const Metric& metric, const analysis::MeanDigits& digits, double value);
/// Returns "91.18 ± 0.25": mean and standard deviation. The cell is sorted and exported by the mean.
document::TableCell mean_cell(const Metric& metric, const std::vector<double>& values);
document::TableCell count_cell(std::int64_t count);
document::TableCell number_cell(double number);
document::TableCell seconds_cell(double seconds);        ///< of a column in seconds
document::TableCell code_cell(const std::string& text);  ///< empty for empty text

/// Return parts of a text with one meaning (document/document.hpp). `target` is the id of a section, table or
/// figure.
document::Span code(std::string text);
document::Span strong(std::string text);
document::Span reference(std::string text, std::string target);

}  // namespace encore::report
