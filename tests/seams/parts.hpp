// SPDX-License-Identifier: BSD-3-Clause
// Functions that register the parts of the plugin "seams": tasks, heads and readers that use the interfaces
// in ways in which no part that ships uses them. The *seams* are the interfaces between task, batches, heads
// and model. A new kind of part must work without a change of the framework, and these parts test that.
// plugin.cpp calls the functions. Read next: masked_words.cpp, pairs.cpp, copy.cpp, and seams_test.cpp, which
// trains the parts. A part may be added for every new use of an interface.
#pragma once

#include <encore/plugin.hpp>

namespace encore_seams {

void add_masked_words(encore::Registrar& plugin);
void add_pairs(encore::Registrar& plugin);
void add_copy(encore::Registrar& plugin);

}  // namespace encore_seams
