// Checks one value against one Option: type, choices, range. Place in the flow: validate.hpp, for every value
// of a table; option_text.hpp and plan/ for values that stand elsewhere.
#pragma once

#include <optional>
#include <string>

#include <encore/options.hpp>

#include "config/value.hpp"

namespace encore {

/// Whether it names a file, a folder, or several of them.
bool is_path(const Option& option);
/// 95 of "95%"; nothing where it is no percentage above 0 and at most 100.
std::optional<double> percentage_in(const std::string& text);

/// What must stand there, for messages: "an integer", "\"post\" or \"pre\"".
std::string wanted_text(const Option& option);

/// Checks one value, without a place: nothing when it fits, otherwise `must be an integer, found text "six"`.
std::optional<std::string> check_value(const Value& value, const Option& option, OptionValue& result);
std::optional<std::string> check_range(const OptionValue& value, const Option& option);

/// `must be at least 0 and below 1`-like words for messages, help and documentation: "at least 0, below 1".
std::string range_text(const Option& option);

}  // namespace encore
