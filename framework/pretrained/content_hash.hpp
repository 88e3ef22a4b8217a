// SPDX-License-Identifier: BSD-3-Clause
// sha256_of_content(): the content hash of a path in an option: of a file, or of the folder of a pretrained
// model. Place in the flow: plan/ puts it into a run's identity; the worker's session compares it with the
// files that it finds; runner/verifier.cpp and bundles compare the bytes without the cache. Databases have
// the hashes, so what is hashed must not change. Read next: record/cache_folder.hpp.
#pragma once

#include <filesystem>
#include <string>

namespace encore::pretrained {

/// Returns the SHA-256 of a file's content, or for a folder that of the sorted names and the content of the
/// files which the importer reads (hugging_face_folder.hpp), so that a picture beside them changes nothing.
/// Large files are looked up in the hash cache. Throws Error.
std::string sha256_of_content(const std::filesystem::path& path);

/// Returns the same from the bytes themselves, without the cache: for proofs.
std::string sha256_of_bytes_of_content(const std::filesystem::path& path);

}  // namespace encore::pretrained
