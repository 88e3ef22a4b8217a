// SPDX-License-Identifier: BSD-3-Clause
// Checks what two tables of an experiment decide together: whether reader and task fit, by which measure a
// run may select, and numbers that exclude each other. resolve.cpp calls it after it has checked each table.
// A new rule refuses files that are accepted today, so it needs a reason.
#pragma once

#include "config/resolve.hpp"

namespace encore::config {

/// Adds what is wrong to `problems`. If the file does not set train.select, the task's default goes into
/// `resolved`. Skips tables that are missing or wrong, because they have been reported already.
void check_across_tables(const Value& root, const Catalogue& catalogue, Resolved& resolved,
                         Problems& problems);

}  // namespace encore::config
