#include "pretrained/content_hash.hpp"

#include "data/hash.hpp"
#include "data/vocabulary.hpp"
#include "pretrained/hugging_face_folder.hpp"
#include "record/hash_cache.hpp"

namespace encore {

namespace {

using HashOfFile = std::string (*)(const std::filesystem::path& path);

std::string content_hash(const std::filesystem::path& path, HashOfFile hash_of_file) {
  std::error_code failure;
  const std::filesystem::path merges = path.parent_path() / merges_file;
  const bool has_merges = path.filename() == vocab_json_file && is_there(merges);
  if (!std::filesystem::is_directory(path, failure))
    return has_merges ? sha256(hash_of_file(path) + '\n' + hash_of_file(merges)) : hash_of_file(path);
  Sha256 hash;
  for (const std::string& name : files_of_hugging_face_folder(path))
    hash.add(name + '\0' + hash_of_file(path / name) + '\n');
  return hash.hex();
}

}  // namespace

std::string sha256_of_content(const std::filesystem::path& path) {
  return content_hash(path, cached_sha256_of_file);
}

std::string sha256_of_bytes_of_content(const std::filesystem::path& path) {
  return content_hash(path, sha256_of_file);
}

}  // namespace encore
