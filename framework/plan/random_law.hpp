// SPDX-License-Identifier: BSD-3-Clause
// read_law(): reads the distribution of a variable of [sweep.random] or [search.space], such as { uniform =
// [low, high] }. Place in the flow: sweep_reader.cpp -> here -> RandomVariable (sweep.hpp), from which
// draw.cpp draws. ("Law" means distribution.) Experiment files contain these words, so they are only
// extended.
#pragma once

#include <string>

#include "config/error.hpp"
#include "config/value.hpp"
#include "plan/sweep.hpp"

namespace encore::plan {

/// Reads the distribution, its bounds or its values into `variable`. Returns false and adds to `problems` if
/// something is wrong. `table` is the name of the table in messages.
bool read_law(const config::Value& value, const std::string& table, RandomVariable& variable,
              config::Problems& problems);

/// Gives a value and everything in it the origin "sweep".
void mark_as_sweep(config::Value& value);

}  // namespace encore::plan
