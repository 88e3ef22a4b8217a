// Where both programs keep what can be made again: encoded sets (tasks/token_cache.hpp), hashes of large
// files (hash_cache.hpp), which plugin files have passed their checks (app/plugin_passes.hpp).
#pragma once

#include <filesystem>

namespace encore {

/// $ENCORE_CACHE, else $XDG_CACHE_HOME/encore, else ~/.cache/encore; empty without any of them.
std::filesystem::path cache_folder();

}  // namespace encore
