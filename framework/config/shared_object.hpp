// SPDX-License-Identifier: BSD-3-Clause
// shared_object_problem() checks a plugin file without loading it: whether it is a whole ELF file.
// catalogue.cpp calls it, because the control program never loads a plugin, and dlopen of a file that was cut
// while it was copied can end the process.
#pragma once

#include <filesystem>
#include <string>

namespace encore::config {

/// Returns `p.so: is cut off at 4096 of 71320 bytes; build it again or copy it whole`; empty for a good file.
std::string shared_object_problem(const std::filesystem::path& file);

}  // namespace encore::config
