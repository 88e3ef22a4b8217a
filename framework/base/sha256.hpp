// SPDX-License-Identifier: BSD-3-Clause
// The hexadecimal digits that identify things: sha256() of text, files and chunks for data, vocabularies,
// checkpoints and questions, and random_digits() for ids, names and secrets that must be unique. Both
// programs call it. Identities in databases are these digits, so nothing of a hash may change. No result of a
// run depends on random_digits(); random numbers of training are in encore/random.hpp.
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

/// Returns the first 12 digits of a hash, for tables and messages.
std::string short_hash(const std::string& sha256);

/// Returns the hash of a file, which is read in parts. Throws Error if it is not a regular file or cannot be
/// read.
std::string sha256_of_file(const std::filesystem::path& path);

/// Returns `count` lower-case hexadecimal digits. Any thread may call it.
std::string random_digits(std::size_t count);

}  // namespace encore
