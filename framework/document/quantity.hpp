// SPDX-License-Identifier: BSD-3-Clause
// Formats quantities with their units for users, so that every table, live line, closing line and report has
// one notation. cli/, app/ and report/ call it. Numbers for programs are written elsewhere, in full precision
// (writers.hpp). A format may change, but the expected output of many tests then changes too.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/readable_text.hpp"

namespace encore::document {

/// Returns "54.32": a fraction as percent with two digits; "-" without a value.
std::string percent_text(std::optional<double> fraction);
/// Returns "0.1234", "12.3", "1.2e-05": four significant digits.
std::string number_text(double number);
/// Returns "940", "12.3k", "4.56M", "7.89G", "3.21T".
std::string count_text(double count);
/// Returns "0.4 s", "12 s", "3m 05s", "2h 07m", "3d 04h".
std::string duration_text(double seconds);
/// Returns "940 J", "12.3 kJ", "1.24 MJ", "7.20 GJ".
std::string energy_text(double joules);

}  // namespace encore::document
