// SPDX-License-Identifier: BSD-3-Clause
// Tasks and heads that exist only to prove the seams between them: what no shipped part does. Read next:
// masked_words.cpp, pairs.cpp, copy.cpp, and seams_test.cpp, which trains them.
#pragma once

#include <encore/plugin.hpp>

namespace encore_seams {

void add_masked_words(encore::Registrar& plugin);
void add_pairs(encore::Registrar& plugin);
void add_copy(encore::Registrar& plugin);

}  // namespace encore_seams
