// The distribution of a variable of [sweep.random] or [search.space]: { uniform = [low, high] } and the
// others. draw.cpp draws.
#pragma once

#include <string>

#include "config/error.hpp"
#include "config/value.hpp"
#include "plan/sweep.hpp"

namespace encore {

/// Reads the law, its bounds or its values into `variable`; false where something is wrong with it, which is
/// added to `problems`. `table` is how messages call where it stands.
bool read_law(const Value& value, const std::string& table, RandomVariable& variable, Problems& problems);

/// Gives a value and all that is in it the origin "sweep".
void mark_as_sweep(Value& value);

}  // namespace encore
