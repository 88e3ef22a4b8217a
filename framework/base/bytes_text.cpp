// SPDX-License-Identifier: BSD-3-Clause
// Formats a number of bytes for messages and tables (bytes_text): chooses the largest unit that leaves a
// number of at least 1. Units are powers of 1000, as for disks. Only people read the result, so its form may
// change, together with the tests that compare it. Read readable_text.hpp first.
#include "base/readable_text.hpp"

#include <cstdio>

namespace encore {

std::string bytes_text(std::uint64_t bytes) {
  struct Unit {
    double bytes;
    const char* form;
  };
  constexpr Unit units[] = {{1e9, "%.2f GB"}, {1e6, "%.1f MB"}, {1e3, "%.1f kB"}, {1.0, "%.0f B"}};
  const auto count = static_cast<double>(bytes);
  const Unit* unit = units;
  while (unit->bytes > 1.0 && count < unit->bytes) ++unit;
  char text[40];
  std::snprintf(text, sizeof text, unit->form, count / unit->bytes);
  return text;
}

}  // namespace encore
