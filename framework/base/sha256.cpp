// SPDX-License-Identifier: BSD-3-Clause
// SHA-256 by OpenSSL's EVP interface, for strings, for files, and chunk by chunk. Identities of runs and all
// content hashes come from here. Stored identities are these digits, so nothing of the result may change.
// Read sha256.hpp first.
#include "base/sha256.hpp"

#include <openssl/evp.h>

#include <array>

#include <encore/error.hpp>

#include "base/input_file.hpp"

namespace encore {
namespace {

EVP_MD_CTX* as_context(void* context) {
  return static_cast<EVP_MD_CTX*>(context);
}

void require_success(int result) {
  if (result != 1) throw Error("OpenSSL cannot compute SHA-256; is libcrypto complete?");
}

}  // namespace

Sha256::Sha256() : context_(EVP_MD_CTX_new()) {
  if (context_ == nullptr || EVP_DigestInit_ex(as_context(context_), EVP_sha256(), nullptr) != 1) {
    EVP_MD_CTX_free(as_context(context_));
    throw Error("OpenSSL cannot compute SHA-256; is libcrypto complete?");
  }
}

Sha256::~Sha256() {
  EVP_MD_CTX_free(as_context(context_));
}

void Sha256::add(std::string_view bytes) {
  require_success(EVP_DigestUpdate(as_context(context_), bytes.data(), bytes.size()));
}

void Sha256::add(std::span<const std::byte> bytes) {
  require_success(EVP_DigestUpdate(as_context(context_), bytes.data(), bytes.size()));
}

std::string Sha256::hex() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  require_success(EVP_DigestFinal_ex(as_context(context_), digest.data(), &size));
  static constexpr char digits[] = "0123456789abcdef";
  std::string text;
  for (unsigned int i = 0; i < size; ++i) {
    text += digits[digest[i] >> 4];
    text += digits[digest[i] & 15];
  }
  return text;
}

std::string sha256(std::string_view bytes) {
  Sha256 hash;
  hash.add(bytes);
  return hash.hex();
}

std::string short_hash(const std::string& sha256) {
  return sha256.substr(0, 12);
}

std::string sha256_of_file(const std::filesystem::path& path) {
  InputFile file(path);
  Sha256 hash;
  std::string piece(std::size_t{1} << 18, '\0');
  while (const std::size_t count = file.read(piece.data(), piece.size()))
    hash.add(std::string_view(piece.data(), count));
  return hash.hex();
}

}  // namespace encore
