// Times and numbers in columns, for the terminal. Other formats are in document/quantity.hpp.
#pragma once

#include <string>

#include "document/quantity.hpp"

namespace encore {

/// "2026-01-31 23:59:59", local time, from seconds since 1970.
std::string time_text(double time);
/// "23:59:59", local time.
std::string clock_text(double time);
/// "12.34", as many digits behind the point as asked for.
std::string fixed(double value, int digits);
/// "12.3", a share as percent without its sign.
std::string percent(double share);

}  // namespace encore
