// SPDX-License-Identifier: BSD-3-Clause
// Formats times and numbers with a fixed number of digits, for the tables of all verbs. Never for JSON or
// CSV, which need all digits. Read next: format.hpp.
#include "cli/format.hpp"

#include <cstdio>
#include <ctime>

namespace encore::cli {

namespace {

std::string local(const char* format, double time) {
  const auto seconds = static_cast<std::time_t>(time);
  std::tm parts{};
  ::localtime_r(&seconds, &parts);
  char text[32];
  std::strftime(text, sizeof text, format, &parts);
  return text;
}

}  // namespace

std::string time_text(double time) {
  return local("%Y-%m-%d %H:%M:%S", time);
}
std::string clock_text(double time) {
  return local("%H:%M:%S", time);
}

std::string fixed(double value, int digits) {
  char text[400];  // the largest double has 309 digits
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

std::string percent(double share) {
  return fixed(100.0 * share, 1);
}

}  // namespace encore::cli
