// The content hash of whatever an option of type path names: a file, or the folder of a model from elsewhere.
// Place in the flow: plan/ puts it into a run's identity, the worker's session and `exp verify` compare it
// with what they find. Read next: record/hash_cache.hpp.
#pragma once

#include <filesystem>
#include <string>

namespace encore {

/// SHA-256 of a file's content; of a folder that of the sorted names and the content of the files which the
/// importer reads (hugging_face_folder.hpp), so that a picture beside them changes nothing. Large files are
/// looked up in the hash cache. Throws Error.
std::string sha256_of_content(const std::filesystem::path& path);

/// The same from the bytes themselves, whatever the cache says: for proofs.
std::string sha256_of_bytes_of_content(const std::filesystem::path& path);

}  // namespace encore
