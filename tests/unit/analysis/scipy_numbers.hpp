// SPDX-License-Identifier: BSD-3-Clause
// Statistics that scipy computed (statistics.json), for the tests of all numbers in a report.
#pragma once

#include <fstream>

#include <nlohmann/json.hpp>

#include "support/places.hpp"

namespace encore::analysis {

inline const nlohmann::json& scipy() {
  static const nlohmann::json numbers =
      nlohmann::json::parse(std::ifstream(ENCORE_SOURCE_DIR "/tests/unit/analysis/statistics.json"));
  return numbers;
}

}  // namespace encore::analysis
