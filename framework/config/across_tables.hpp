// What two tables of an experiment decide together: whether reader and task fit, what may be selected by, and
// numbers that exclude each other. Place in the flow: resolve.cpp calls it when each table has been checked.
#pragma once

#include "config/resolve.hpp"

namespace encore {

/// Adds what is wrong to `problems`; where the file is silent about train.select, the task's goes into
/// `resolved`. Tables that are missing or wrong, which is said already, are passed over.
void check_across_tables(const Value& root, const Catalogue& catalogue, Resolved& resolved,
                         Problems& problems);

}  // namespace encore
