// SPDX-License-Identifier: BSD-3-Clause
// cache_folder(): finds the folder for files that can be made again, from the environment. Token cache, hash
// cache and plugin checks call it. Without a home folder nothing is cached. Nothing in the folder may be
// needed for a result. Read cache_folder.hpp first.
#include "record/cache_folder.hpp"

#include <cstdlib>

namespace encore::record {

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

}  // namespace encore::record
