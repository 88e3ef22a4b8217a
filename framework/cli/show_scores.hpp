// What a run has measured, for people: the scores of its best checkpoint, curves, and the scores on the
// development set step by step. Place in the flow: a part of `exp show` (show_text.hpp).
#pragma once

#include <iosfwd>

#include "cli/terminal.hpp"
#include "store/store.hpp"

namespace encore {

void print_measured(std::ostream& out, Store& store, const RunRow& run, const Terminal& terminal);

}  // namespace encore
