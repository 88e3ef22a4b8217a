// SPDX-License-Identifier: BSD-3-Clause
// Finds and reads golden/bert: folders of models that `transformers` saved, and the numbers that it computed
// with them. make_bert.py writes both. bert_test.cpp and encoder_decoder_folders_test.cpp use this file;
// tolerance() is that of both.
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

/// Returns the allowed difference from the numbers of `transformers`, for float64 and float32.
inline double tolerance(config::Precision precision) {
  return precision == config::Precision::float64 ? 1e-10 : 1e-5;
}

}  // namespace encore::testing
