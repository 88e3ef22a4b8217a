// SPDX-License-Identifier: BSD-3-Clause
// lock_holders() names the processes that lock a database. store/database.cpp puts them into the message
// "database is locked"; nothing else depends on it.
#pragma once

#include <filesystem>
#include <string>

namespace encore::world {

/// Returns "exp (process 4711)", several joined with ", "; empty if the kernel does not report any. `path` is
/// a database; locks on its side files count too.
std::string lock_holders(const std::filesystem::path& path);

}  // namespace encore::world
