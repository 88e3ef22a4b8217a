// SPDX-License-Identifier: BSD-3-Clause
// Gives tests the numbers of statistics.json, which make_statistics.py computed with numpy and scipy.
// statistics_test.cpp, sweep_statistics_test.cpp and report/report_test.cpp compare Encore's statistics with
// them. Never edit statistics.json by hand: change the script and run it.
#pragma once

#include <fstream>

#include <nlohmann/json.hpp>

#include "support/places.hpp"

namespace encore::analysis {

/// Returns the content of statistics.json, which is read once.
inline const nlohmann::json& scipy() {
  static const nlohmann::json numbers =
      nlohmann::json::parse(std::ifstream(ENCORE_SOURCE_DIR "/tests/unit/analysis/statistics.json"));
  return numbers;
}

}  // namespace encore::analysis
