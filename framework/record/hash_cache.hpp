// The content hashes of large files, kept in the cache folder, so that weights of a gigabyte are read through
// once and not by every plan and every worker. Place in the flow: pretrained/content_hash.hpp asks; what
// is kept is believed only while the file is as the system described it then.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace encore {

/// SHA-256 of the file's content, in lower-case hex. Of a file of some megabytes it is taken from the cache
/// where path, device, inode, size and the times of the last change (of content and of state, to the
/// nanosecond) are those with which it was kept. A file that was changed within the last two seconds is not
/// kept: a clock may be too coarse to tell the next change. Throws Error when it is no regular file or cannot
/// be read; a cache that cannot be read or written costs time and nothing else.
std::string cached_sha256_of_file(const std::filesystem::path& path);
/// The same as if it were this moment, in seconds since 1970.
std::string cached_sha256_of_file(const std::filesystem::path& path, std::int64_t now);

}  // namespace encore
