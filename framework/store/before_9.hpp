// SPDX-License-Identifier: BSD-3-Clause
// Converts what databases before version 9 of the schema said of metrics: one meaning for each name, that of
// the last worker, even if runs of several tasks meant different things by it. upgrade.cpp calls it. It never
// changes, because databases in the field have been through it.
#pragma once

#include "store/database.hpp"

namespace encore {

/// Gives each attempt the meanings of its own metrics: those of its spool if the file is still there,
/// otherwise those of the table `metric`. Removes the columns with meanings from that table.
void give_meanings_to_attempts(Database& database);

}  // namespace encore
