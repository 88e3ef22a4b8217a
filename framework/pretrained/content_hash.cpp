// SPDX-License-Identifier: BSD-3-Clause
// sha256_of_content(): hashes a file, or the sorted names and contents of the files of a folder that the
// importer reads. plan/ and the worker call it. Identities depend on the order and form of what is hashed, so
// it never changes. Read content_hash.hpp first.
#include "pretrained/content_hash.hpp"

#include "base/sha256.hpp"
#include "data/vocabulary.hpp"
#include "pretrained/hugging_face_folder.hpp"
#include "record/cache_folder.hpp"

namespace encore::pretrained {

namespace {

using HashOfFile = std::string (*)(const std::filesystem::path& path);

std::string content_hash(const std::filesystem::path& path, HashOfFile hash_of_file) {
  std::error_code failure;
  if (!std::filesystem::is_directory(path, failure)) {
    std::string hashes = hash_of_file(path);
    bool alone = true;
    for (const std::string& name : data::files_beside_vocabulary(path))
      if (const std::filesystem::path file = path.parent_path() / name; is_there(file)) {
        hashes += '\n' + hash_of_file(file);
        alone = false;
      }
    return alone ? hashes : sha256(hashes);
  }
  Sha256 hash;
  for (const std::string& name : files_of_hugging_face_folder(path))
    hash.add(name + '\0' + hash_of_file(path / name) + '\n');
  return hash.hex();
}

}  // namespace

std::string sha256_of_content(const std::filesystem::path& path) {
  return content_hash(path, record::cached_sha256_of_file);
}

std::string sha256_of_bytes_of_content(const std::filesystem::path& path) {
  return content_hash(path, sha256_of_file);
}

}  // namespace encore::pretrained
