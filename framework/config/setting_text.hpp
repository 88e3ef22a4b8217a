// SPDX-License-Identifier: BSD-3-Clause
// setting_text() writes the stored value of an option as a user wrote it, for tables and charts of settings
// (cli/run_list.cpp, analysis/factors.cpp, report/). Users only read the result.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace encore::config {

/// Returns a setting as the experiment file writes it, but without quotes; paths by their last two parts.
std::string setting_text(const nlohmann::json& value);

}  // namespace encore::config
