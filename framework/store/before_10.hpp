// What version 10 says in tables of its own, from what earlier versions kept; see upgrade.cpp.
#pragma once

#include "store/database.hpp"

namespace encore {

/// Fills the table newest, and search_trial.excluded from what the problem of a trial says.
void fill_version_10(Database& database);

}  // namespace encore
