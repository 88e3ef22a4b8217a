// The sections of `exp show` as text.
#pragma once

#include <iosfwd>

#include "cli/terminal.hpp"
#include "store/store.hpp"

namespace encore {

/// `all` adds settings with their default.
void print_run(std::ostream& out, Store& store, const RunRow& run, const Terminal& terminal, bool all);

void print_measured(std::ostream& out, Store& store, const RunRow& run, const Terminal& terminal);

}  // namespace encore
