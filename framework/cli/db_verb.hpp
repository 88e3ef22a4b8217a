// The actions of `exp db`: db_check.cpp looks for damage, db_merge.cpp brings in the runs of other databases,
// db_verb.cpp does what concerns the file itself.
#pragma once

#include "cli/verbs.hpp"

namespace encore {

int db_check(const Arguments& arguments);
int db_merge(const Arguments& arguments);

/// In the order in which people meet them. Each gets what follows its name and returns the exit code.
const std::vector<Verb>& db_actions();

}  // namespace encore
