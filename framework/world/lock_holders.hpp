// Who holds a lock on a file: turns "database is locked" into a name to look for.
#pragma once

#include <filesystem>
#include <string>

namespace encore {

/// "exp (process 4711)", several joined with ", "; empty when the kernel does not tell. `path` is a database:
/// the locks of its side files count too.
std::string lock_holders(const std::filesystem::path& path);

}  // namespace encore
