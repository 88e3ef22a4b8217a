// SPDX-License-Identifier: BSD-3-Clause
// Finds the processes that hold a lock on a file, for the message "database is locked".
#pragma once

#include <filesystem>
#include <string>

namespace encore {

/// Returns "exp (process 4711)", several joined with ", "; empty when the kernel does not say. `path` is a
/// database: locks of its side files count too.
std::string lock_holders(const std::filesystem::path& path);

}  // namespace encore
