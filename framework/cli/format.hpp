// Times as people read them in a terminal; numbers are in document/quantity.hpp.
#pragma once

#include <string>

#include "document/quantity.hpp"

namespace encore {

/// "2026-01-31 23:59:59", local time, from seconds since 1970.
std::string time_text(double time);
/// "23:59:59", local time.
std::string clock_text(double time);
/// Seconds since 1970.
double now();

}  // namespace encore
