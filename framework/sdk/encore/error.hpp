// SPDX-License-Identifier: BSD-3-Clause
// Error, the exception for what a user can correct, and ENCORE_REQUIRE, the check for a mistake of the
// caller. Everything throws them; the two main functions print what() and choose the exit code by the type.
// The text of an Error is shown to users: it says what is wrong, where, what was expected and what to do. It
// is part of the ABI of plugins: a change needs a new ENCORE_SDK_VERSION (plugin.hpp).
#pragma once

#include <source_location>
#include <stdexcept>
#include <string>

namespace encore {

/// An error that the user can correct: the message says what is wrong, where, and what to do.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A broken contract between two parts of the program; `where` names the check that found it.
[[noreturn]] inline void fail_requirement(const char* condition, const std::string& message,
                                          std::source_location where = std::source_location::current()) {
  throw std::logic_error(std::string(where.function_name()) + ": " + message + " (required: " + condition + ")");
}

}  // namespace encore

/// Throws std::logic_error with the function's name when a caller breaks its side of the contract.
#define ENCORE_REQUIRE(condition, message) \
  do {                                     \
    if (!(condition)) ::encore::fail_requirement(#condition, (message)); \
  } while (false)
