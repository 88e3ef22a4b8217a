// SPDX-License-Identifier: BSD-3-Clause
// SHA-256 of text and files: the content hashes that identify data, vocabularies, checkpoints and questions.
// Both programs call sha256_of_file() for a file and use Sha256 for content that arrives in chunks.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace encore {

/// Collects bytes; `hex` gives 64 lower-case hexadecimal digits and may be called once.
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

/// 64 hexadecimal digits.
std::string sha256(std::string_view bytes);

/// Reads the file in parts. Throws Error when it is not a regular file or cannot be read.
std::string sha256_of_file(const std::filesystem::path& path);

}  // namespace encore
