// SPDX-License-Identifier: BSD-3-Clause
// One migration step: before version 9, the database stored one meaning for each name of a metric, that of
// the last worker, even if runs of several tasks used the name for different measures. upgrade.cpp calls it.
// The step never changes, because databases in the field have been through it.
#pragma once

#include "store/database.hpp"

namespace encore::store {

/// Gives each attempt the meanings of its own metrics: from its spool if that file still exists, otherwise
/// from the table `metric`. Then removes the columns with meanings from that table.
void give_meanings_to_attempts(Database& database);

}  // namespace encore::store
