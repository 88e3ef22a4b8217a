// SPDX-License-Identifier: BSD-3-Clause
// counted(): a number with its noun, for messages of readers and tasks, such as notes about skipped rows.
// Users only read these messages, so their words may change.
#pragma once

#include <cstdint>
#include <string>

namespace encore {

/// Returns "1 row" or "3 rows".
inline std::string counted(std::int64_t count, const char* one, const char* several) {
  return std::to_string(count) + " " + (count == 1 ? one : several);
}

}  // namespace encore
