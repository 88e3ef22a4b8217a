// SPDX-License-Identifier: BSD-3-Clause
// Registers the parts of the plugin "seams": tasks, heads and readers that do what no part that ships does.
// They test the seams, that is the interfaces between task, batches, heads and model: a new kind of part must
// work without a change of the framework. plugin.cpp calls these functions. Read next: masked_words.cpp,
// pairs.cpp, copy.cpp, and seams_test.cpp, which trains them.
#pragma once

#include <encore/plugin.hpp>

namespace encore_seams {

void add_masked_words(encore::Registrar& plugin);
void add_pairs(encore::Registrar& plugin);
void add_copy(encore::Registrar& plugin);

}  // namespace encore_seams
