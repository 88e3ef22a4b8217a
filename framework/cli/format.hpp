// Numbers as people read them: one wording for every table, live line and closing line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace encore {

/// "54.32": a fraction as percent with two digits; "-" without a value.
std::string percent_text(std::optional<double> fraction);
/// "0.1234", "12.3", "1.2e-05": four significant digits.
std::string number_text(double number);
/// "940", "12.3k", "4.56M"
std::string count_text(double count);
/// "0.4 s", "12 s", "3m 05s", "2h 07m", "3d 04h"
std::string duration_text(double seconds);
/// "4.2 MB"
std::string bytes_text(std::uint64_t bytes);
/// "2026-01-31 23:59:59", local time, from seconds since 1970.
std::string time_text(double time);
/// "23:59:59", local time.
std::string clock_text(double time);
/// Seconds since 1970.
double now();

}  // namespace encore
