// SPDX-License-Identifier: BSD-3-Clause
// SHA-256 of text and files: the content hashes that identify data, vocabularies, checkpoints and questions.
// Both programs call sha256_of_file() for a file and use Sha256 for content that arrives in chunks.
// Identities in databases are these digits, so nothing of the result may change.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace encore {

/// Computes the hash of bytes that are added in chunks. `hex` returns 64 lower-case hexadecimal digits and
/// may be called once.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;

  void add(std::string_view bytes);
  void add(std::span<const std::byte> bytes);
  std::string hex();

 private:
  void* context_;
};

/// Returns the hash as 64 hexadecimal digits.
std::string sha256(std::string_view bytes);

/// Returns the hash of a file, which is read in parts. Throws Error if it is not a regular file or cannot be
/// read.
std::string sha256_of_file(const std::filesystem::path& path);

}  // namespace encore
