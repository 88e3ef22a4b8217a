// SPDX-License-Identifier: BSD-3-Clause
// cache_folder(): finds the folder for files that can be made again, from the environment. Token cache, hash
// cache and plugin checks call it. Without a home folder nothing is cached. cached_sha256_of_file(): keeps
// one small file per path in that folder: a line with the file's state as the system reports it, and its
// SHA-256. pretrained/content_hash.cpp calls it for plans and workers. A wrong hash would give a run a wrong
// identity, so in doubt the file is read. Read cache_folder.hpp first.
#include "record/cache_folder.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <ctime>

#include <encore/error.hpp>

#include "base/input_file.hpp"
#include "base/sha256.hpp"
#include "world/atomic_file.hpp"

namespace encore::record {

namespace {

namespace fs = std::filesystem;

/// In bytes. A smaller file is hashed faster than its entry is read.
constexpr std::int64_t smallest_kept = std::int64_t{4} << 20;
constexpr std::int64_t seconds_of_doubt = 2;
constexpr std::size_t longest_entry = 4096;
constexpr std::size_t digits = 64;

/// The state of a file as the system reports it. Every change of its content changes this.
struct FileState {
  bool is_known = false;
  bool is_kept = false;  ///< large, and changed long enough ago
  std::string text;
};

FileState state_of(const fs::path& path, std::int64_t now) {
  struct stat status = {};
  if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return {};
  const auto time = [](const timespec& moment) {
    return std::to_string(moment.tv_sec) + "." + std::to_string(moment.tv_nsec);
  };
  const std::int64_t changed = std::max<std::int64_t>(status.st_mtim.tv_sec, status.st_ctim.tv_sec);
  return {.is_known = true,
          .is_kept = status.st_size >= smallest_kept && changed + seconds_of_doubt < now,
          .text = std::to_string(status.st_dev) + " " + std::to_string(status.st_ino) + " " +
                  std::to_string(status.st_size) + " " + time(status.st_mtim) + " " + time(status.st_ctim)};
}

/// Returns an empty string if nothing is kept for this state.
std::string kept_hash(const fs::path& entry, const FileState& state) {
  try {
    const std::string text = read_file(entry, longest_entry);
    const std::string begin = state.text + " ";
    if (!text.starts_with(begin) || text.size() != begin.size() + digits + 1) return "";
    const std::string hash = text.substr(begin.size(), digits);
    return hash.find_first_not_of("0123456789abcdef") == std::string::npos ? hash : "";
  } catch (const Error&) {
    return "";
  }
}

void keep_hash(const fs::path& entry, const FileState& state, const std::string& hash) {
  try {
    world::make_folder(entry.parent_path());
    world::replace_file(entry, state.text + " " + hash + "\n");
  } catch (const Error&) {
    // The next call reads the file again.
  }
}

}  // namespace

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

std::string cached_sha256_of_file(const fs::path& path) {
  return cached_sha256_of_file(path, std::time(nullptr));
}

std::string cached_sha256_of_file(const fs::path& path, std::int64_t now) {
  const fs::path cache = cache_folder();
  const FileState before = state_of(path, now);
  if (cache.empty() || !before.is_known || !before.is_kept) return sha256_of_file(path);
  const fs::path entry = cache / "hashes" / sha256(fs::absolute(path).lexically_normal().string());
  if (std::string hash = kept_hash(entry, before); !hash.empty()) return hash;
  const std::string hash = sha256_of_file(path);
  if (state_of(path, now).text == before.text) keep_hash(entry, before, hash);
  return hash;
}

}  // namespace encore::record
