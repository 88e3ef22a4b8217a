// SPDX-License-Identifier: BSD-3-Clause
// cache_folder(): the folder in which exp and encore-worker keep what can be made again;
// cached_sha256_of_file(): the hashes of large files in it, so that a plan or worker need not read gigabytes
// of weights again (pretrained/content_hash.cpp calls it). Encoded sets (tasks/token_cache.hpp) and plugin
// files that have passed their checks (app/plugin_passes.hpp) lie there too. A user may remove the folder at
// any time, so nothing in it may be needed for a result. A wrong hash would give a run a wrong identity, so
// in doubt the file is read.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace encore::record {

/// Returns $ENCORE_CACHE, else $XDG_CACHE_HOME/encore, else ~/.cache/encore; empty without any of them, and
/// then nothing is cached. The folder may not exist yet: each user of it makes a folder of its own in it.
std::filesystem::path cache_folder();

/// Returns the SHA-256 of the file's content, in lower-case hex. For a file of some megabytes it comes from
/// the cache if path, device, inode, size and the times of the last change (of content and of state, to the
/// nanosecond) are those with which it was kept. A file that was changed within the last two seconds is not
/// kept: a clock may be too coarse to show the next change. Throws Error if it is not a regular file or
/// cannot be read. A cache that cannot be read or written only costs time.
std::string cached_sha256_of_file(const std::filesystem::path& path);

/// Does the same at a given time, in seconds since 1970 (for tests).
std::string cached_sha256_of_file(const std::filesystem::path& path, std::int64_t now);

}  // namespace encore::record
