// The actions of `exp plugin`: one file each (plugin_ls.cpp, plugin_info.cpp, ...), one list for the verb and
// its help.
#pragma once

#include "cli/verbs.hpp"

namespace encore {

int plugin_ls(const Arguments& arguments);
int plugin_info(const Arguments& arguments);

/// In the order in which people meet them. Each gets what follows its name and returns the exit code.
const std::vector<Verb>& plugin_actions();

int plugin_new(const Arguments& arguments);
int plugin_build(const Arguments& arguments);
int plugin_check(const Arguments& arguments);

}  // namespace encore
