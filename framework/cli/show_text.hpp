// SPDX-License-Identifier: BSD-3-Clause
// print_run() prints the sections of `exp show` as text, for show_verb.cpp; print_measured() prints the
// section of scores.
#pragma once

#include <iosfwd>

#include "cli/terminal.hpp"
#include "store/store.hpp"

namespace encore::cli {

/// Prints all sections of a run. `all` adds settings with their default.
void print_run(std::ostream& out, store::Store& store, const store::RunRow& run, const Terminal& terminal,
               bool all);

void print_measured(std::ostream& out, store::Store& store, const store::RunRow& run,
                    const Terminal& terminal);

}  // namespace encore::cli
