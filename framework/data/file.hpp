// Reading a whole text file, with messages a user can act on.
#pragma once

#include <filesystem>
#include <string>

namespace encore {

/// The bytes of a file. `what` names it in the message ("training set"). Throws Error when it is missing, no
/// regular file, or unreadable.
std::string load_file(const std::filesystem::path& path, const std::string& what);

/// As load_file, and throws Error with path and line when a byte is not UTF-8. A byte order mark stays.
std::string load_text(const std::filesystem::path& path, const std::string& what);

}  // namespace encore
