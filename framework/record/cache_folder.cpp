// SPDX-License-Identifier: BSD-3-Clause
// Reads the environment variables in the order that the header names.
#include "record/cache_folder.hpp"

#include <cstdlib>

namespace encore {

std::filesystem::path cache_folder() {
  namespace fs = std::filesystem;
  const auto named = [](const char* variable) {
    const char* text = std::getenv(variable);
    return fs::path(text == nullptr ? "" : text);
  };
  if (const fs::path own = named("ENCORE_CACHE"); !own.empty()) return own;
  if (const fs::path shared = named("XDG_CACHE_HOME"); !shared.empty()) return shared / "encore";
  if (const fs::path home = named("HOME"); !home.empty()) return home / ".cache" / "encore";
  return {};
}

}  // namespace encore
