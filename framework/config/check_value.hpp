// SPDX-License-Identifier: BSD-3-Clause
// Checks one value against one Option: type, choices, range. validate.hpp calls it for every value of a
// table, option_text.hpp and plan/ for values that stand elsewhere. Which values are accepted must not change
// for released options.
#pragma once

#include <optional>
#include <string>

#include <encore/options.hpp>

#include "config/value.hpp"

namespace encore::config {

/// Returns whether the option names a file, a folder, or several of them.
bool is_path(const Option& option);
/// Returns 95 for "95%". Returns nothing unless the percentage is above 0 and at most 100.
std::optional<double> percentage_in(const std::string& text);

/// Returns the expected values in words, for messages: "an integer", "\"post\" or \"pre\"".
std::string wanted_text(const Option& option);

/// Checks one value. Returns nothing if it fits, otherwise `must be an integer, found text "six"`.
std::optional<std::string> check_value(const Value& value, const Option& option, OptionValue& result);
std::optional<std::string> check_range(const OptionValue& value, const Option& option);

/// Returns the range in words, for messages, help and documentation: "at least 0, below 1".
std::string range_text(const Option& option);

}  // namespace encore::config
