// SPDX-License-Identifier: BSD-3-Clause
// cached_sha256_of_file(): the SHA-256 of a file, from the cache folder if the file is large and unchanged,
// so that a plan or worker need not read gigabytes of weights again. pretrained/content_hash.cpp calls it. A
// wrong hash would give a run a wrong identity, so in doubt the file is read. Read next: cache_folder.hpp.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace encore::record {

/// Returns the SHA-256 of the file's content, in lower-case hex. For a file of some megabytes it comes from
/// the cache if path, device, inode, size and the times of the last change (of content and of state, to the
/// nanosecond) are those with which it was kept. A file that was changed within the last two seconds is not
/// kept: a clock may be too coarse to show the next change. Throws Error if it is not a regular file or
/// cannot be read. A cache that cannot be read or written only costs time.
std::string cached_sha256_of_file(const std::filesystem::path& path);
/// Does the same at a given time, in seconds since 1970 (for tests).
std::string cached_sha256_of_file(const std::filesystem::path& path, std::int64_t now);

}  // namespace encore::record
