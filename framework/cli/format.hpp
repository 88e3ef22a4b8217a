// SPDX-License-Identifier: BSD-3-Clause
// Times and numbers in columns, for the terminal. All verbs with tables use it. Other formats are in
// document/quantity.hpp.
#pragma once

#include <string>

#include "document/quantity.hpp"

namespace encore::cli {

/// Returns "2026-01-31 23:59:59", local time, from seconds since 1970.
std::string time_text(double time);
/// Returns "23:59:59", local time, from seconds since 1970.
std::string clock_text(double time);
/// Returns "12.34", with `digits` digits after the point.
std::string fixed(double value, int digits);
/// Returns "12.3", a share in percent without its sign.
std::string percent(double share);

}  // namespace encore::cli
