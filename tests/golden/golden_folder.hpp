// SPDX-License-Identifier: BSD-3-Clause
// The folders of transformers in tests/golden/bert and its numbers (make_bert.py lies beside).
#pragma once

#include <filesystem>
#include <fstream>

#include <nlohmann/json.hpp>

#include "config/experiment.hpp"
#include "support/places.hpp"

namespace encore::testing {

inline const std::filesystem::path golden_folder =
    std::filesystem::path(ENCORE_SOURCE_DIR) / "tests/golden/bert";

inline nlohmann::json load_json(const std::filesystem::path& path) {
  return nlohmann::json::parse(std::ifstream(path));
}

/// Returns the tolerance of float64 and float32.
inline double tolerance(config::Precision precision) {
  return precision == config::Precision::float64 ? 1e-10 : 1e-5;
}

}  // namespace encore::testing
