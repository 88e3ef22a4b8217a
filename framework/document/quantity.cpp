// SPDX-License-Identifier: BSD-3-Clause
// Implements quantity.hpp: formats numbers with their units by printf in the "C" locale, so that output does
// not depend on the user's locale. Tables, live lines and reports call it. A form may change, together with
// the many tests that compare it; the locale must stay. Read quantity.hpp first.
#include "document/quantity.hpp"

#include <cmath>
#include <cstdio>

namespace encore::document {

namespace {

template <class... Values>
std::string print(const char* format, Values... values) {
  char text[96];
  std::snprintf(text, sizeof text, format, values...);
  return text;
}

}  // namespace

std::string percent_text(std::optional<double> fraction) {
  if (!fraction || !std::isfinite(*fraction)) return "-";
  return print("%.2f", *fraction * 100.0);
}

std::string number_text(double number) {
  if (std::isnan(number)) return "nan";
  return print("%.4g", number);
}

std::string count_text(double count) {
  if (count >= 999.5e9) return print("%.3gT", count / 1e12);
  if (count >= 999.5e6) return print("%.3gG", count / 1e9);
  if (count >= 999.5e3) return print("%.3gM", count / 1e6);
  if (count >= 9999.5) return print("%.3gk", count / 1e3);
  return print("%.0f", count);
}

std::string duration_text(double seconds) {
  if (!std::isfinite(seconds) || seconds < 0) return "-";
  if (seconds < 9.95) return print("%.1f s", seconds);
  const auto whole = static_cast<long long>(seconds + 0.5);
  if (whole < 60) return print("%lld s", whole);
  if (whole < 3600) return print("%lldm %02llds", whole / 60, whole % 60);
  if (whole < 86400) return print("%lldh %02lldm", whole / 3600, whole / 60 % 60);
  return print("%lldd %02lldh", whole / 86400, whole / 3600 % 24);
}

std::string energy_text(double joules) {
  if (joules < 1e3) return print("%.0f J", joules);
  if (joules < 1e6) return print("%.1f kJ", joules / 1e3);
  if (joules < 1e9) return print("%.2f MJ", joules / 1e6);
  return print("%.2f GJ", joules / 1e9);
}

}  // namespace encore::document
