// SPDX-License-Identifier: BSD-3-Clause
// cache_folder(): the folder in which both programs keep what can be made again: encoded sets
// (tasks/token_cache.hpp), hashes of large files (hash_cache.hpp), and plugin files that have passed their
// checks (app/plugin_passes.hpp). A user may remove it at any time. Nothing in it may be needed for a result.
#pragma once

#include <filesystem>

namespace encore::record {

/// Returns $ENCORE_CACHE, else $XDG_CACHE_HOME/encore, else ~/.cache/encore; empty without any of them.
std::filesystem::path cache_folder();

}  // namespace encore::record
