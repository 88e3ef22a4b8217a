// What databases before version 9 of the schema said of metrics: one meaning for each name, that of the
// worker who came last, even where runs of several tasks meant different things by it. Place in the flow:
// upgrade.cpp calls it.
#pragma once

#include "store/database.hpp"

namespace encore {

/// Gives each attempt the meanings of its own metrics: as its spool says them where the file is still there,
/// else as the table `metric` had them. Takes the columns with meanings out of that table.
void give_meanings_to_attempts(Database& database);

}  // namespace encore
