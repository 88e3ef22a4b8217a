// Hashes as the policy names them.
#include "document/content_policy.hpp"

#include <cstdint>

#include "data/hash.hpp"

namespace encore {

namespace {

/// As a Content-Security-Policy names what stands between two tags.
std::string policy_hash(const std::string& content) {
  std::string digest;
  const std::string hex = sha256(content);
  for (std::size_t i = 0; i < hex.size(); i += 2)
    digest += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  return "'sha256-" + base64(digest) + "'";
}

}  // namespace

std::string content_policy(const std::string& style, const std::string& script) {
  return "default-src 'none'; style-src " + policy_hash(style) + "; script-src " + policy_hash(script) +
         "; base-uri 'none'; form-action 'none'";
}

std::string base64(const std::string& bytes) {
  static const char* letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t three = 0;
    for (std::size_t k = 0; k < 3; ++k)
      three = three << 8 | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    for (std::size_t k = 0; k < 4; ++k)
      text += i + k > bytes.size() ? '=' : letters[three >> (18 - 6 * k) & 63];
  }
  return text;
}

}  // namespace encore
