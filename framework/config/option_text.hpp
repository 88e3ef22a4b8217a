// An option in words, as tables of help and of documentation show it. See markdown.hpp and `exp plugin info`.
#pragma once

#include <string>

#include <encore/options.hpp>

namespace encore {

/// "integer", "number, seconds"
std::string type_text(const Option& option);
/// As it would stand in an experiment file: 0.1, "relu", [1, 2]; empty where there is no default.
std::string default_text(const Option& option);
/// `"relu", "gelu"` or "at least 0, below 1" or nothing.
std::string limits_text(const Option& option);

}  // namespace encore
