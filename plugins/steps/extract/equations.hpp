// SPDX-License-Identifier: BSD-3-Clause
// Reads equations such as "sum(item.amount) + tax = total" from the option `equations` of the step `extract`.
// rules.cpp calls it; checks.cpp computes both sides. Experiment files have the notation, so a change must
// accept what was accepted before. Read next: rules.hpp, equations.cpp.
#pragma once

#include <string>

#include "rules.hpp"

namespace encore::extract {

/// Returns an equation between numbers, fields of `rules` and members of their groups. Throws OptionError if
/// the text is not an equation, or names a field that is unknown or is not a number.
Equation read_equation(const Rules& rules, const std::string& text);

}  // namespace encore::extract
