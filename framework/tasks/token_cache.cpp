// SPDX-License-Identifier: BSD-3-Clause
// TokenCache: stores encoded sets as files named by a hash of their key, checks the digest of each file
// before it is used, and removes the least recently used files over the limit. task_sets.cpp calls it.
// Without this check a damaged file would change the bits of a run. Read token_cache.hpp first.
#include "tasks/token_cache.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <system_error>

#include <encore/error.hpp>

#include "base/sha256.hpp"
#include "record/cache_folder.hpp"

namespace encore::tasks {
namespace {

namespace fs = std::filesystem;

constexpr const char* extension = ".safetensors";
/// Unfinished files that are older belong to a killed worker and are removed.
constexpr std::chrono::hours oldest_unfinished{24};

/// SHA-256 over every name, text and byte in the order of the names, which detects any flipped bit of the
/// file.
class ContentDigest {
 public:
  void begin(const std::string& name, std::size_t bytes) {
    hash_.add(name + '\0' + std::to_string(bytes) + '\0');
  }
  void add(std::span<const std::byte> piece) { hash_.add(piece); }
  void add(const record::TensorMetadata& metadata) {
    for (const auto& [name, text] : metadata)
      if (name != "digest") {
        begin(name, text.size());
        add(std::as_bytes(std::span(text)));
      }
  }
  std::string hex() { return hash_.hex(); }

 private:
  Sha256 hash_;
};

std::string digest_of(const std::vector<record::TensorSlice>& tensors,
                      const record::TensorMetadata& metadata) {
  std::map<std::string, const record::TensorSlice*> by_name;
  for (const record::TensorSlice& tensor : tensors) by_name[tensor.name] = &tensor;
  ContentDigest digest;
  for (const auto& [name, tensor] : by_name) {
    digest.begin(name, static_cast<std::size_t>(tensor->shape.front()) * record::size_of(tensor->dtype));
    record::visit_bytes(*tensor, [&](std::span<const std::byte> piece) { digest.add(piece); });
  }
  digest.add(metadata);
  return digest.hex();
}

std::string digest_of(const record::Safetensors& file) {
  ContentDigest digest;
  for (const auto& [name, entry] : file.tensors()) {
    digest.begin(name, entry.bytes.size());
    file.visit_bytes(entry, [&](std::span<const std::byte> piece) { digest.add(piece); });
  }
  digest.add(file.metadata());
  return digest.hex();
}

/// Returns a temporary name that is unique to this writer, also among hosts that share the folder.
fs::path aside(const fs::path& path) {
  const auto now = std::chrono::system_clock::now().time_since_epoch().count();
  return path.string() + "." + std::to_string(::getpid()) + "-" + std::to_string(now);
}

}  // namespace

TokenCache::TokenCache(fs::path folder, std::uint64_t limit) : folder_(std::move(folder)), limit_(limit) {}

TokenCache TokenCache::standard() {
  const fs::path cache = record::cache_folder();
  return TokenCache(cache.empty() ? cache : cache / "tokens");
}

fs::path TokenCache::path_of(const std::string& key) const {
  return folder_ / (sha256(key) + extension);
}

std::shared_ptr<const record::Safetensors> TokenCache::load(const std::string& key, Notes& notes) const {
  std::error_code failure;
  const fs::path path = path_of(key);
  if (folder_.empty() || !fs::exists(path, failure)) return nullptr;
  try {
    auto file = std::make_shared<const record::Safetensors>(path);
    if (file->text("key") != key || file->text("digest") != digest_of(*file))
      throw Error(path.string() + ": its content is not what was written");
    fs::last_write_time(path, fs::file_time_type::clock::now(), failure);  // marks it as recently used
    return file;
  } catch (const Error& error) {
    fs::remove(path, failure);
    notes.push_back(std::string("encoding again, because a file of the token cache is damaged: ") +
                    error.what());
    return nullptr;
  }
}

fs::path TokenCache::scratch() const {
  fs::create_directories(folder_);
  return aside(folder_ / "scratch");
}

bool TokenCache::save(const std::string& key, const std::vector<record::TensorSlice>& tensors,
                      record::TensorMetadata metadata, Notes& notes) const {
  if (folder_.empty()) return false;
  const fs::path path = path_of(key), written = aside(path);
  std::error_code failure;
  try {
    metadata["key"] = key;
    metadata["digest"] = digest_of(tensors, metadata);
    fs::create_directories(folder_);
    record::save_safetensors(written, tensors, metadata);
    fs::rename(written, path);
    remove_oldest(path);
    return true;
  } catch (const std::exception& error) {
    fs::remove(written, failure);
    notes.push_back(std::string("the token cache could not be written, the next run encodes again: ") +
                    error.what());
    return false;
  }
}

/// Removes the oldest files over the limit, except the one just written, which alone may exceed the limit.
void TokenCache::remove_oldest(const fs::path& but) const {
  struct Kept {
    fs::file_time_type used;
    std::uint64_t bytes;
    fs::path path;
  };
  std::vector<Kept> kept;
  std::uint64_t total = 0;
  std::error_code failure;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_)) {
    const Kept file{entry.last_write_time(failure), entry.file_size(failure), entry.path()};
    if (failure) continue;  // another process removed it
    if (file.path.extension() != extension) {
      if (file.used < fs::file_time_type::clock::now() - oldest_unfinished) fs::remove(file.path, failure);
      continue;
    }
    total += file.bytes;
    kept.push_back(file);
  }
  std::sort(kept.begin(), kept.end(), [](const Kept& a, const Kept& b) { return a.used < b.used; });
  for (const Kept& file : kept) {
    if (total <= limit_) return;
    if (file.path == but) continue;
    fs::remove(file.path, failure);
    total -= file.bytes;
  }
}

}  // namespace encore::tasks
